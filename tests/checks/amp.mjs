// torch.autocast: PyTorch's recorded answers on the CPU (tests/recorded/autocast.py), its lists of ops on a GPU, regions
// within each other and async ones, parameters that are cast once.

const at = (name) => new URL(`../recorded/${name}`, import.meta.url);
export async function recorded() {
  if (at("autocast.json").protocol !== "file:") return (await fetch(at("autocast.json"))).json();
  return JSON.parse(await (await import("node:fs/promises")).readFile(at("autocast.json"), "utf8"));
}
const number = (v) => (typeof v === "string" ? Number(v.replace("inf", "Infinity")) : v);
/** A few units in the last place of the lower type: PyTorch adds some convolutions up in it. */
const near = { bfloat16: { rtol: 2 ** -7, atol: 2 ** -8 }, float16: { rtol: 2 ** -8, atol: 2 ** -9 } };

/** Whether tensors of float16 are had here. */
export function has16(t) {
  try {
    t.tensor([1], { dtype: "float16" });
    return true;
  } catch (error) {
    if (/shader-f16/.test(error.message)) return false;
    throw error;
  }
}

function made(t, { dtype, shape, data }, as = dtype) {
  const device = t.device === "webgpu" && dtype === "float64" ? "cpu" : t.device;
  return t.torch
    .tensor(
      data.map((v) => (typeof v === "boolean" ? v : number(v))),
      { dtype: as, device },
    )
    .reshape(shape);
}

function cotangent(t, { dtype, shape }) {
  const count = shape.reduce((a, b) => a * b, 1);
  return made(t, { dtype, shape, data: Array.from({ length: count }, (_, k) => Math.cos(k + 1)) });
}

/** The call of a case: its results, and its leaves by name. */
function called(t, inputs, { call, args, options, type, low }) {
  const leaves = new Map();
  const value = (v) => {
    if (Array.isArray(v)) return v.map(value);
    if (v === null || typeof v !== "object") return v;
    const [[kind, name]] = Object.entries(v),
      floats = inputs[name].dtype === "float32",
      make = () => made(t, inputs[name], floats && (low || kind === "low") ? type : undefined);
    if (kind === "bool") return make().gt(0);
    if (kind !== "in" || !/float/.test(inputs[name].dtype)) return make();
    if (!leaves.has(name)) leaves.set(name, make().requires_grad_());
    return leaves.get(name);
  };
  const given = args.map(value),
    rest = Object.keys(options).length ? [options] : [];
  const result = t.torch.autocast(
    t.device,
    () =>
      call.startsWith(".")
        ? given[0][call.slice(1)](...given.slice(1), ...rest)
        : call.split(".").reduce((o, part) => o[part], t.torch)(...given, ...rest),
    { dtype: type },
  );
  return [result instanceof t.torch.Tensor ? [result] : [...result], leaves];
}

async function replay(t, inputs, one) {
  const [list, leaves] = called(t, inputs, one),
    { results, gradients, type } = one;
  for (const [i, wanted] of results.entries()) {
    t.equal([list[i].dtype, list[i].shape], [wanted.dtype, wanted.shape]);
    if (wanted.dtype !== "int64")
      t.close(
        Array.from(await list[i].data(), Number),
        wanted.data.map((v) => Number(number(v))),
        near[type],
      );
  }
  if (!gradients) return;
  const names = Object.keys(gradients),
    smooth = results.map((_, i) => i).filter((i) => list[i].requires_grad);
  const found = t.torch.autograd.grad(
    smooth.map((i) => list[i]),
    names.map((name) => leaves.get(name)),
    { grad_outputs: smooth.map((i) => cotangent(t, results[i])), allow_unused: true },
  );
  for (const [i, name] of names.entries()) {
    const wanted = gradients[name];
    t.equal([name, found[i]?.dtype, found[i]?.shape], [name, wanted.dtype, wanted.shape]);
    t.close(Array.from(await found[i].data()), wanted.data.map(number), { rtol: 0.02, atol: 0.02 });
  }
}

