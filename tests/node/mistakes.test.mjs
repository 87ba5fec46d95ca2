// Mistakes that programs make often: arrays whose memory is gone, shapes that do not go together, probabilities that are
// none, names of options that are nearly right.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as torch from "../../dist/in-node/index.js";

const { nn } = torch,
  F = nn.functional;
torch.set_slow_warnings(false);

function detached(Type) {
  const array = new Type([1, 2, 3]);
  structuredClone(array.buffer, { transfer: [array.buffer] });
  return array;
}

/** What a call answers: an error, or how it ended without one. */
async function ended(call) {
  try {
    return `answers ${String(await call())}`;
  } catch (error) {
    return error;
  }
}

/** What takes no arguments, or says something of any value. */
const ANY =
  /^(is_tensor|keep|set_printoptions|is_\w+_enabled|defaultDevice|gpuDevice|initWebGPUAsync|set_slow_warnings)$/;

test("no function takes an array whose memory is gone", async () => {
  const silent = [];
  let total = 0;
  for (const [space, holder] of Object.entries({
    torch,
    F,
    linalg: torch.linalg,
    fft: torch.fft,
    special: torch.special,
  }))
    for (const [name, f] of Object.entries(holder)) {
      if (typeof f !== "function" || /^[A-Z]/.test(name) || ANY.test(name)) continue;
      for (const Type of [Float32Array, Int32Array])
        for (const before of [[], [torch.ones([3])]]) {
          total++;
          const answer = await ended(() => f(...before, detached(Type)));
          if (
            !(answer instanceof torch.OpError) &&
            !(answer instanceof Error && /missing|promise/.test(answer.message))
          )
            silent.push(`${space}.${name}(${before.length ? "tensor, " : ""}${Type.name}): ${answer}`);
        }
    }
  assert.ok(total > 2000, `${total} calls`);
  assert.deepEqual(silent, []);
  for (const call of [
    () => torch.tensor(detached(Float32Array)),
    () => torch.tensor([detached(Float32Array)]),
    () => torch.zeros(detached(Int32Array)),
    () => torch.frombuffer(detached(Uint8Array), { dtype: "float32" }),
    () => torch.frombuffer(detached(Uint8Array).buffer, { dtype: "float32" }),
    () => torch.ones([3]).reshape(detached(Int32Array)),
    () => torch.ones([3]).add(detached(Float32Array)),
    () => torch.ones([3]).set([0], detached(Float32Array)),
    () => nn.Linear(detached(Int32Array), 2),
  ])
    assert.match((await ended(call)).message, /the memory of the typed array is gone/);
  assert.equal(torch.tensor(new Float32Array(0)).numel(), 0);
});

test("products say of shapes what PyTorch says", async () => {
  const o = (...shape) => torch.ones(shape),
    matrices = /mat1 and mat2 shapes cannot be multiplied \((\w+ and \w+)\)/,
    stacks = /Expected size for first two dimensions of batch2 tensor to be: (\[\d+, \d+\] but got: \[\d+, \d+\])/;
  for (const [call, pattern, shapes] of [
    [() => torch.mm(o(3, 4), o(5, 2)), matrices, "3x4 and 5x2"],
    [() => o(3, 4).mm(o(5, 2)), matrices, "3x4 and 5x2"],
    [() => torch.matmul(o(3, 4), o(5, 2)), matrices, "3x4 and 5x2"],
    [() => torch.matmul(o(2, 3, 4), o(5, 2)), matrices, "6x4 and 5x2"],
    [() => torch.matmul(o(5), o(4, 3)), matrices, "1x5 and 4x3"],
    [() => torch.addmm(o(3, 2), o(3, 4), o(5, 2)), matrices, "3x4 and 5x2"],
    [() => F.linear(o(3, 4), o(2, 5)), matrices, "3x4 and 5x2"],
    [() => F.linear(o(4), o(2, 5)), matrices, "1x4 and 5x2"],
    [() => nn.Linear(5, 2)(o(2, 3, 4)), matrices, "6x4 and 5x2"],
    [() => nn.Sequential(nn.Linear(4, 5), nn.Linear(4, 2))(o(3, 4)), matrices, "3x5 and 4x2"],
    [() => torch.bmm(o(2, 3, 4), o(2, 5, 2)), stacks, "[2, 4] but got: [2, 5]"],
    [() => torch.bmm(o(2, 3, 4), o(3, 4, 2)), stacks, "[2, 4] but got: [3, 4]"],
    [() => torch.matmul(o(2, 3, 4), o(2, 5, 2)), stacks, "[2, 4] but got: [2, 5]"],
    [() => torch.baddbmm(o(2, 3, 2), o(2, 3, 4), o(2, 5, 2)), stacks, "[2, 4] but got: [2, 5]"],
  ])
    assert.equal((await ended(call)).message?.match(pattern)?.[1], shapes, String(call));
  for (const call of [() => torch.cdist(o(3, 4), o(2, 5)), () => F.conv1d(o(1, 2, 5), o(1, 3, 2))])
    assert.doesNotMatch((await ended(call)).message, matrices);
});

