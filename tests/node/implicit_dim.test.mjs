// Softmax and its kin without `dim` take the axis that PyTorch takes: the first of one or three, else the second.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as torch from "../../dist/in-node/index.js";

const AXES = { 1: 0, 2: 1, 3: 0, 4: 1, 5: 1 };
const KINDS = [
  ["Softmax", "softmax"],
  ["LogSoftmax", "log_softmax"],
  ["Softmin", "softmin"],
];

for (const [module, name] of KINDS)
  test(`${module} chooses its axis`, async () => {
    for (const [rank, dim] of Object.entries(AXES)) {
      const shape = [3, 2, 4, 2, 3].slice(0, rank),
        weights = torch.rand(shape);
      const outcome = async (call) => {
        const x = torch.arange(weights.numel()).mul(1.7).sin().reshape(shape).requires_grad_(),
          y = call(x);
        y.mul(weights).sum().backward();
        return Promise.all([y.detach().tolist(), x.grad.tolist()]);
      };
      const wanted = await outcome((x) => torch.nn.functional[name](x, dim));
      for (const call of [torch.nn[module](), torch.nn[module]({ dim: null }), torch.nn.functional[name]])
        assert.deepEqual(await outcome((x) => call(x)), wanted, `${rank} axes`);
    }
  });

test("torch.softmax asks for its axis", () => {
  assert.throws(() => torch.softmax(torch.ones(2, 3)), /softmax: missing required argument 'dim'/);
});