async function every(t, cases, one) {
  const wrong = [];
  for (const c of cases) {
    try {
      await one(c);
    } catch (error) {
      wrong.push(`${c.call} ${JSON.stringify(c.args)} ${c.type}${c.low ? " low" : ""}: ${error.message}`);
    }
  }
  t.equal(wrong, []);
}

export default {
  "PyTorch's answers on the CPU, in bfloat16 and float16": async (t) => {
    if (t.device !== "cpu") return;
    const { inputs, cases } = await recorded(),
      known = cases.filter(({ refused }) => !refused);
    t.equal(known.length > 300, true);
    await every(t, known, (one) => replay(t, inputs, one));
  },
  "PyTorch's lists on a GPU": async (t) => {
    if (t.device !== "webgpu") return;
    const { gpu, inputs, cases } = await recorded(),
      lower = has16(t) ? "float16" : "bfloat16",
      own = { float32: [...gpu.fp32, ...gpu.fp32_set_opt_dtype], [lower]: gpu.lower_precision_fp },
      called_ = (call) => [call.replace("nn.functional.", "").replace("linalg.", "linalg_"), call.split(".").at(-1)];
    own.float32.push("interpolate", "cross_entropy"); // of upsample_nearest2d; of log_softmax and nll_loss
    const ruled = (call) => Object.keys(own).find((type) => called_(call).some((name) => own[type].includes(name)));
    const some = cases.filter(
      (one) => one.type === lower && !one.refused && !one.call.endsWith("_") && ruled(one.call),
    );
    t.equal(some.length > 80, true);
    await every(t, some, async (one) => {
      const [list] = called(t, inputs, one),
        wanted = one.results[0];
      t.equal([list[0].dtype, list[0].shape], [one.args[0].in === "wide" ? "float64" : ruled(one.call), wanted.shape]);
      if (!one.args.some((arg) => arg.in === "wide"))
        t.close(Array.from(await list[0].data(), Number), wanted.data.map(number), { rtol: 0.03, atol: 0.03 });
    });
  },
  "regions within each other, switched off, and async ones": async (t) => {
    const { torch } = t,
      a = t.tensor([
        [1, 2],
        [3, 4],
      ]),
      low = t.device === "cpu" ? "bfloat16" : "float16",
      type = () => torch.mm(a, a).dtype,
      dtype = has16(t) ? null : "bfloat16",
      there = dtype ?? low;
    t.equal([type(), torch.is_autocast_enabled(t.device), torch.get_autocast_dtype(t.device)], ["float32", false, low]);
    torch.autocast(
      t.device,
      () => {
        t.equal([type(), torch.is_autocast_enabled(t.device)], [there, true]);
        t.equal(torch.autocast(t.device, type, { enabled: false }), "float32");
        t.equal(torch.autocast(t.device, type, { dtype: "bfloat16" }), "bfloat16");
        t.equal(torch.autocast(t.device === "cpu" ? "webgpu" : "cpu", type), there);
        t.equal(type(), there);
      },
      { dtype },
    );
    t.equal(type(), "float32");
    await t.throws(
      () =>
        torch.autocast(t.device, () => {
          throw new Error("inside");
        }),
      /inside/,
    );
    t.equal(type(), "float32");
    const waited = torch.autocast(
      t.device,
      async () => {
        await null;
        return type();
      },
      { dtype },
    );
    t.equal(await waited, there);
    t.equal(type(), "float32");
    torch.set_autocast_dtype(t.device, "bfloat16");
    torch.set_autocast_enabled(t.device, true);
    try {
      t.equal([type(), torch.get_autocast_dtype(t.device)], ["bfloat16", "bfloat16"]);
    } finally {
      torch.set_autocast_enabled(t.device, false);
      torch.set_autocast_dtype(t.device, low);
    }
    t.equal(type(), "float32");
  },
  "what is refused": async (t) => {
    const { torch } = t,
      body = () => 1;
    await t.throws(() => torch.autocast("tpu", body), /autocast: .*unsupported autocast device_type 'tpu'/);
    await t.throws(
      () => torch.autocast("cpu", body, { dtype: "float64" }),
      /autocast: argument 'dtype' must be "float16" or "bfloat16"/,
    );
    await t.throws(() => torch.autocast("cpu"), /autocast: missing required argument 'body'/);
    await t.throws(() => torch.autocast("cpu", body, { enable: true }), /did you mean 'enabled'/);
    await t.throws(
      () => torch.set_autocast_enabled("cpu", 1),
      /set_autocast_enabled: argument 'enabled' must be true or false/,
    );
    t.equal([torch.amp.is_autocast_available("cpu"), torch.amp.is_autocast_available("xpu")], [true, false]);
  },
  "a parameter is cast once in a region, and anew after a change": async (t) => {
    const { torch } = t,
      w = t.tensor(
        [
          [1, 2],
          [3, 4],
        ],
        { requires_grad: true },
      ),
      x = t.tensor([[1, 1]]),
      nodes = (options) =>
        torch.autocast(
          t.device,
          () => {
            const made = [torch.mm(x, w), torch.mm(x, w)].map((y) => y.grad_fn.next_functions.at(-1)[0]);
            torch.no_grad(() => w.mul_(2));
            made.push(torch.mm(x, w).grad_fn.next_functions.at(-1)[0]);
            return made;
          },
          { dtype: "bfloat16", ...options },
        );
    const [first, second, third] = nodes();
    t.equal([first === second, first === third], [true, false]);
    const [one, other] = nodes({ cache_enabled: false });
    t.equal(one === other, false);
    const [, , later] = nodes();
    t.equal(later === third, false);
    const plain = torch.autocast(t.device, () => [torch.no_grad(() => torch.mm(x, w)), torch.mm(x, w)], {
      dtype: "bfloat16",
    });
    t.equal(
      plain.map((y) => y.requires_grad),
      [false, true],
    );
    const kept = torch.autocast(t.device, () => [torch.tidy(() => torch.keep(torch.mm(x, w))), torch.mm(x, w)], {
      dtype: "bfloat16",
    });
    t.equal(await kept[1].tolist(), await kept[0].tolist());
  },
  "modules, networks of steps, attention": async (t) => {
    const { torch } = t,
      { nn } = torch,
      x = t.torch.randn([2, 3, 8], { device: t.device }),
      models = [
        nn.Linear(8, 4),
        nn.LSTM(8, 4),
        nn.GRU(8, 4),
        nn.MultiheadAttention(8, 2),
        nn.TransformerEncoderLayer(8, 2, 16),
      ];
    for (const model of models) {
      model.to(t.device);
      const run = () => {
        const out = model instanceof nn.MultiheadAttention ? model(x, x, x) : model(x);
        return Array.isArray(out) ? out[0] : out;
      };
      const full = run(),
        half = torch.autocast(t.device, run, { dtype: "bfloat16" });
      half.to("float32").sum().backward();
      if (!(model instanceof nn.TransformerEncoderLayer))
        t.close(await half.to("float32").tolist(), await full.tolist(), { rtol: 0.05, atol: 0.05 });
      t.equal(
        [...model.parameters()].every((p) => p.grad?.dtype === "float32"),
        true,
      );
    }
    const layer = nn.Linear(8, 4).to(t.device),
      again = torch.autocast(t.device, () => torch.utils.checkpoint.checkpoint((y) => layer(y), x), {
        dtype: "bfloat16",
      });
    again.to("float32").sum().backward();
    t.equal([again.dtype, layer.weight.grad.dtype], ["bfloat16", "float32"]);
  },
  "complex numbers compute as they are": async (t) => {
    // None of these numbers is one of bfloat16, in which their parts must not be multiplied.
    const z = t.tensor([1.001, 2.002, 3.003, 4.004], { dtype: "complex64" }).reshape([2, 2]),
      product = t.torch.autocast(t.device, () => t.torch.mm(z, z), { dtype: "bfloat16" });
    t.equal(product.dtype, "complex64");
    t.close(
      (await product.tolist()).flat().flatMap(({ re, im }) => [re, im]),
      [7, 0, 10, 0, 15, 0, 22, 0].map((n) => n * 1.001 ** 2),
    );
  },
  "a compiled function is another one within autocast": async (t) => {
    const { torch } = t,
      a = t.tensor([
        [1, 2],
        [3, 4],
      ]),
      product = torch.compile((x) => torch.mm(x, x)),
      within = () => torch.autocast(t.device, () => product(a).dtype, { dtype: "bfloat16" });
    t.equal(
      [product(a).dtype, within(), product(a).dtype, within(), within(), product(a).dtype],
      ["float32", "bfloat16", "float32", "bfloat16", "bfloat16", "float32"],
    );
  },
  "custom functions": async (t) => {
    const { torch } = t,
      seen = [];
    const multiply = (dtype) =>
      class extends torch.autograd.Function {
        static forward = torch.amp.custom_fwd(
          (context, a, b) => {
            context.save_for_backward(a, b);
            const out = torch.mm(a, b);
            seen.push(out.dtype);
            return out;
          },
          { device_type: t.device, ...(dtype ? { cast_inputs: dtype } : {}) },
        );
        static backward = torch.amp.custom_bwd(
          (context, grad) => {
            const [a, b] = context.saved_tensors;
            const [left, right] = [torch.mm(grad, b.t()), torch.mm(a.t(), grad)];
            seen.push(left.dtype);
            return [left, right];
          },
          { device_type: t.device },
        );
      };
    const a = t.tensor(
      [
        [1, 2],
        [3, 4],
      ],
      { requires_grad: true },
    );
    for (const [type, on] of [
      ["float32", true],
      [null, true],
      [null, false],
    ]) {
      const apply = () => multiply(type).apply(a, a);
      (on ? torch.autocast(t.device, apply, { dtype: "bfloat16" }) : apply()).to("float32").sum().backward();
    }
    t.equal(seen, ["float32", "float32", "bfloat16", "bfloat16", "float32", "float32"]);
  },
  "borders of bfloat16 on the CPU become float32 where they continue what is inside": async (t) => {
    if (t.device !== "cpu") return;
    // The types are PyTorch 2.13.0's.
    const wide = { constant: [], reflect: [1, 2], replicate: [1, 2, 3], circular: [] };
    const { pad } = t.torch.nn.functional;
    for (const [mode, axes] of Object.entries(wide))
      for (const n of [1, 2, 3]) {
        const x = t.torch.ones([1, 2, ...Array(n).fill(4)], { dtype: "bfloat16" }),
          { dtype } = t.torch.autocast("cpu", () => pad(x, Array(2 * n).fill(1), { mode }));
        t.equal([mode, n, dtype], [mode, n, axes.includes(n) ? "float32" : "bfloat16"]);
      }
    const module = t.torch.nn.ReflectionPad1d(1),
      x = t.torch.ones([1, 2, 4], { dtype: "bfloat16" });
    t.equal(t.torch.autocast("cpu", () => module(x)).dtype, "float32");
  },
  "an LSTM on the CPU runs in the lower type, a GRU does not": async (t) => {
    if (t.device !== "cpu") return;
    const { nn, autocast, ones, randn } = t.torch,
      [lstm, gru] = [nn.LSTM(3, 2), nn.GRU(3, 2)];
    const types = autocast("cpu", () => {
      const [out, [h, c]] = lstm(ones([2, 1, 3])),
        [again] = lstm(ones([2, 1, 3]).to("bfloat16"), [randn([1, 1, 2]), randn([1, 1, 2])]),
        [other, last] = gru(ones([2, 1, 3]));
      out.float().sum().backward();
      return [out, h, c, again, other, last].map(({ dtype }) => dtype);
    });
    // The types are PyTorch 2.13.0's.
    t.equal(types, ["bfloat16", "bfloat16", "bfloat16", "bfloat16", "float32", "float32"]);
    t.equal([lstm.weight_ih_l0.grad.dtype, lstm(ones([2, 1, 3]))[0].dtype], ["float32", "float32"]);
    await t.throws(() => lstm(ones([2, 1, 3]).to("bfloat16")), /RNN input dtype/);
  },
};
