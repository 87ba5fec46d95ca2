// 10,000 steps of training that dispose of nothing hold memory flat: on the CPU, on a GPU that does no work, so that only the package
// counts, and on Dawn for as many steps as SECONDS allow; TRAINING=all takes the time for all.
import assert from "node:assert/strict";
import test from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import * as torch from "../../dist/index.js";
import { flat, growth, heldWhileTraining } from "../training_loop.mjs";
import { idleDevice } from "./idle_device.mjs";

const SECONDS = process.env.TRAINING === "all" ? Infinity : 15, MOST = 4 << 20;

const told = (where, { device, steps, seconds }) => {
  console.log(`figure: ${steps} steps without dispose ${where}: at most ${(Math.max(...device) / 2 ** 20).toFixed(1)} MiB, ` +
    `in the second half ${growth(device).toFixed(2)} of the first (${seconds.toFixed(0)} s)`);
};

test("on a GPU that does no work", async () => {
  assert.ok(await torch.initWebGPUAsync({ device: idleDevice() }));
  const held = await heldWhileTraining(torch, "webgpu");
  told("on an idle GPU", held);
  assert.ok(flat(held.device), `${held.device}`);
  assert.ok(Math.max(...held.device) < MOST, `${held.device}`);
});

test("on the CPU", async () => {
  const before = process.memoryUsage().arrayBuffers, held = await heldWhileTraining(torch, "cpu");
  told("on the CPU", held);
  assert.ok(Math.max(...held.live) < 8 * MOST, `${held.live}`);
  assert.ok(process.memoryUsage().arrayBuffers - before < 2 ** 26);
  // The elements went with the collector's young generation.  What is counted goes when it looks everywhere, for which so short a run
  // gives it no reason: it is told to, and nothing may be left.
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc");
  for (let n = 0; n < 3; n++) {
    collect();
    await new Promise((done) => setTimeout(done, 20));
  }
  assert.ok(torch.memory().cpu.bytes < 2 ** 16, `${torch.memory().cpu.bytes} bytes are left`);
});

test("on Dawn", async () => {
  assert.ok(await torch.initWebGPUAsync());
  const held = await heldWhileTraining(torch, "webgpu", { seconds: SECONDS });
  told("on Dawn", held);
  assert.ok(held.steps === 10_000 ? flat(held.device) : held.steps > 1, `${held.steps} steps: ${held.device}`);
  assert.ok(Math.max(...held.device) < 2 * MOST, `${held.device}`);
});