test("modules refuse numbers that each of their calls would refuse", async () => {
  const dropouts = Object.keys(nn).filter((name) => /Dropout(\dd)?$/.test(name));
  assert.ok(dropouts.length >= 6, dropouts.join(" "));
  for (const name of dropouts)
    for (const p of [2, -0.5])
      assert.match(
        (await ended(() => nn[name](p))).message,
        /dropout probability has to be between 0 and 1, but got/,
        name,
      );
  for (const name of dropouts) assert.equal(nn[name](1).p, 1);
  assert.match((await ended(() => nn.Hardtanh(1, -1))).message, /Hardtanh: min_val cannot be greater than max_val/);
  assert.match(
    (await ended(() => nn.TripletMarginLoss({ margin: -1 }))).message,
    /margin must be greater than 0, got -1/,
  );
  assert.match((await ended(() => nn.HuberLoss({ delta: 0 }))).message, /non-positive values for delta, got 0/);
});

test("options that are nearly right are told what was meant", async () => {
  const x = torch.ones([1, 1, 3, 3]),
    w = [torch.ones([1], { requires_grad: true })];
  for (const [call, meant] of [
    [() => F.conv2d(x, x, null, { strides_of: 1 }), "stride"],
    [() => nn.Conv2d(1, 1, { kernal: 3 }), "kernel_size"],
    [() => nn.Conv2d(1, 1, 3, { dilatation: 3 }), "dilation"],
    [() => torch.optim.Adam(w, { learning_rate: 1 }), "lr"],
    [() => torch.optim.Adam(w, { weightdecay_rate: 1 }), "weight_decay"],
    [() => nn.Linear(2, 2, { use_bias: false }), "bias"],
    [() => nn.BatchNorm2d(2, { epsilon: 1 }), "eps"],
    [() => nn.LSTM(1, 1, { layers: 2 }), "num_layers"],
    [() => nn.LSTM(1, 1, { bidirectionnal: true }), "bidirectional"],
    [() => torch.softmax(x, { dimension: 0 }), "dim"],
    [() => torch.sum(x, { keep_dimension: true }), "keepdim"],
    [() => torch.autocast("cpu", () => 1, { enable: true }), "enabled"],
    [() => torch.zeros([1], { requiregrad: true }), "requires_grad"],
  ])
    assert.match((await ended(call)).message, new RegExp(`; did you mean '${meant}'\\?$`), String(call));
  for (const call of [
    () => torch.sum(x, { colour: 1 }),
    () => nn.Linear(2, 2, { x: 1 }),
    () => torch.optim.Adam(w, { foo: 1 }),
  ])
    assert.doesNotMatch((await ended(call)).message, /did you mean/);
});

test("a class without a name is called by the one that it extends", async () => {
  const named = [nn.Sequential, nn.ModuleList, nn.ParameterDict, nn.Module].map((of) => [
    of.name,
    new (class extends of {})(),
  ]);
  for (const [name, module] of named) {
    assert.match(String(module), new RegExp(`^${name}\\(`));
    assert.match((await ended(() => module.get_submodule("no"))).message, new RegExp(`^${name} has no attribute`));
    assert.match(
      (await ended(() => module.load_state_dict({ no: torch.ones([1]) }))).message,
      new RegExp(`loading state_dict for ${name}:`),
    );
  }
  const { Dataset, DataLoader } = torch.utils.data,
    { Distribution, Normal } = torch.distributions,
    { Optimizer, lr_scheduler } = torch.optim,
    optimizer = new (class extends Optimizer {})([torch.ones([1], { requires_grad: true })], {}),
    scheduler = new (class extends class extends lr_scheduler.LRScheduler {} {
      get_lr() {
        return [0.1];
      }
    })(torch.optim.SGD(optimizer.param_groups[0].params, { lr: 1 }));
  for (const [call, name] of [
    [() => optimizer.step(), "Optimizer"],
    [() => scheduler.load_state_dict({ ...scheduler.state_dict(), base_lrs: 3 }), "LRScheduler"],
    [() => DataLoader(new (class extends Dataset {})()), "Dataset"],
    [() => new (class extends Distribution {})().rsample(), "Distribution"],
    [
      () => torch.distributions.kl_divergence(new (class extends Normal {})(0, 1), torch.distributions.Poisson(1)),
      "Normal",
    ],
  ])
    assert.match((await ended(call)).message, new RegExp(`\\b${name}\\b`), String(call));
});
