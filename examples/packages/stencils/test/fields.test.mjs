// Values against a plain loop, gradients by differences, and a conductor that is found from what it did.

import assert from "node:assert/strict";
import { test } from "node:test";
import * as torch from "tensorloom";
import { diffuse_torus, heated, kicked, laplacian } from "../lib/index.js";

if (process.env.ON === "webgpu") assert.ok(await torch.initWebGPUAsync(), "there is no WebGPU here");

test("the laplacian is that of a loop", async () => {
  const field = torch.randn([2, 5, 4]);
  const rows = await field.tolist();
  const at = (b, y, x) => rows[b][y]?.[x] ?? 0.5;
  const want = rows.map((grid, b) =>
    grid.map((row, y) =>
      row.map((v, x) => at(b, y - 1, x) + at(b, y + 1, x) + at(b, y, x - 1) + at(b, y, x + 1) - 4 * v),
    ),
  );
  const got = laplacian(field, { outside: 0.5 });
  assert.ok(await torch.allclose(got, torch.tensor(want), { atol: 1e-5 }));
});

test("complex fields go in and come out", async () => {
  const potential = torch.randn([5, 4]),
    wave = torch.complex(torch.randn([2, 5, 4]), torch.randn([2, 5, 4])).requires_grad_();
  const turned = kicked(wave, potential, 0.3),
    want = wave.mul(torch.polar(torch.ones([5, 4]), potential.mul(-0.3)));
  assert.equal(turned.dtype, "complex64");
  assert.ok(await torch.allclose(torch.view_as_real(turned), torch.view_as_real(want), { atol: 1e-5 }));
  torch.view_as_real(turned).select(-1, 0).sum().backward();
  const [slope] = torch.autograd.grad(torch.view_as_real(want).select(-1, 0).sum(), [wave]);
  assert.ok(await torch.allclose(torch.view_as_real(wave.grad), torch.view_as_real(slope), { atol: 1e-5 }));
  // Real numbers are taken for complex ones, and what is linear takes complex ones by their parts.
  assert.equal(kicked(torch.ones([5, 4]), potential, 1).dtype, "complex64");
  const around = laplacian(wave.detach());
  assert.ok(await torch.allclose(torch.real(around), laplacian(torch.real(wave.detach())), { atol: 1e-5 }));
  assert.ok(await torch.allclose(torch.imag(around), laplacian(torch.imag(wave.detach())), { atol: 1e-5 }));
});

test("nothing is lost on a torus", async () => {
  const field = torch.rand([6, 7]);
  const after = diffuse_torus(diffuse_torus(field, 0.2), 0.1);
  assert.ok(await torch.allclose(after.sum(), field.sum(), { rtol: 1e-5 }));
  assert.throws(() => diffuse_torus(torch.ones([0, 3]), 0.1), /there is no cell in a grid of 0 x 3/);
});

test("gradients, by differences", async () => {
  const field = torch.rand([3, 3], { dtype: torch.float64, device: "cpu", requires_grad: true });
  const rate = torch.rand([3, 3], { dtype: torch.float64, device: "cpu" }).mul(0.2).requires_grad_();
  assert.ok(await torch.autograd.gradcheck((f, r) => heated(f, r, 3), [field, rate]));
});

test("a conductor is found from what it did", async () => {
  torch.manual_seed(0);
  const before = torch.rand([8, 6, 6]),
    truth = torch.rand([6, 6]).mul(0.2);
  const after = heated(before, truth, 2);
  const rate = torch.full([6, 6], 0.1, { requires_grad: true });
  const optimizer = torch.optim.Adam([rate], { lr: 0.015 });
  let loss;
  for (let n = 0; n < 40; n++) {
    optimizer.zero_grad();
    loss = torch.nn.functional.mse_loss(heated(before, rate, 2), after);
    loss.backward();
    await optimizer.step();
  }
  assert.ok((await rate.sub(truth).abs().mean().item()) < 0.02, `off by ${await rate.sub(truth).abs().mean().item()}`);
});
