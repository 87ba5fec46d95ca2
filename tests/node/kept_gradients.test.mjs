// A gradient that a hook or a function of one's own was shown may be kept beyond the way back (Grad-CAM does so).
import assert from "node:assert/strict";
import { test } from "node:test";
import * as torch from "../../dist/in-node/index.js";

const { nn } = torch;

test("gradients that full backward hooks keep are there afterwards", async () => {
  const net = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 2)),
    kept = [];
  for (const i of [0, 1, 2])
    net[i].register_full_backward_hook((_, gradInput, gradOutput) => {
      kept.push(gradOutput[0], gradOutput[0].detach(), ...gradInput.filter(Boolean));
    });
  net(torch.ones([2, 3]).requires_grad_())
    .sum()
    .backward();
  assert.equal(kept.length, 9);
  for (const grad of kept) assert.equal((await grad.tolist()).length, 2);
});

test("a gradient that a function of one's own keeps is there afterwards", async () => {
  let kept;
  class Same extends torch.autograd.Function {
    static forward(ctx, x) {
      return x.clone();
    }
    static backward(ctx, grad) {
      kept = grad;
      return grad;
    }
  }
  const x = torch.ones([2, 3]).requires_grad_();
  Same.apply(x.mul(2)).exp().sum().backward();
  assert.equal((await kept.tolist()).length, 2);
});
