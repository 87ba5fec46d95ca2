// What a step of an optimizer costs the host and asks of a GPU, on a GPU that does nothing; what it can bind; and when
// flat buffers go.
import assert from "node:assert/strict";
import test from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import * as torch from "../../dist/in-node/index.js";
import { idleDevice } from "./idle_device.mjs";

const LAYERS = 24,
  STEPS = 60;

/** A GPU that does nothing, with these limits, as the one that tensors are made on. */
async function idle(limits = {}) {
  const device = idleDevice();
  Object.assign(device.limits, limits);
  assert.ok(await torch.initWebGPUAsync({ device }));
  return device;
}

/** Calls of one kind that the GPU gets while `run` runs. */
function calls(device, name, run) {
  const before = device.calls[name] ?? 0;
  run();
  return (device.calls[name] ?? 0) - before;
}

/** The launches of a step; the first ones wait for their pipelines. */
async function launchesOf(device, optimizer) {
  await torch.defaultDevice().synchronize();
  const before = device.calls.dispatchWorkgroups ?? 0;
  optimizer.step();
  await torch.defaultDevice().synchronize();
  return device.calls.dispatchWorkgroups - before;
}

function backward(params) {
  torch.tidy(() => {
    for (const p of params) {
      p.grad = null;
      p.mul(p).sum().backward();
    }
  });
}

test("a step is one launch for all parameters, and costs the host less than one for each", async () => {
  const device = await idle(),
    { nn, optim } = torch;
  const params = Array.from({ length: LAYERS }, (_, i) => [
    nn.Parameter(torch.ones([16 + (i % 5), 16])),
    nn.Parameter(torch.ones([16 + (i % 5)])),
  ]).flat();
  const apart = params.map((p) => nn.Parameter(torch.ones_like(p)));
  const all = optim.AdamW(params),
    each = apart.map((p) => optim.AdamW([p])),
    times = [[], []],
    launches = [0, 0];
  for (let n = 0; n < STEPS; n++) {
    for (const [i, [own, optimizers]] of [
      [params, [all]],
      [apart, each],
    ].entries()) {
      backward(own);
      const began = process.cpuUsage();
      launches[i] = calls(device, "dispatchWorkgroups", () => {
        for (const optimizer of optimizers) optimizer.step();
      });
      const { user, system } = process.cpuUsage(began);
      if (n >= STEPS / 2) times[i].push(user + system);
      await new Promise((done) => setTimeout(done)); // what was queued is submitted
    }
  }
  const [together, single] = times.map((list) => list.sort((a, b) => a - b)[list.length >> 1]);
  console.log(
    `figure: AdamW on ${params.length} parameters: ${launches[0]} launch and ${together} us of the host a step; one by one ${launches[1]} and ${single} us`,
  );
  assert.deepEqual(launches, [1, params.length]);
  assert.ok(together < single, `${together} us and ${single} us`);
});

test("what is more than the GPU can bind takes several launches", async () => {
  const device = await idle({ maxStorageBufferBindingSize: 4096, maxBufferSize: 4096 });
  const params = Array.from({ length: 10 }, () => torch.nn.Parameter(torch.ones([256]))),
    optimizer = torch.optim.SGD(params);
  for (let n = 0; n < 3; n++) {
    backward(params);
    assert.equal(await launchesOf(device, optimizer), 3); // four, four and two
  }
  const large = [1024, 1024, 4].map((size) => torch.nn.Parameter(torch.ones([size]))),
    other = torch.optim.SGD(large);
  backward(large);
  assert.equal(await launchesOf(device, other), 3);
});

test("flat buffers go back to the pool when nothing lies in them and the optimizer is gone", async () => {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc");
  await idle();
  const params = Array.from({ length: 8 }, () => torch.nn.Parameter(torch.ones([4096])));
  const used = () => {
    const { deviceBytes, poolBytes } = torch.memory().webgpu;
    return deviceBytes - poolBytes;
  };
  const settled = async (wanted) => {
    for (let i = 0; i < 50 && used() > wanted; i++) {
      gc();
      await new Promise((done) => setTimeout(done, 5));
    }
    return used();
  };
  const alone = await settled(0);
  assert.ok(alone >= 8 * 4 * 4096);
  await (async () => {
    const optimizer = torch.optim.Adam(params);
    for (let n = 0; n < 3; n++) {
      backward(params);
      await optimizer.step();
    }
    assert.ok(used() >= alone + 3 * 8 * 4 * 4096, `${used()} bytes in use, ${alone} before`);
    optimizer.zero_grad();
  })();
  assert.ok((await settled(alone)) <= alone, `${used()} bytes in use, ${alone} before`);
});
