// What a replay of a captured program costs a GPU and its host: nothing is made anew, and launches are few.
import assert from "node:assert/strict";
import test from "node:test";
import * as torch from "../../dist/in-node/index.js";
import { idleDevice } from "./idle_device.mjs";

const { nn, optim } = torch;
/** MLP 784-256-256-10 and a step of Adam. */
function step() {
  const model = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10)),
    adam = new optim.Adam(model.parameters());
  return (x, y) => {
    adam.zero_grad();
    const loss = nn.functional.cross_entropy(model(x), y);
    loss.backward();
    void adam.step();
    return loss;
  };
}

/** The least time of a call of each function, in microseconds: by turns, so that what else the machine does meets all. */
async function least(functions, calls = 15, rounds = 20) {
  const best = functions.map(() => Infinity);
  for (let round = 0; round < rounds; round++)
    for (const [place, f] of functions.entries()) {
      const began = performance.now();
      for (let n = 0; n < calls; n++) f().dispose();
      best[place] = Math.min(best[place], ((performance.now() - began) * 1000) / calls);
      await new Promise((done) => setTimeout(done));
    }
  return best;
}

/** The calls of a device by which something is made. */
const making = ({ calls }) => Object.fromEntries(Object.entries(calls).filter(([name]) => name.startsWith("create")));

test("a replay makes no pipeline, bind group, buffer or text, and plans nothing", async () => {
  const device = idleDevice();
  assert.ok(await torch.initWebGPUAsync({ device }));
  const own = step(),
    f = torch.compile(step(), { fullgraph: true }),
    x = torch.rand([64, 784]),
    y = torch.zeros([64], { dtype: "int32" });
  for (let n = 0; n < 8; n++) {
    f(x, y).dispose();
    own(x, y).dispose();
    await new Promise((done) => setTimeout(done));
  }
  const counts = torch.compiler.counts(f);
  assert.ok(counts.replays > 3, JSON.stringify(counts));
  // The pool hands out what goes out of a replay in an order that settles.
  const replays = 20;
  for (let n = 0; n < replays; n++) f(x, y).dispose();
  device.calls.dispatchWorkgroups = 0;
  const before = making(device),
    { join } = Array.prototype;
  assert.ok(before.createShaderModule > 0 && before.createBindGroup > 0, JSON.stringify(before));
  // What prints a kernel joins its lines.
  let texts = 0;
  Array.prototype.join = function (...words) {
    texts++;
    return join.apply(this, words);
  };
  for (let n = 0; n < replays; n++) f(x, y).dispose();
  Array.prototype.join = join;
  assert.deepEqual(making(device), before);
  assert.equal(texts, 0);
  const launches = device.calls.dispatchWorkgroups / replays;
  await new Promise((done) => setTimeout(done));
  const [eager, compiled] = await least([() => own(x, y), () => f(x, y)]);
  console.log(
    `figure: MLP 784-256-256-10 and Adam, host: eager ${eager.toFixed(0)} us, replayed ${compiled.toFixed(0)} us, ${launches} launches`,
  );
  assert.ok(launches <= 35, `${launches} launches`);
  assert.ok(compiled < eager, `${compiled.toFixed(0)} us, eager ${eager.toFixed(0)} us`);
});

test("a warm-up compiles what calls need, all at a time, and runs nothing", async () => {
  const device = idleDevice();
  assert.ok(await torch.initWebGPUAsync({ device }));
  const model = nn.Sequential(nn.Linear(784, 256), nn.GELU(), nn.LayerNorm(256), nn.Linear(256, 10)),
    x = torch.rand([64, 784]),
    y = torch.zeros([64], { dtype: "int32" });
  for (const own of [(x) => torch.no_grad(() => model(x)), step()]) {
    const f = torch.compile(own, { fullgraph: true });
    await new Promise((done) => setTimeout(done));
    const { createComputePipeline = 0, createComputePipelineAsync = 0, dispatchWorkgroups = 0 } = device.calls;
    await f.warmup(x, y);
    await new Promise((done) => setTimeout(done));
    assert.ok(device.calls.createComputePipelineAsync > createComputePipelineAsync);
    for (let n = 0; n < 5; n++) {
      if (n === 0) assert.equal(device.calls.dispatchWorkgroups ?? 0, dispatchWorkgroups);
      (await f(x, y)).dispose();
    }
    assert.ok(torch.compiler.counts(f).replays >= 2);
    assert.equal(device.calls.createComputePipeline ?? 0, createComputePipeline);
  }
});

test("equal parts of a program share their kernels, however many there are", async () => {
  const texts = [];
  for (const blocks of [9, 14]) {
    const device = idleDevice();
    assert.ok(await torch.initWebGPUAsync({ device }));
    const block = () => [nn.Conv2d(8, 8, 3, { padding: 1 }), nn.BatchNorm2d(8), nn.ReLU6(), nn.Softplus(2, 15)],
      model = nn.Sequential(...Array.from({ length: blocks }, block).flat()).eval(),
      f = torch.compile(
        (x) => {
          const loss = torch.mean(model(x));
          loss.backward();
          return loss;
        },
        { fullgraph: true },
      );
    await f.warmup(torch.rand([2, 8, 12, 12]));
    texts.push(device.calls.createShaderModule);
  }
  assert.equal(texts[0], texts[1]);
});

test("what an earlier replay answered is let go of, and memory stays flat", async () => {
  torch.setDefaultDevice("cpu");
  const f = torch.compile(step(), { fullgraph: true }),
    x = torch.rand([64, 784]),
    y = torch.zeros([64], { dtype: "int32" });
  for (let n = 0; n < 6; n++) f(x, y).dispose();
  const before = torch.memory().cpu;
  for (let n = 0; n < 20; n++) f(x, y).dispose();
  const { buffers, bytes } = torch.memory().cpu;
  assert.deepEqual([buffers, bytes], [before.buffers, before.bytes]);
});
