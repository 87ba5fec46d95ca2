// What a derivative reads of a value that is changed in place before the way back.
const leaf = (t, data) => t.tensor(data, { requires_grad: true });

/** The gradients of `f` over [2, 3] tensors made from leaves, after `change` of what it took and answered. */
async function gradients(t, f, count, change) {
  const leaves = Array.from({ length: count }, (_, n) =>
      leaf(t, [
        [0.3, 0.9, 0.6 + n / 8],
        [0.45, 0.75, 0.55],
      ]),
    ),
    given = leaves.map((x) => x.mul(1.5));
  const out = f(t.torch, ...given);
  change(given, out);
  out.sum().backward();
  return Promise.all(leaves.map((x) => x.grad?.tolist() ?? null));
}

const F =
  (name, ...rest) =>
  (torch, ...tensors) =>
    torch.nn.functional[name](...tensors, ...rest);

// Of operations in a chain PyTorch keeps values in between, not what went in: changing that is right.
const CHAINS = {
  tanhshrink: [F("tanhshrink"), 1],
  l1_loss: [F("l1_loss"), 2],
  hinge_embedding_loss: [F("hinge_embedding_loss"), 2],
  pairwise_distance: [F("pairwise_distance"), 2],
  gaussian_nll_loss: [F("gaussian_nll_loss"), 3],
  margin_ranking_loss: [F("margin_ranking_loss"), 3],
  triplet_margin_loss: [F("triplet_margin_loss"), 3],
  trapezoid: [(torch, y, x) => torch.trapezoid(y, x), 2],
  cov: [(torch, x) => torch.cov(x), 1],
  cross_entropy: [
    (torch, x) => torch.nn.functional.cross_entropy(x, torch.tensor([0, 2], { dtype: torch.long, device: x.device })),
    1,
  ],
  inv: [(torch, x) => torch.linalg.inv(x.index(":", ":2")), 1],
  layer_norm: [F("layer_norm", [3]), 1],
  mse_loss: [F("mse_loss"), 2],
};

/** How many copies of what was changed there are. */
const aside = (t) =>
  t.torch
    .memory()
    [t.device].origins.filter(({ op }) => op === "kept for backward")
    .reduce((sum, { buffers }) => sum + buffers, 0);

