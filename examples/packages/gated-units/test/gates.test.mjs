// What a user of the package sees: values, gradients, modules, a compiled function.

import assert from "node:assert/strict";
import { test } from "node:test";
import * as torch from "tensorloom";
import { SwiGLU, attention_gate, geglu, halves, swiglu } from "../src/ops/index.js";

const F = torch.nn.functional;
if (process.env.ON === "webgpu") assert.ok(await torch.initWebGPUAsync(), "there is no WebGPU here");

const close = async (got, want) =>
  assert.ok(
    await torch.allclose(got, want, { rtol: 1e-5, atol: 1e-6 }),
    `${await got.tolist()}, not ${await want.tolist()}`,
  );

test("swiglu is what it is made of, and so is its gradient", async () => {
  torch.manual_seed(1);
  const [a, b] = [torch.randn([4, 8]), torch.randn([4, 8])];
  const [x, gate] = [a.clone().requires_grad_(), b.clone().requires_grad_()];
  const out = swiglu(x, gate);
  out.mul(out).sum().backward();
  const [y, h] = [a.clone().requires_grad_(), b.clone().requires_grad_()];
  const want = y.mul(F.silu(h));
  want.mul(want).sum().backward();
  await close(out, want);
  await close(x.grad, y.grad);
  await close(gate.grad, h.grad);
});

test("gradients of gradients, by differences", async () => {
  const x = torch.randn([3], { dtype: torch.float64, device: "cpu", requires_grad: true });
  const gate = torch.randn([3], { dtype: torch.float64, device: "cpu", requires_grad: true });
  assert.ok(await torch.autograd.gradgradcheck((u, v) => attention_gate(u, v), [x, gate]));
});

test("a module of it is one of torch.nn", async () => {
  const unit = SwiGLU({ beta: 2 });
  assert.equal(String(unit), "SwiGLU(beta=2.0)");
  const { x, gate } = halves(torch.arange(6, { dtype: torch.float32 }).reshape([1, 6]));
  await close(unit(x, gate), swiglu(x, gate, { beta: 2 }));
});

test("it joins the operations beside it", async () => {
  const f = torch.compile((u, v) => geglu(u.mul(2), v).add(1));
  const [u, v] = [torch.randn([16]), torch.randn([16])];
  await close(f(u, v), geglu(u.mul(2), v).add(1));
});

test("errors name the package", () => {
  assert.throws(() => swiglu(torch.ones([2]), torch.ones([3])), /gated_units\.swiglu/);
  assert.throws(() => swiglu(torch.ones([2]), 3), /gated_units\.swiglu: argument 'gate'/);
});
