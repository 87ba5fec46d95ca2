// Threads of the CPU: what they come to is what one comes to, bit for bit, and nothing waits for one that is gone.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import test from "node:test";
import threads from "node:worker_threads";
import * as torch from "../../dist/index.js";
import { linear } from "../../dist/runtime/devices/cpu/linear-memory.js";
import { sharing } from "../../dist/runtime/devices/cpu/threads.js";

const { nn } = torch,
  F = nn.functional,
  made = [];
const { Worker } = threads,
  builtin = process.getBuiltinModule?.("node:worker_threads");
if (!builtin) {
  console.log("Node before 20.16 has no threads here");
  process.exit(0);
}
builtin.Worker = class extends Worker {
  constructor(...given) {
    super(...given);
    made.push(this);
  }
};

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const bits = async (x) =>
  createHash("sha1")
    .update(await x.contiguous().data())
    .digest("hex");

/** Computes something large until threads take part. */
async function begun() {
  const before = sharing.kernels,
    x = torch.ones([256, 256]);
  for (let tries = 0; sharing.kernels === before; tries++) {
    assert.ok(tries < 500, "no thread began");
    x.matmul(x).dispose();
    await sleep(10);
  }
}

test("no worker begins for what is small, or where one thread is wanted", async () => {
  const given = torch.get_num_threads();
  assert.ok(given >= 1);
  torch.set_num_threads(4);
  assert.equal(torch.get_num_threads(), 4);
  for (let i = 0; i < 2000; i++)
    torch
      .ones([8, 8])
      .matmul(torch.ones([8, 8]))
      .add(1)
      .dispose();
  torch.set_num_threads(1);
  for (let i = 0; i < 4; i++)
    torch
      .ones([512, 512])
      .matmul(torch.ones([512, 512]))
      .dispose();
  assert.equal(made.length, 0);
  assert.equal(linear().shared, false);
  assert.throws(() => torch.set_num_threads(0), /set_num_threads: argument 'num' must be at least 1, got 0/);
});

const PROGRAMS = {
  matmul: () => torch.rand([130, 70]).matmul(torch.rand([70, 203])),
  "matmul of tall matrices": () => torch.rand([515, 33]).matmul(torch.rand([33, 40])),
  "batched matmul": () => torch.rand([9, 33, 40]).matmul(torch.rand([9, 40, 37])),
  "matmul of float64": () =>
    torch
      .rand([77, 60])
      .double()
      .matmul(torch.rand([60, 90]).double()),
  "row times matrix": () => torch.rand([1, 300]).matmul(torch.rand([300, 1001])),
  "linear with its bias": () => F.linear(torch.rand([67, 90]), torch.rand([131, 90]), torch.rand([131])),
  convolution: () => F.conv2d(torch.rand([2, 8, 30, 31]), torch.rand([18, 8, 3, 3]), torch.rand([18]), { padding: 1 }),
  "depthwise convolution": () =>
    F.conv2d(torch.rand([1, 24, 29, 31]), torch.rand([24, 1, 3, 3]), { groups: 24, padding: 1 }),
  "transposed convolution": () =>
    F.conv_transpose2d(torch.rand([1, 8, 14, 15]), torch.rand([8, 9, 4, 4]), { stride: 2, padding: 1 }),
  softmax: () => torch.rand([211, 130]).softmax(-1),
  "softmax of columns": () => torch.rand([130, 211]).softmax(0),
  exp: () => torch.randn([5003]).exp(),
  sines: () => torch.randn([5003]).mul(1e6).sin(),
  "a chain": () =>
    torch
      .randn([3, 1009])
      .sigmoid()
      .add(1)
      .log()
      .mul(torch.randn([1009]))
      .tanh(),
  transposed: () =>
    torch
      .randn([65, 90])
      .t()
      .add(torch.randn([90, 65])),
  "layer norm": () => F.layer_norm(torch.rand([37, 100]), [100], torch.rand([100]), torch.rand([100])),
  "sums of columns": () => torch.rand([301, 507]).sum(0),
  "running sums": () => torch.rand([40, 50]).cumsum(0),
  pooling: () => F.max_pool2d(torch.rand([1, 20, 32, 33]), 3, { stride: 2, padding: 1 }),
  "draws of chance": () => torch.rand([4099]),
  "draws of chance along lines": () => F.dropout(torch.rand([70, 33]).t(), 0.5),
  "in place": () => torch.rand([4099]).mul_(3).add_(1),
  halves: () => torch.rand([4099]).half().mul(3),
  gradients: () => {
    const x = torch.rand([3, 8, 20, 21], { requires_grad: true }),
      w = torch.rand([9, 8, 3, 3], { requires_grad: true });
    F.conv2d(x, w, { padding: 1 }).relu().square().mean().backward();
    return torch.cat([x.grad.flatten(), w.grad.flatten()]);
  },
};

test("any number of threads comes to the same bits", async () => {
  const wanted = {};
  torch.set_num_threads(1);
  for (const [name, program] of Object.entries(PROGRAMS)) {
    torch.manual_seed(7);
    wanted[name] = await bits(program());
  }
  torch.set_num_threads(5);
  Object.assign(sharing, { part: 8, worth: 0 });
  await begun();
  assert.equal(linear().shared, true);
  for (const count of [2, 5, 3, 1]) {
    torch.set_num_threads(count);
    for (const [name, program] of Object.entries(PROGRAMS)) {
      const before = sharing.kernels;
      torch.manual_seed(7);
      assert.equal(await bits(program()), wanted[name], `${name} on ${count} threads`);
      assert.equal(sharing.kernels > before, count > 1, `${name} on ${count} threads`);
    }
  }
  assert.equal(made.length, 4);
});

