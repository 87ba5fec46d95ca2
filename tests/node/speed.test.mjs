// Speed that holds on any machine: the CPU's matrix product beside plain loops, measured in turns in one process.
import assert from "node:assert/strict";
import test from "node:test";
import { uniform } from "../../bench/measure.mjs";
import { matmul } from "../../bench/plain.mjs";
import * as torch from "../../dist/index.js";

test("matmul 512 on the CPU is at least as fast as plain blocked loops", async () => {
  const n = 512,
    a = uniform(n * n, 1),
    b = uniform(n * n, 2);
  const x = torch.tensor(a, { shape: [n, n] }),
    y = torch.tensor(b, { shape: [n, n] });
  let plain = Infinity,
    ours = Infinity,
    c;
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

test("a transposed convolution takes no longer for the zeros between its inputs", async () => {
  // The same products of the same sizes, once for each place of the input and once for each of the output.
  const { conv2d, conv_transpose2d } = torch.nn.functional,
    values = (shape, seed) =>
      torch.tensor(
        uniform(
          shape.reduce((a, b) => a * b),
          seed,
        ),
        { shape },
      );
  const x = values([2, 32, 16, 16], 1),
    weight = values([32, 16, 4, 4], 2),
    wide = values([2, 16, 64, 64], 3);
  const best = async (f) => {
    let took = Infinity;
    for (let round = 0; round < 8; round++) {
      const began = performance.now();
      await f().data();
      took = Math.min(took, performance.now() - began);
    }
    return took;
  };
  const plain = await best(() => conv2d(wide, weight, null, 4)),
    turned = await best(() => conv_transpose2d(x, weight, null, 4));
  console.log(`figure: conv_transpose2d, stride 4: ${turned.toFixed(1)} ms, conv2d ${plain.toFixed(1)} ms`);
  // conv2d runs in WebAssembly's tiles; a product with conditions does not yet.
  assert.ok(turned <= 20 * plain, `${turned.toFixed(1)} ms, conv2d of as many products ${plain.toFixed(1)} ms`);
});

test("a kernel takes less than 3 ms from its call to its bytes", async () => {
  const { bind } = await import("../../dist/host/bind.js"),
    { plan_wasm } = await import("../../dist/wasm/plan.js"),
    { kernel_bytes, wasm_kernel } = await import("../../dist/wasm/module.js"),
    { withFormulas } = await import("../../dist/runtime/program/notation-formulas.js"),
    { op } = (await import("../../dist/ops/reduce.js")).softmaxOp;
  const input = { dtype: "float32", shape: [64, 100], strides: [100, 1], offset: 0 };
  op.programs[0].kernels.forEach(withFormulas);
  let took = Infinity,
    bytes = [];
  for (let round = 0; round < 60; round++) {
    const began = performance.now(),
      call = bind(op, [input, 1, null]);
    const [launch] = plan_wasm(
      op,
      0,
      call,
      op.outputs,
      call.slots.map(({ dtype }) => dtype),
    );
    bytes = kernel_bytes(wasm_kernel(launch, false), false);
    took = Math.min(took, performance.now() - began);
  }
  assert.ok(bytes.length > 500);
  console.log(`figure: softmax's kernel is made in ${took.toFixed(2)} ms`);
  assert.ok(took < 3, `${took.toFixed(2)} ms`);
});
