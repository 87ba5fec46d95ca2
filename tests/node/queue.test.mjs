// When work is submitted to a GPU, without a reading that asks for it: the first launch of a task as soon as the
// program lets go, then batches that double, the rest at the end of the task.  A program that does not let go has its
// first 32 launches submitted, then twice as many at a time.
import assert from "node:assert/strict";
import test from "node:test";
import * as torch from "../../dist/in-node/index.js";
import { idleDevice } from "./idle_device.mjs";

const task = () => new Promise((done) => setImmediate(() => setImmediate(done)));

/** `launch()` queues one; `counts()` says how many were queued in each batch that was submitted. */
async function watched() {
  const device = idleDevice(),
    batches = [];
  assert.ok(await torch.initWebGPUAsync({ device }));
  const x = torch.ones([256], { device: "webgpu" });
  x.add(x);
  await task();
  device.calls.dispatchWorkgroups = 0;
  let before = 0;
  device.queue.submit = () => {
    batches.push(device.calls.dispatchWorkgroups - before);
    before = device.calls.dispatchWorkgroups;
  };
  return {
    launch: () => {
      x.add(x);
    },
    batches,
  };
}

test("what is queued is submitted when the program lets go, and at the end of the task", async () => {
  const { launch, batches } = await watched();
  launch();
  assert.deepEqual(batches, [], "while the program runs there may come more");
  await null;
  assert.deepEqual(batches, [1], "the GPU starts early");
  launch();
  await null;
  assert.deepEqual(batches, [1], "one more is no batch of two");
  await task();
  assert.deepEqual(batches, [1, 1], "nothing waits for a reading");
  await task();
  assert.deepEqual(batches, [1, 1], "nothing is submitted for nothing");
});

test("batches of a task double, and the next task begins anew", async () => {
  const { launch, batches } = await watched();
  const wanted = [1, 2, 4, 8, 16, 32];
  for (const count of wanted) {
    for (let i = 0; i < count; i++) {
      launch();
      await null;
    }
  }
  assert.deepEqual(batches, wanted);
  for (let i = 0; i < 5; i++) launch();
  await task();
  assert.deepEqual(batches, [...wanted, 5]);
  launch();
  await null;
  assert.deepEqual(batches, [...wanted, 5, 1]);
  await task();
});

test("a long stretch without letting go is submitted in batches of 32 to 256", async () => {
  const { launch, batches } = await watched();
  for (let i = 0; i < 600; i++) launch();
  assert.deepEqual(batches, [32, 64, 128, 256]);
  await null;
  assert.deepEqual(batches, [32, 64, 128, 256, 120]);
  for (let i = 0; i < 300; i++) launch();
  assert.deepEqual(batches.slice(5), [256], "the GPU is busy: batches stay long");
  await torch.defaultDevice().synchronize();
  batches.length = 0;
  for (let i = 0; i < 100; i++) launch();
  assert.deepEqual(batches, [32, 64], "after a wait it is not");
  await task();
});

test("synchronize submits at once", async () => {
  const { launch, batches } = await watched();
  launch();
  const done = torch.defaultDevice().synchronize();
  assert.deepEqual(batches, [1]);
  await done;
});
