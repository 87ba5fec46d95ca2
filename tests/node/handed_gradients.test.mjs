// A gradient that is, element for element, what comes in is handed on and not copied: sums and residual connections.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as torch from "../../dist/in-node/index.js";
import { idleDevice } from "./idle_device.mjs";

const leaf = (...values) => torch.tensor(values, { device: "cpu", requires_grad: true }),
  lists = (...tensors) => Promise.all(tensors.map((x) => x.tolist()));

test("leaves of a sum have gradients of their own", async () => {
  const [a, b] = [leaf(1, 2), leaf(3, 4)],
    sent = torch.tensor([5, 6], { device: "cpu" });
  a.add(b).backward(sent);
  a.grad.zero_();
  assert.deepEqual(await lists(a.grad, b.grad, sent), [
    [0, 0],
    [5, 6],
    [5, 6],
  ]);
  a.add(b).backward(sent);
  b.grad.mul_(10);
  assert.deepEqual(await lists(a.grad, b.grad, sent), [
    [5, 6],
    [100, 120],
    [5, 6],
  ]);
});

test("what arrives at several places adds up", async () => {
  const x = leaf(1, 2),
    y = x.mul(3),
    z = y.add(y).add(y.sub(x)).add(x); // 9 x
  z.add(z).backward(torch.tensor([1, 10], { device: "cpu" }));
  assert.deepEqual(await x.grad.tolist(), [18, 180]);
});

test("what is scaled, stretched or of another type is computed", async () => {
  const a = leaf(1, 2),
    b = leaf(3),
    c = leaf(4, 5);
  a.add(b)
    .add(c.half(), { alpha: 0.5 })
    .sub(a, { alpha: 3 })
    .backward(torch.tensor([1, 2], { device: "cpu" }));
  assert.deepEqual(await lists(a.grad, b.grad, c.grad), [[-2, -4], [3], [0.5, 1]]);
});

test("hooks see each of the places it is handed to, and change that one alone", async () => {
  const [a, b] = [leaf(1), leaf(2)],
    [left, right] = [a.mul(2), b.mul(3)],
    seen = [];
  left.register_hook((grad) => grad.mul(100));
  right.register_hook((grad) => void seen.push(grad));
  left.add(right).backward();
  assert.deepEqual(await lists(a.grad, b.grad, ...seen), [[200], [3], [1]]);
});

test("a gradient of a gradient goes through", async () => {
  const x = leaf(2, 3),
    [first] = torch.autograd.grad(x.pow(3).add(x).sum(), [x], { create_graph: true }),
    [second] = torch.autograd.grad(first.add(first).sum(), [x]);
  assert.deepEqual(await lists(first, second), [
    [13, 28],
    [24, 36],
  ]);
});

test("it tells of what was wrong with the results", async () => {
  assert.ok(await torch.initWebGPUAsync());
  const weight = torch.rand([4, 2], { requires_grad: true }),
    other = torch.rand([3, 2], { requires_grad: true }),
    sum = torch.nn.functional.embedding(torch.tensor([0, 9, 1], { dtype: torch.long }), weight).add(other.mul(2));
  sum.sum().backward();
  await assert.rejects(other.grad.tolist(), /embedding.*index/is);
});

test("a sum launches nothing on its way back, and nothing is left behind it", async () => {
  assert.ok(await torch.initWebGPUAsync({ device: idleDevice() }));
  const { queue } = torch.defaultDevice(),
    dispatch = queue.dispatch.bind(queue);
  let launches = [];
  queue.dispatch = (...args) => {
    launches.push(args.at(-1));
    return dispatch(...args);
  };
  const places = torch.arange(256),
    leaves = [0, 1].map(() => torch.rand([256], { requires_grad: true })),
    sent = torch.rand([256]);
  const step = () =>
    torch.tidy(() => {
      for (const x of leaves) x.grad = null;
      const [a, b] = leaves.map((x) => torch.take(x, places).exp()), // what may be wrong with them is known later
        sum = a.add(b).add(a);
      launches = [];
      sum.backward(sent);
      return launches;
    });
  step();
  const { bytes } = torch.memory().webgpu;
  // What is sent, the sum of the two that come to the first exponential, and the gradients of both ways.
  assert.deepEqual(step(), ["copy", "accumulate", "exp", "index_select", "exp", "index_select"]);
  for (let n = 0; n < 50; n++) step();
  assert.ok(torch.memory().webgpu.bytes <= bytes);
});
