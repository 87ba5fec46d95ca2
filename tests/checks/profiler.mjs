// torch.profiler: what a profile holds, its table, and its trace in Chrome's format.

/** A small step of training. */
function work({ torch, tensor }) {
  const x = tensor(
    [
      [1, 2],
      [3, 4],
    ],
    { requires_grad: true },
  );
  const loss = torch.profiler.record_function("forward", () => x.matmul(x).relu().sum());
  loss.backward();
  return x.grad;
}

export default {
  async "events are ops, gradients and named pieces of code"(t) {
    const { torch, device, equal } = t;
    work(t);
    const prof = await torch.profiler.profile({ record_shapes: true }, () => {
      work(t);
    });
    const events = prof.events(),
      names = events.filter(({ kind }) => kind !== "read").map(({ name }) => name);
    equal(names.includes("matmul_mm") || names.includes("matmul"), true);
    equal(names.includes("relu") && names.includes("ReluBackward0") && names.includes("forward"), true);
    const relu = events.find(({ name }) => name === "relu");
    equal(relu.parent.name, "forward");
    equal(relu.device_type, device);
    equal(relu.input_shapes, [[2, 2]]);
    equal(relu.input_types, ["float32"]);
    equal(
      events.every(({ begin, end }) => end >= begin),
      true,
    );
    const forward = events.find(({ name }) => name === "forward");
    equal(relu.begin >= forward.begin && relu.end <= forward.end, true);
  },
  async "a profile leaves devices as they were: it sees nothing of what comes later"(t) {
    const { torch, equal } = t,
      x = work(t),
      prof = await torch.profiler.profile(async () => void (await x.add(1).tolist()));
    const reads = () => prof.events().filter(({ kind }) => kind === "read").length,
      before = reads();
    equal(before, 1);
    await x.add(1).tolist();
    equal(reads(), before);
  },
  async "averages and their table"(t) {
    const { torch, equal } = t;
    const prof = torch.profiler.profile();
    prof.start();
    for (let i = 0; i < 3; i++) t.tensor([1, -2]).relu();
    await prof.stop();
    t.tensor([1]).relu(); // not recorded
    const averages = prof.key_averages(),
      row = averages.find(({ key }) => key === "relu");
    equal(row.count, 3);
    equal(row.cpu_time_total >= row.cpu_time && row.self_cpu_time_total >= 0, true);
    const lines = averages.table({ sort_by: "count", row_limit: 1 }).split("\n");
    equal(/^ +Name +Self CPU % +Self CPU +CPU total % +CPU total +CPU time avg .*# of Calls$/.test(lines[1]), true);
    equal(/^ +relu .* 3$/.test(lines[3]), true);
    equal(
      lines.slice(5).some((line) => /^Self CPU time total: /.test(line)),
      true,
    );
    const all = averages.total_average(),
      sum = (field) => averages.reduce((total, row) => total + row[field], 0);
    equal(
      [all.count, all.cpu_time_total, all.device_time_total],
      [sum("count"), sum("self_cpu_time_total"), sum("self_device_time_total")],
    );
  },
  async "averages by name and, where asked for, by shapes"(t) {
    const prof = await t.torch.profiler.profile({ record_shapes: true }, () => {
      for (const data of [[1], [1, 2], [3, 4]]) t.tensor(data).relu();
    });
    const rows = (options) =>
      prof
        .key_averages(options)
        .filter(({ key }) => key === "relu")
        .map(({ count, input_shapes }) => [count, input_shapes])
        .sort(([a], [b]) => a - b);
    t.equal(rows(), [[3, ""]]);
    t.equal(rows({ group_by_input_shape: true }), [
      [1, "[[1]]"],
      [2, "[[2]]"],
    ]);
  },
  async "the GPU's own times are taken where it can"(t) {
    const { torch, device, equal } = t;
    const prof = await torch.profiler.profile(() => {
      for (let i = 0; i < 300; i++) t.tensor([1, -2]).relu();
    });
    const events = prof.events().filter(({ name }) => name === "relu");
    equal(events.length, 300);
    const timed = device === "webgpu" && torch.gpuDevice().features.has("timestamp-query");
    equal(
      events.every(({ kernels }) => (timed ? kernels?.length === 1 : kernels === null)),
      true,
    );
    if (!timed) equal(/lacks the feature timestamp-query/.test(prof.key_averages().table()), device === "webgpu");
    for (const { begin, kernels } of events) {
      // Browsers round the GPU's clock, to 100 microseconds at the most.
      for (const kernel of kernels ?? []) equal(kernel.end >= kernel.begin && kernel.begin >= begin - 500, true);
    }
  },
  async "a trace is what Chrome's format asks for"(t) {
    const { torch, equal } = t;
    const prof = await torch.profiler.profile({ record_shapes: true, profile_memory: true, with_stack: true }, () => {
      work(t);
    });
    const chunks = [];
    await prof.export_chrome_trace(
      new WritableStream({
        write(chunk) {
          chunks.push(chunk);
        },
      }),
    );
    const trace = JSON.parse(await new Blob(chunks).text()),
      { traceEvents } = trace;
    equal(trace.displayTimeUnit, "ms");
    const finite = (...numbers) => numbers.every(Number.isFinite),
      open = new Map();
    for (const event of traceEvents) {
      equal(
        typeof event.name === "string" &&
          Number.isInteger(event.pid) &&
          Number.isInteger(event.tid) &&
          finite(event.ts),
        true,
      );
      if (event.ph === "X") equal(finite(event.dur) && event.dur >= 0 && typeof event.cat === "string", true);
      else if (event.ph === "s") open.set(event.id, event);
      else if (event.ph === "f")
        equal(
          event.bp === "e" &&
            open.get(event.id).ts <= event.ts &&
            open.delete(event.id) &&
            // An arrow ends where the kernel begins that it leads to.
            traceEvents.some(
              ({ ph, pid, tid, ts }) => ph === "X" && pid === event.pid && tid === event.tid && ts === event.ts,
            ),
          true,
        );
      else if (event.ph === "C") equal(finite(event.args.bytes), true);
      else equal([event.ph, typeof event.args], ["M", "object"]);
    }
    equal(open.size, 0);
    const time = (spans, of) => spans.reduce((sum, span) => sum + of(span), 0);
    t.close(
      time(
        traceEvents.filter(({ cat }) => cat === "kernel"),
        ({ dur }) => dur,
      ),
      time(
        prof.events().flatMap(({ kernels }) => kernels ?? []),
        ({ begin, end }) => end - begin,
      ),
    );
    const relu = traceEvents.find(({ name, ph }) => ph === "X" && name === "relu");
    equal(relu.args["Input Dims"], [[2, 2]]);
    equal(/profiler\.mjs/.test(relu.args["Call stack"]), true);
    // Spans of a thread lie within each other or apart, else viewers show nonsense.
    const spans = traceEvents
        .filter(({ ph, pid }) => ph === "X" && pid === 0)
        .sort((a, b) => a.ts - b.ts || b.dur - a.dur),
      stack = [];
    for (const span of spans) {
      while (stack.length && stack.at(-1) <= span.ts) stack.pop();
      if (stack.length) equal(span.ts + span.dur <= stack.at(-1) + 1e-3, true);
      stack.push(span.ts + span.dur);
    }
  },
  async "a schedule chooses the steps"({ torch, tensor, equal, throws }) {
    const { schedule, ProfilerAction: A } = torch.profiler;
    const plan = schedule({ skip_first: 1, wait: 1, warmup: 1, active: 2, repeat: 1 });
    equal([0, 1, 2, 3, 4, 5, 6].map(plan), [A.NONE, A.NONE, A.WARMUP, A.RECORD, A.RECORD_AND_SAVE, A.NONE, A.NONE]);
    const seen = [],
      prof = torch.profiler.profile({
        schedule: plan,
        on_trace_ready: (p) => {
          seen.push(p.events().filter(({ name }) => name === "relu").length);
        },
      });
    prof.start();
    for (let step = 0; step < 7; step++) {
      tensor([1]).relu();
      await prof.step();
    }
    await prof.stop();
    equal(seen, [2]);
    await throws(() => schedule({ wait: 0, warmup: 0, active: 0 }), /active must be at least 1/);
    await throws(
      () => torch.profiler.profile({ record_shape: true }),
      /profile: got an unexpected keyword argument 'record_shape'/,
    );
  },
  async "off, devices run their own code"({ torch, device, tensor, equal, throws }) {
    const first = torch.profiler.profile();
    first.start();
    await throws(() => torch.profiler.profile().start(), /another profile is running/);
    await first.stop();
    const { execute } = tensor([1]).storage.device,
      own = Object.getPrototypeOf(tensor([1]).storage.device).execute;
    equal(execute, own);
    equal(
      torch.profiler.record_function("alone", () => 3),
      3,
    );
    equal(await torch.profiler.record_function("alone", async () => 4), 4);
    equal(torch.defaultDevice().type.length > 0 && device.length > 0, true);
  },
};
