// Speed that holds on any machine: the CPU's matrix product beside plain loops, measured in turns in one process.
import assert from "node:assert/strict";
import test from "node:test";
import { uniform } from "../../bench/measure.mjs";
import { matmul } from "../../bench/plain.mjs";
import * as torch from "../../dist/index.js";

test("matmul 512 on the CPU is at least as fast as plain blocked loops", async () => {
  const n = 512, a = uniform(n * n, 1), b = uniform(n * n, 2);
  const x = torch.tensor(a, { shape: [n, n] }), y = torch.tensor(b, { shape: [n, n] });
  let plain = Infinity, ours = Infinity, c;
  for (let round = 0; round < 6; round++) {
    let began = performance.now();
    c = new Float32Array(n * n);
    matmul(a, b, c, n, n, n);
    plain = Math.min(plain, performance.now() - began);
    began = performance.now();
    const z = x.matmul(y);
    await z.data();
    ours = Math.min(ours, performance.now() - began);
  }
  const z = await x.matmul(y).data();
  for (let i = 0; i < z.length; i += 997) assert.ok(Math.abs(z[i] - c[i]) < 1e-3);
  console.log(`figure: matmul 512: ${ours.toFixed(1)} ms, plain loops ${plain.toFixed(1)} ms`);
  assert.ok(ours <= plain, `${ours.toFixed(1)} ms, plain loops ${plain.toFixed(1)} ms`);
});
