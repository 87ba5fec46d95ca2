// What PyTorch warns of is said on the console, in its words, once; and the call goes on.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as torch from "../../dist/in-node/index.js";

const { nn } = torch,
  F = nn.functional;

function said(call) {
  const { warn } = console,
    lines = [];
  console.warn = (line) => lines.push(line);
  try {
    call();
  } finally {
    console.warn = warn;
  }
  return lines;
}

test("an axis that is not given", () => {
  for (const [name, module] of [
    ["softmax", "Softmax"],
    ["log_softmax", "LogSoftmax"],
    ["softmin", "Softmin"],
  ]) {
    const wanted = `Implicit dimension choice for ${name} has been deprecated. Change the call to include dim=X as an argument.`;
    assert.deepEqual(
      said(() => F[name](torch.ones(2, 3), 1)),
      [],
    );
    assert.deepEqual(
      said(() => nn[module](0)(torch.ones(2, 3))),
      [],
    );
    assert.deepEqual(
      said(() => nn[module]()(torch.ones(2, 3))),
      [wanted],
    );
    assert.deepEqual(
      said(() => F[name](torch.ones(4, 3))),
      [],
      "said once",
    );
  }
});

test("null stands where PyTorch takes None, and nowhere else", async () => {
  const x = torch.tensor([
    [1, 2],
    [3, 5],
  ]);
  for (const name of ["softmax", "log_softmax", "softmin"]) {
    const wanted = await F[name](x, 1).tolist();
    for (const args of [[null], [{ dim: null }], [null, { dtype: null }]])
      assert.deepEqual(await F[name](x, ...args).tolist(), wanted, name);
    for (const dim of ["", "none", "abc"]) assert.throws(() => F[name](x, dim), torch.OpError, `${name} of '${dim}'`);
  }
  const halves = await torch.div(x, 2).tolist();
  for (const call of [torch.div, torch.divide, (...args) => x.div(...args.slice(1))])
    assert.deepEqual(await call(x, 2, { rounding_mode: null }).tolist(), halves);
  assert.deepEqual(await x.clone().div_(2, { rounding_mode: null }).tolist(), halves);
  for (const call of [
    () => torch.softmax(x, null),
    () => torch.max(x, null),
    () => torch.prod(x, { dim: null }),
    () => torch.div(x, 2, { rounding_mode: "" }),
    () => torch.div(x, 2, { rounding_mode: "up" }),
  ])
    assert.throws(call, /^\w*Error: (softmax|max|prod|div): .*'(dim|rounding_mode)'/);
});

test("a target that broadcasts", () => {
  const x = torch.ones(3, 1),
    kinds = [F.mse_loss, F.l1_loss, F.huber_loss, F.smooth_l1_loss];
  for (const loss of kinds)
    assert.deepEqual(
      said(() => loss(x, torch.zeros(3, 1))),
      [],
    );
  const [line, ...rest] = said(() => kinds.forEach((loss) => loss(x, torch.zeros(3))));
  assert.match(line, /^Using a target size that is different to the input size\. .* broadcasting/);
  assert.deepEqual(rest, []);
});

test("the gradient of a tensor that is no leaf, which nobody keeps", () => {
  const x = torch.ones([2], { requires_grad: true }),
    wanted = /^The \.grad attribute of a Tensor that is not a leaf Tensor is being accessed\. .*Use \.retain_grad\(\)/;
  const kept = x.mul(2),
    set = x.mul(2),
    root = x.mul(2).sum(),
    plain = torch.ones([2]);
  kept.retain_grad();
  set.grad = torch.ones([2]);
  root.backward();
  assert.deepEqual(
    said(() => [kept, set, root, plain, x, x.detach(), plain.mul(2), torch.no_grad(() => x.mul(2))].map((y) => y.grad)),
    [],
  );
  const lines = said(() => assert.equal(x.mul(2).grad, null));
  assert.equal(lines.length, 1);
  assert.match(lines[0], wanted);
  assert.deepEqual(
    said(() => x.view(2, 1).grad),
    [],
    "said once",
  );
});