test("what users get is memory of their own", async () => {
  const x = torch.rand([4, 4]),
    data = await x.data();
  assert.ok(data.buffer instanceof ArrayBuffer);
  assert.equal(data.byteLength, data.buffer.byteLength);
  assert.equal(structuredClone(data).length, 16);
  assert.ok((await x.storage.mapReadAsync()).buffer instanceof ArrayBuffer);
  const file = await torch.save({ x }, "model.safetensors", { blob: true }).catch(() => null);
  if (file) assert.deepEqual(await (await torch.load(file)).x.tolist(), await x.tolist());
  assert.match(String(x), /tensor/);
});

test("where there is no more memory, one thread computes", async () => {
  torch.set_num_threads(3);
  const x = torch.rand([128, 128]),
    wanted = x.matmul(x),
    memory = linear(),
    taken = [];
  for (const bytes of [2 ** 30, 2 ** 20, 4096])
    for (let block = memory.take(bytes, true); block; block = memory.take(bytes, true)) taken.push(block);
  const got = x.matmul(x);
  for (const block of taken) memory.give(block);
  assert.ok((await got.sub(wanted).abs().max().item()) < 1e-4);
});

test("a worker that ends leaves the others' results right", async () => {
  const said = [],
    { warn } = console,
    x = torch.rand([200, 200]);
  console.warn = (text) => said.push(text);
  torch.set_num_threads(1);
  const wanted = await bits(x.matmul(x));
  torch.set_num_threads(3);
  await made[0].terminate();
  assert.equal(await bits(x.matmul(x)), wanted);
  await sleep(50);
  assert.equal(await bits(x.matmul(x)), wanted);
  assert.equal(torch.get_num_threads(), 1);
  torch.set_num_threads(4);
  assert.equal(torch.get_num_threads(), 1);
  console.warn = warn;
  assert.equal(said.length, 1, said.join("\n"));
  assert.match(said[0], /the CPU computes on one thread: a worker was refused or ended/);
});

/** What a program of its own says whose workers are made of another script; `step` is what it does. */
function elsewhere(change, step = "x.matmul(x).dispose()") {
  const program = `
    import threads from "node:worker_threads";
    const builtin = process.getBuiltinModule("node:worker_threads"), { Worker } = threads;
    builtin.Worker = class { constructor(url, options) {
      const change = ${change}, text = decodeURIComponent(String(url).slice(21));
      return new Worker(new URL("data:text/javascript," + encodeURIComponent(change(text))), options);
    } };
    const torch = await import(${JSON.stringify(new URL("../../dist/index.js", import.meta.url))});
    const { sharing } = await import(${JSON.stringify(new URL("../../dist/runtime/devices/cpu/threads.js", import.meta.url))});
    const { linear } = await import(${JSON.stringify(new URL("../../dist/runtime/devices/cpu/linear-memory.js", import.meta.url))});
    const memory = linear();
    Object.assign(sharing, { part: 8, worth: 0, patience: 200 });
    torch.set_num_threads(3);
    const x = torch.ones([256, 256]);
    let error = "none";
    for (let n = 0; n < 60 && error === "none"; n++) {
      try { ${step} } catch ({ message }) { error = message }
      await new Promise((done) => setTimeout(done, 10));
    }
    console.log(JSON.stringify({ error, threads: torch.get_num_threads(), sum: await x.matmul(x).max().item() }));`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
    encoding: "utf8",
    timeout: 60_000,
  });
  assert.equal(status, 0, stderr);
  return { ...JSON.parse(stdout), said: stderr.match(/the CPU computes on one thread/g)?.length ?? 0 };
}

const ENDED = [
  '(text) => text.replace("try{run(at)}", "return;try{run(at)}")',
  '(text) => text.replace("try{run(at)}", "try{throw 0}")',
];

test("what a worker that ended had begun is computed once more", () => {
  for (const change of ENDED)
    for (const step of ["", "const y = x.matmul(x); ", "const y = x.mul(256); ", "const y = x.sum(1); "]) {
      const check = step && `if (await y.sub(256).abs().max().item()) throw new Error("a result is lost");`;
      const said = elsewhere(change, step ? step + check : undefined);
      assert.deepEqual(said, { error: "none", threads: 1, sum: 256, said: 1 }, `${change}: ${step}`);
    }
});

test("in place, one result is lost, and nobody held up", () => {
  const error = "a thread of the CPU ended amid its part of a kernel in place, whose result is lost";
  for (const change of ENDED) {
    const said = elsewhere(
      change,
      `if (!n) {
        const p = torch.zeros([256, 256], { requires_grad: true });
        p.grad = x;
        globalThis.sgd = new torch.optim.SGD([p], { lr: 0.5 });
      }
      sgd.step();`,
    );
    assert.deepEqual(said, { error, threads: 1, said: 1, sum: 256 });
  }
});

test("workers find what lies beyond 2 GiB", async () => {
  const said = elsewhere(
    "(text) => text",
    `if (!n) globalThis.taken = [memory.take(2 ** 31 - 2 ** 27, true), memory.take(2 ** 27, true)];
    const y = torch.rand([100, 64 + n]), z = y.mul(2);
    if (await z.sub(y).sub(y).abs().max().item()) throw new Error("a result is lost");
    if (n === 59 && sharing.kernels < 20) throw new Error("threads took no part")`,
  );
  assert.deepEqual(said, { error: "none", threads: 3, sum: 256, said: 0 });
});

test("where workers are refused, one thread computes", () => {
  const alone = { error: "none", threads: 1, sum: 256, said: 1 };
  assert.deepEqual(elsewhere('() => "throw 1"'), alone);
  assert.deepEqual(elsewhere("() => { throw 1 }"), alone);
});
