// How many launches captured programs take: kernels of a program are joined where one computes what another reads.
import assert from "node:assert/strict";
import test from "node:test";
import * as torch from "../../dist/in-node/index.js";
import { models } from "../../bench/models.mjs";
import { idleDevice } from "./idle_device.mjs";

const { nn } = torch,
  F = nn.functional,
  device = idleDevice();
assert.ok(await torch.initWebGPUAsync({ device }));

/** The launches of a replay. */
async function launches(f, ...args) {
  const compiled = torch.compile(f, { fullgraph: true });
  for (let n = 0; n < 4; n++) {
    compiled(...args);
    await new Promise((done) => setTimeout(done));
  }
  assert.ok(torch.compiler.counts(compiled).replays >= 1);
  device.calls.dispatchWorkgroups = 0;
  compiled(...args);
  return device.calls.dispatchWorkgroups;
}

const { mobilenet, Transformer } = models(torch);

test("a chain of twelve ops is one launch", async () => {
  const x = torch.rand([32, 16]),
    y = torch.rand([16]);
  const chain = (x, y) => x.add(1).mul(y).sub(0.3).relu().mul(2).add(y).sigmoid().mul(x).tanh().add(3).div(y).neg();
  assert.equal(await launches(chain, x, y), 1);
});

test("maps join the rows and products beside them", async () => {
  const x = torch.rand([32, 16]),
    w = torch.rand([16, 8]),
    b = torch.rand([8]);
  assert.equal(await launches((x) => F.softmax(x.mul(0.5).add(1), 1).mul(2).add(x), x), 1);
  assert.equal(await launches((x) => x.sub(1).square().mean(1).sqrt(), x), 1);
  assert.equal(await launches((x, w, b) => F.gelu(x.matmul(w).add(b)).mul(2), x, w, b), 1);
  assert.equal(await launches((x) => F.layer_norm(x.add(1), [16]).relu(), x), 1);
  assert.equal(await launches((x) => [x.mul(2), x.add(1), x.t().contiguous()], x), 2);
});

test("the kernels of one op are joined apart from each other", async () => {
  const layer = nn.Linear(16, 8),
    x = torch.rand([4, 16], { requires_grad: true }),
    g = torch.rand([4, 8]);
  // What goes back to the input, times the slope of the sine; to the weight; to the bias.  Nobody reads the product.
  const way = (x, g) => {
    for (const p of [x, ...layer.parameters()]) p.grad = null;
    layer(x.sin()).backward(g);
    return x.grad.mul(2);
  };
  assert.equal(await launches(way, x, g), 3);
});

test("what others change or keep is stored between", async () => {
  const x = torch.rand([8, 8]),
    kept = torch.rand([8, 8]);
  // Each row needs the whole column of what is stored.
  assert.equal(await launches((x) => x.add(1).cumsum(0).cumsum(1), x), 2);
  // A product of few rows computes what it reads as often as there are tiles, one of many stores it.
  assert.equal(await launches((x) => x.mul(2).matmul(x.exp()).add(x), x), 1);
  assert.equal(await launches((x) => x.matmul(kept.exp()), torch.rand([200, 8])), 2);
  assert.equal(
    await launches((x) => {
      const y = x.matmul(kept);
      kept.add_(1);
      return y.relu().add(kept);
    }, x),
    2,
  );
});

test("MobileNetV2 is at most 65 launches", async () => {
  const model = mobilenet().eval(),
    count = await launches((x) => torch.no_grad(() => model(x)), torch.rand([1, 3, 224, 224]));
  console.log(`figure: MobileNetV2 forward, captured: ${count} launches`);
  assert.ok(count <= 65, `${count} launches`);
});

test("a token of GPT-2 is at most 100 launches", async () => {
  const sizes = { vocabulary: 100, length: 512, width: 768, heads: 12, layers: 12, causal: true },
    model = new Transformer(sizes).eval(),
    past = Array.from({ length: 12 }, () => [torch.rand([1, 12, 256, 64]), torch.rand([1, 12, 256, 64])]),
    token = torch.tensor([[7]], { dtype: "int32" });
  const count = await launches((token) => torch.no_grad(() => model(token, past, 256)), token);
  console.log(`figure: a token of GPT-2 small, captured: ${count} launches`);
  assert.ok(count <= 100, `${count} launches`);
});

test("an LSTM layer over time takes its steps' kernels and few more", async () => {
  const layer = nn.LSTM(16, 16, { batch_first: true }),
    names = new Map(),
    { queue } = torch.defaultDevice(),
    dispatch = queue.dispatch.bind(queue);
  const f = torch.compile(
    (x) => {
      for (const p of layer.parameters()) p.grad = null;
      const loss = layer(x)[0].sum();
      loss.backward();
      return loss;
    },
    { fullgraph: true },
  );
  const x = torch.rand([4, 35, 16]);
  for (let n = 0; n < 5; n++) {
    f(x);
    await new Promise((done) => setTimeout(done));
  }
  queue.dispatch = (...args) => {
    names.set(args.at(-1), (names.get(args.at(-1)) ?? 0) + 1);
    return dispatch(...args);
  };
  f(x);
  queue.dispatch = dispatch;
  const all = [...names.values()].reduce((a, b) => a + b),
    own = names.get("linear") + names.get("lstm_cell");
  console.log(`figure: LSTM over 35 steps, forward and backward: ${all} launches, ${own} of them the steps' own`);
  assert.ok(all - own <= 40, `${all - own} launches beside ${own}`);
});
