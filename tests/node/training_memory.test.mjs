// 10,000 steps of training that dispose of nothing hold little memory, however many they are: on the CPU, on a GPU that
// does no work, so that only the package counts, and on Dawn for as many steps as SECONDS allow; TRAINING=all takes the
// time for all.  And when the collector has looked everywhere, nothing is left.
import assert from "node:assert/strict";
import test from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import * as torch from "../../dist/index.js";
import { linear } from "../../dist/runtime/devices/cpu/linear-memory.js";
import { growth, heldWhileTraining } from "../training_loop.mjs";
import { idleDevice } from "./idle_device.mjs";

const SECONDS = process.env.TRAINING === "all" ? Infinity : 5,
  MOST = 8 << 20;

const told = (where, { device, steps, seconds }) => {
  console.log(
    `figure: ${steps} steps without dispose ${where}: at most ${(Math.max(...device) / 2 ** 20).toFixed(1)} MiB, ` +
      `in the second half ${growth(device).toFixed(2)} of the first (${seconds.toFixed(0)} s)`,
  );
};

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");

/** So short a run gives the collector no reason to look everywhere: it is told to. */
async function nothingLeft(device) {
  for (let n = 0; n < 3; n++) {
    collect();
    await new Promise((done) => setTimeout(done, 20)); // what it found comes back between two tasks
  }
  const { bytes } = torch.memory()[device];
  assert.ok(bytes < 2 ** 16, `${bytes} bytes are left`);
}

test("on a GPU that does no work", async () => {
  assert.ok(await torch.initWebGPUAsync({ device: idleDevice() }));
  const held = await heldWhileTraining(torch, "webgpu");
  told("on an idle GPU", held);
  assert.ok(Math.max(...held.device) < MOST, `${held.device}`);
  await nothingLeft("webgpu");
});

test("on the CPU", async () => {
  const before = process.memoryUsage().arrayBuffers,
    held = await heldWhileTraining(torch, "cpu");
  told("on the CPU", held);
  assert.ok(Math.max(...held.live) < 4 * MOST, `${held.live}`);
  assert.ok(linear().bytes < 2 ** 25, `${linear().bytes} bytes of linear memory`);
  await nothingLeft("cpu");
  // Linear memory, which never shrinks; what pressed the collector is gone by now.
  const grown = process.memoryUsage().arrayBuffers - before;
  assert.ok(grown < 2 ** 25, `${grown} bytes of array buffers`);
});

test("on Dawn", async () => {
  assert.ok(await torch.initWebGPUAsync());
  const held = await heldWhileTraining(torch, "webgpu", { seconds: SECONDS });
  told("on Dawn", held);
  assert.ok(held.steps > 1);
  assert.ok(Math.max(...held.device) < MOST, `${held.device}`);
  await nothingLeft("webgpu");
});
