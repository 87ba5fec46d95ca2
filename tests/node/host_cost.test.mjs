// What one eager operation costs in JavaScript: against a GPU device whose calls do nothing, beside those calls alone.
import assert from "node:assert/strict";
import test from "node:test";
import * as torch from "../../dist/in-node/index.js";
import { idleDevice } from "./idle_device.mjs";

const OPS = 2000,
  ROUNDS = 12;

/** The least time of one of OPS calls over the rounds, in microseconds. */
async function least(run) {
  let best = Infinity;
  for (let round = 0; round < ROUNDS; round++) {
    const began = performance.now();
    run();
    best = Math.min(best, ((performance.now() - began) * 1000) / OPS);
    await new Promise((done) => setTimeout(done)); // lets the batch be submitted
  }
  return best;
}

test("an eager operation costs little more than its WebGPU calls", async () => {
  const device = idleDevice();
  assert.ok(await torch.initWebGPUAsync({ device }));
  const one = torch.ones([256], { device: "webgpu" });
  const eager = await least(() => {
    let x = one;
    for (let i = 0; i < OPS; i++) {
      const y = x.add(one);
      if (x !== one) x.dispose();
      x = y;
    }
    x.dispose();
  });
  for (const name of Object.keys(device.calls)) device.calls[name] = 0;
  let x = one;
  for (let i = 0; i < OPS; i++) x = x.add(one);
  assert.equal(device.calls.dispatchWorkgroups, OPS);
  assert.ok(device.calls.submit <= OPS / 64, `${device.calls.submit} submits for ${OPS} operations`);

  // The same calls by hand on the same idle device, with a fresh object for each result.
  const offset = new Uint32Array(1);
  const bare = await least(() => {
    for (let i = 0; i < OPS; i++) {
      offset[0] = (i % 256) * 256;
      device.pass.setBindGroup(0, device.createBindGroup({}), offset, 0, 1);
      device.pass.dispatchWorkgroups(1, 1, 1);
    }
  });
  console.log(
    `figure: host cost of an eager add: ${eager.toFixed(2)} us, ${(eager / bare).toFixed(0)} times its bare calls (${bare.toFixed(3)} us)`,
  );
  assert.ok(eager < 50, `${eager.toFixed(2)} us`);
});