export default {
  "what went into a chain of operations may be changed: gradients are those of the call": async (t) => {
    for (const [name, [f, count]] of Object.entries(CHAINS)) {
      const wanted = await gradients(t, f, count, () => {});
      for (let n = 0; n < count; n++)
        t.close(await gradients(t, f, count, (given) => given[n].mul_(0.5).add_(1)), wanted, { rtol: 1e-6 });
    }
  },
  "a result that no derivative reads may be changed": async (t) => {
    const functions = {
      div: [(torch, x, y) => x.div(y), 2],
      normalize: [F("normalize"), 1],
      softsign: [F("softsign"), 1],
      glu: [(torch, x) => torch.nn.functional.glu(x.view([3, 2])), 1],
      local_response_norm: [(torch, x) => torch.nn.functional.local_response_norm(x.view([1, 2, 3]), 2), 1],
      mul: [(torch, x, y) => x.mul(y), 2],
    };
    for (const [name, [f, count]] of Object.entries(functions)) {
      const wanted = await gradients(
        t,
        (...a) => f(...a).mul(0.5),
        count,
        () => {},
      );
      t.close(
        await gradients(t, f, count, (_, out) => {
          out.mul_(0.5);
        }),
        wanted,
        { rtol: 1e-6 },
      );
    }
  },
  "what a derivative reads may not be changed": async (t) => {
    for (const [f, count, change] of [
      [(torch, x, y) => x.mul(y), 2, ([x]) => x.add_(1)],
      [(torch, x) => x.exp(), 1, (_, y) => y.add_(1)],
      [(torch, x) => x.sigmoid(), 1, (_, y) => y.mul_(2)],
      [(torch, x) => x.log(), 1, ([x]) => x.add_(1)],
      [(torch, x, y) => x.div(y), 2, ([, y]) => y.add_(1)],
      [(torch, x) => x.softmax(1), 1, (_, y) => y.add_(1)],
      [(torch, x, y) => x.matmul(y.t()), 2, ([x]) => x.zero_()],
      [(torch, x, y) => x.add(torch.nn.functional.layer_norm(x, [3], y.index(0))), 2, ([, y]) => y.add_(1)],
    ])
      await t.throws(() => gradients(t, f, count, change), /modified by an inplace operation/);
  },
  "norms with running statistics twice before the way back": async (t) => {
    const { batch_norm, instance_norm } = t.torch.nn.functional;
    for (const [f, shape] of [
      [batch_norm, [4, 2]],
      [instance_norm, [2, 2, 3]],
    ]) {
      const data = Array.from({ length: shape.reduce((a, b) => a * b) }, (_, n) => ((n * 7) % 5) / 4);
      const run = async (running) => {
        const x = t.tensor(data, { shape, requires_grad: true }),
          [mean, variance] = running
            ? [t.torch.zeros([2], { device: t.device }), t.torch.ones([2], { device: t.device })]
            : [null, null];
        const first = f(x, mean, variance, null, null, true),
          second = f(first.mul(2), mean, variance, null, null, true);
        first.add(second).mul(t.tensor(data, { shape })).sum().backward();
        return x.grad.tolist();
      };
      t.close(await run(true), await run(false));
    }
    const x = leaf(t, [
        [1, 2],
        [3, 5],
      ]),
      mean = t.torch.zeros([2], { device: t.device }),
      variance = t.torch.ones([2], { device: t.device });
    const loss = batch_norm(x.mul(1), mean, variance, leaf(t, [1, 2])).sum(); // by the running statistics
    const other = batch_norm(x, mean, variance, null, null, true).sum();
    other.backward();
    await t.torch.autograd.grad(loss, [x])[0].tolist();
  },
  "what is set aside serves gradients of gradients, views and several calls": async (t) => {
    const x = leaf(t, [
        [1, -2, 3],
        [0.5, 2, -1],
      ]),
      y = x.mul(1),
      loss = t.torch.nn.functional.mse_loss(y.t(), t.torch.zeros([3, 2], { device: t.device }));
    const again = t.torch.nn.functional.mse_loss(y, t.torch.zeros([2, 3], { device: t.device }));
    y.index(0).zero_();
    const [first] = t.torch.autograd.grad(loss, [x], { create_graph: true });
    t.close(await first.tolist(), [
      [1 / 3, -2 / 3, 1],
      [0.5 / 3, 2 / 3, -1 / 3],
    ]);
    t.close(await t.torch.autograd.grad(first.pow(2).sum(), [x], { retain_graph: true })[0].tolist(), [
      [2 / 9, -4 / 9, 6 / 9],
      [1 / 9, 4 / 9, -2 / 9],
    ]);
    y.fill_(7);
    t.close(await t.torch.autograd.grad(again, [x])[0].tolist(), [
      [1 / 3, -2 / 3, 1],
      [0.5 / 3, 2 / 3, -1 / 3],
    ]);
  },
  "memory that was set aside goes back with the graph": async (t) => {
    const x = leaf(t, [1, 2, 3]),
      before = aside(t);
    const y = x.mul(2),
      loss = t.torch.nn.functional.mse_loss(y, t.torch.zeros([3], { device: t.device }));
    y.zero_();
    t.equal(aside(t), before + 1);
    y.fill_(1);
    t.equal(aside(t), before + 1);
    loss.backward();
    t.equal(aside(t), before);
  },
  "a factor that requires a gradient only after the product has one by the gradient": async (t) => {
    const w = leaf(t, [2, 3]),
      factor = t.tensor([5, 7]),
      loss = w.mul(factor).mul(w).sum();
    factor.requires_grad_();
    const [slope] = t.torch.autograd.grad(loss, [w], { create_graph: true });
    slope.sum().backward();
    t.equal(await w.grad.tolist(), [10, 14]);
    t.equal(await factor.grad.tolist(), [2, 3]);
  },
};
