// A layout is no part of a value: what a tensor is made of (strides of 0, 1 or more, offsets, axes in any order)
// changes no result.  Rows are long enough, and divisible, for every way in which kernels read them.
const ROWS = 3,
  LENGTH = 64;

/** Tensors of one shape, [3, 64], laid out in all ways that views can make. */
function layouts(t) {
  const { torch, device } = t,
    numbers = (n) => torch.arange(n, { device }).mul(0.37).sin().add(1.5);
  const part = numbers(4 * ROWS * (LENGTH + 1));
  return {
    "one number": torch.tensor(0.75, { device }).expand(ROWS, LENGTH),
    "one row": numbers(LENGTH).expand(ROWS, LENGTH),
    "one column": numbers(ROWS).unsqueeze(1).expand(ROWS, LENGTH),
    transposed: numbers(ROWS * LENGTH)
      .reshape(LENGTH, ROWS)
      .t(),
    "from an odd place": part.as_strided([ROWS, LENGTH], [LENGTH, 1], 1),
    "rows of odd length": part.as_strided([ROWS, LENGTH], [LENGTH + 1, 1], 0),
    "every other": part.as_strided([ROWS, LENGTH], [2 * LENGTH, 2], 4),
    "overlapping windows of four": part.as_strided([ROWS, LENGTH], [4, 1], 4),
  };
}

const REDUCTIONS = [
  "sum",
  "mean",
  "prod",
  "var",
  "std",
  "amax",
  "amin",
  "norm",
  "logsumexp",
  "count_nonzero",
  "nansum",
  "argmax",
  "any",
  "median",
  "max",
  "var_mean",
];
const ALONG = ["softmax", "log_softmax", "cumsum", "cummax", "sort"];
const BY_ELEMENT = ["exp", "neg", "isnan"];
const WITH_ROW = ["add", "div", "gt"];
const AXES = { logsumexp: [0, 1], median: [0, 1] };

async function values(result) {
  const found = await result;
  return Promise.all(
    (typeof found[Symbol.iterator] === "function" && !found.tolist ? [...found] : [found]).map((x) => x.tolist()),
  );
}

/** Compares `call(x)` for each layout with the call of a plain copy. */
async function sameForAll(t, what, call) {
  for (const [name, x] of Object.entries(layouts(t))) {
    const plain = t.tensor((await x.tolist()).flat(), { shape: [ROWS, LENGTH] });
    try {
      t.close(await values(call(x)), await values(call(plain)), { rtol: 2e-5, atol: 2e-5 });
    } catch (error) {
      throw new Error(`${what} of ${name}: ${error.message.slice(0, 300)}`);
    }
  }
}

export default {
  reductions: async (t) => {
    for (const name of REDUCTIONS) {
      for (const dim of AXES[name] ?? [null, 0, 1])
        await sameForAll(t, `${name} along ${dim}`, (x) => (dim === null ? x[name]() : x[name](dim)));
    }
  },
  "what goes along an axis": async (t) => {
    for (const name of ALONG)
      for (const dim of [0, 1]) await sameForAll(t, `${name} along ${dim}`, (x) => x[name](dim));
  },
  "elements, alone and beside others": async (t) => {
    const row = t.torch.arange(LENGTH, { device: t.device }).cos(),
      column = t.torch.arange(ROWS, { device: t.device }).add(1).reshape(ROWS, 1);
    for (const name of BY_ELEMENT) await sameForAll(t, name, (x) => x[name]());
    for (const name of WITH_ROW) for (const other of [row, column]) await sameForAll(t, name, (x) => x[name](other));
  },
  "products and normalisation": async (t) => {
    const { functional: F } = t.torch.nn,
      weight = t.torch
        .arange(LENGTH * 8, { device: t.device })
        .sin()
        .reshape(8, LENGTH);
    await sameForAll(t, "matmul", (x) => x.matmul(weight.t()));
    await sameForAll(t, "layer_norm", (x) => F.layer_norm(x, [LENGTH]));
    await sameForAll(t, "normalize", (x) => F.normalize(x, { dim: 1 }));
    await sameForAll(t, "cross_entropy", (x) => F.cross_entropy(x, t.tensor([1, 2, 3], { dtype: t.torch.long })));
  },
  gradients: async (t) => {
    const calls = {
      sum: (x) => x.sum(1),
      prod: (x) => x.prod(1),
      var: (x) => x.var(1),
      softmax: (x) => x.softmax(1),
      mul: (x) => x.mul(x),
      amax: (x) => x.amax(1),
    };
    for (const [name, call] of Object.entries(calls)) {
      await sameForAll(t, `gradient of ${name}`, (x) => {
        const leaf = x.detach().requires_grad_(true),
          y = call(leaf);
        return t.torch.autograd.grad(y, leaf, { grad_outputs: y.detach().mul(0.5) })[0];
      });
    }
  },
  "without elements every layout is contiguous": (t) => {
    const x = t.torch.zeros([2, 0, 3], { device: t.device });
    t.equal([x.transpose(0, 2).is_contiguous(), x.is_contiguous()], [true, true]);
  },
  "one device after the other": async (t) => {
    const { torch } = t,
      values = [
        [1, -2],
        [3, 0.5],
      ],
      run = (device) => {
        const x = torch.tensor(values, { device }).requires_grad_(true),
          y = x.matmul(x).add(1).softmax(1);
        y.mul(x).sum().backward();
        return [x.device, y.device, x.grad.device, y, x.grad];
      };
    const [first, second, again] = [t.device, "cpu", t.device].map(run);
    t.equal(
      [first, second, again].map((all) => all.slice(0, 3)),
      [t.device, "cpu", t.device].map((name) => [name, name, name]),
    );
    for (const made of [second, again])
      for (const at of [3, 4]) t.close(await made[at].tolist(), await first[at].tolist(), { rtol: 1e-5, atol: 1e-6 });
  },
};
