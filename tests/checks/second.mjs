// Gradients of gradients of what models are made of: against differences in float64 on the CPU; elsewhere against the
// CPU's.

/** A row of numbers between 0.4 and 1.6 that are all different. */
const numbers = (shape, seed) => {
  const n = shape.reduce((a, b) => a * b, 1);
  return Array.from({ length: n }, (_, i) => 0.4 + 1.2 * ((seed + 0.7548776662466927 * (i + 1)) % 1));
};

/**
 * Each of two inputs, unless shapes are given; every result is squared, so that what only moves elements is tried, too.
 */
const CALLS = {
  arithmetic: (t, x, y) => x.add(y).mul(x).div(y).sub(x.pow(3)).add(t.rsub(x, y)),
  "scalars and powers": (t, x, y) => t.pow(2, x).add(y.pow(1.5)).add(x.pow(y)),
  "lerp, addcmul, addcdiv": (t, x, y) =>
    t
      .lerp(x, y, 0.3)
      .add(t.addcmul(x, x, y, { value: 2 }))
      .add(t.addcdiv(x, y, x)),
  choices: (t, x, y) =>
    t
      .maximum(x, y)
      .add(t.minimum(x.mul(2), y))
      .add(t.where(x.gt(y), x.mul(y), y))
      .add(x.clamp(0.5, 1.2).mul(y)),
  "exp, log, roots": (t, x, y) => x.exp().mul(y.log()).add(x.sqrt()).add(y.rsqrt()).add(x.reciprocal()).add(y.log10()),
  trigonometry: (t, x, y) => x.sin().mul(y.cos()).add(x.tanh()).add(x.abs()),
  activations: (t, x, y) =>
    [
      t.sigmoid(x),
      x.relu(),
      t.nn.functional.gelu(y),
      t.nn.functional.silu(x),
      t.nn.functional.softplus(y),
      t.nn.functional.elu(x.sub(1)),
      t.nn.functional.leaky_relu(y.sub(1)),
      t.nn.functional.hardtanh(x),
    ].reduce((a, b) => a.mul(b).add(b)),
  prelu: [(t, x, w) => t.nn.functional.prelu(x.sub(1), w), [2, 3], [3]],
  broadcasting: [(t, x, y) => x.mul(y).add(y.exp()), [2, 3], [3]],
  "broadcasting of quotients": [
    (t, x, y) => x.div(y).add(y.div(x)).add(t.xlogy(x, y)).add(t.logaddexp(y, x)),
    [2, 3],
    [3],
  ],
  sums: (t, x, y) => x.sum(0).mul(y.mean(0)).add(x.mul(y).sum()),
  "variances and norms": (t, x, y) =>
    x
      .var(1)
      .add(y.std(1))
      .add(t.linalg.vector_norm(x.mul(y), 2, 1)),
  "largest and smallest": (t, x, y) => x.mul(y).amax(1).add(x.max(1).values).add(y.min(1).values).add(x.logsumexp(1)),
  products: (t, x, y) =>
    x
      .prod(1)
      .add(t.cumprod(y, 1).sum(1))
      .add(t.cumsum(x.mul(y), 1).prod(1)),
  softmax: (t, x, y) => t.softmax(x.mul(y), 1).mul(t.log_softmax(y, 0)),
  normalize: (t, x, y) => t.nn.functional.normalize(x.mul(y), { dim: 1 }),
  "matrix products": [
    (t, x, y) =>
      x
        .matmul(y)
        .add(t.addmm(x.matmul(y), x, y))
        .mul(t.mv(x, y.select(1, 0)).sum()),
    [2, 3],
    [3, 2],
  ],
  bmm: [(t, x, y) => t.bmm(x, y), [2, 2, 3], [2, 3, 1]],
  linear: [(t, x, w) => t.nn.functional.linear(x, w, w.sum(1)), [2, 3], [2, 3]],
  conv1d: [(t, x, w) => t.nn.functional.conv1d(x, w, null, { padding: 1, stride: 2 }), [1, 2, 4], [1, 2, 3]],
  conv2d: [(t, x, w) => t.nn.functional.conv2d(x, w, w.sum([1, 2, 3]), { padding: 1 }), [1, 1, 3, 3], [1, 1, 2, 2]],
  conv_transpose2d: [
    (t, x, w) => t.nn.functional.conv_transpose2d(x, w, null, { stride: 2 }),
    [1, 1, 2, 2],
    [1, 1, 2, 2],
  ],
  pooling: [
    (t, x, y) =>
      t.nn.functional
        .max_pool2d(x, 2)
        .add(t.nn.functional.avg_pool2d(x.mul(y), 2))
        .add(t.nn.functional.adaptive_avg_pool2d(y, 2)),
    [1, 1, 4, 4],
    [1, 1, 4, 4],
  ],
  interpolate: [
    (t, x, y) => t.nn.functional.interpolate(x.mul(y), { scale_factor: 2, mode: "bilinear" }),
    [1, 1, 2, 2],
    [1, 1, 2, 2],
  ],
  pad: (t, x, y) => t.nn.functional.pad(x.mul(y), [1, 2]).add(1),
  pixel_shuffle: [(t, x, y) => t.nn.functional.pixel_shuffle(x.mul(y), 2), [1, 4, 1, 2], [1, 4, 1, 2]],
  layer_norm: [(t, x, w) => t.nn.functional.layer_norm(x, [3], w, w.mul(2)), [2, 3], [3]],
  group_norm: [(t, x, w) => t.nn.functional.group_norm(x, 2, w), [2, 4, 2], [4]],
  batch_norm: [(t, x, w) => t.nn.functional.batch_norm(x, null, null, w, w, true), [4, 2], [2]],
  attention: [(t, q, k) => t.nn.functional.scaled_dot_product_attention(q, k, k.mul(2)), [1, 3, 2], [1, 3, 2]],
  embedding: [
    (t, w, y) => t.nn.functional.embedding(t.tensor([0, 2, 0], { device: w.device, dtype: "int32" }), w).mul(y),
    [3, 2],
    [3, 2],
  ],
  "losses of classes": (t, x, y) => {
    const target = t.tensor([2, 0], { device: x.device, dtype: "int32" });
    return t.nn.functional.cross_entropy(x.mul(y), target).add(t.nn.functional.nll_loss(t.log_softmax(y, 1), target));
  },
  "losses of numbers": (t, x, y) =>
    [
      t.nn.functional.mse_loss(x, y),
      t.nn.functional.smooth_l1_loss(x, y.mul(2.7)),
      t.nn.functional.huber_loss(x, y),
      t.nn.functional.kl_div(x.log(), y),
      t.nn.functional.binary_cross_entropy_with_logits(x, y),
      t.nn.functional.l1_loss(x.mul(x), y.mul(2)),
    ].reduce((a, b) => a.add(b)),
  "losses of rows": (t, x, y) =>
    t.nn.functional
      .cosine_embedding_loss(x, y, t.tensor([1, -1], { device: x.device }))
      .add(t.nn.functional.triplet_margin_loss(x, y, x.mul(y))),
  cdist: (t, x, y) => t.cdist(x, y.mul(2)),
  "joining and cutting": (t, x, y) =>
    t
      .cat([x, y.mul(x)], 1)
      .chunk(2, 1)[0]
      .add(t.stack([x, y]).unbind(0)[1])
      .add(t.cat(x.split([1, 2], 1).reverse(), 1)),
  "other shapes": (t, x, y) =>
    x
      .t()
      .reshape(2, 3)
      .add(x.view(3, 2).transpose(0, 1))
      .add(y.unsqueeze(0).squeeze(0))
      .add(y.flatten().unflatten(0, [2, 3]).permute(0, 1)),
  "more of the same": (t, x, y) =>
    x
      .select(0, 1)
      .expand(2, 3)
      .mul(y.repeat(1, 1))
      .add(t.broadcast_tensors(x.select(1, 0).unsqueeze(1), y)[0])
      .add(t.meshgrid([x.select(1, 0), y.select(0, 0)], { indexing: "ij" })[1]),
  "turning and cutting off": (t, x, y) => x.roll(1, 1).mul(y.flip(0)).add(t.tril(x)).add(t.triu(y)),
  diff: (t, x, y) => t.diff(x.mul(y), { dim: 1 }),
  indexing: (t, x, y) =>
    x
      .index("1:", [0, 2])
      .mul(y.index(0, "1:"))
      .add(x.index(0, null, "::2")),
  "masked_fill, gather": (t, x, y) =>
    x
      .mul(y)
      .masked_fill(x.gt(1), 0)
      .add(
        t.gather(
          y,
          1,
          t.tensor(
            [
              [0, 2, 2],
              [1, 1, 0],
            ],
            { device: x.device, dtype: "int32" },
          ),
        ),
      ),
  "scatter_add, index_add": (t, x, y) => {
    const { device } = x;
    return t
      .scatter_add(
        x,
        1,
        t.tensor(
          [
            [0, 2, 2],
            [1, 1, 0],
          ],
          { device, dtype: "int32" },
        ),
        y,
      )
      .mul(t.index_add(x, 0, t.tensor([1, 1], { device, dtype: "int32" }), y));
  },
  scatter_reduce: (t, x, y) =>
    t
      .scatter_reduce(
        x,
        1,
        t.tensor(
          [
            [0, 2, 2],
            [1, 1, 0],
          ],
          { device: x.device, dtype: "int32" },
        ),
        y,
        "prod",
      )
      .add(
        t.scatter_reduce(
          y,
          1,
          t.tensor(
            [
              [0, 2, 2],
              [1, 1, 0],
            ],
            { device: x.device, dtype: "int32" },
          ),
          x,
          "mean",
        ),
      ),
  index_put: (t, x, y) =>
    x
      .mul(y)
      .index_put(
        [
          t.tensor([0, 1, 0], { device: x.device, dtype: "int32" }),
          t.tensor([1, 1, 1], { device: x.device, dtype: "int32" }),
        ],
        y.select(0, 0),
        true,
      ),
  "sort, topk": (t, x, y) =>
    t
      .sort(x.mul(y), 1)
      .values.mul(y)
      .narrow(1, 0, 2)
      .add(t.topk(y, 2, 1).values),
  "changes in place": (t, x, y) => {
    const z = x.mul(y);
    z.select(0, 0).mul_(y.select(0, 1));
    const w = z.exp().mul(y);
    w.select(1, 1).add_(x.select(1, 0));
    return w.mul_(x);
  },
};

// Where formulas change: first and second derivatives at these points, as PyTorch has them.
const nf =
  (name, ...rest) =>
  (t, x) =>
    t.nn.functional[name](x, ...rest);
const loss = (name, target, options) => (t, x) =>
  t.nn.functional[name](x, t.full_like(x, target), { reduction: "sum", ...options });
const JOINTS = {
  elu: [nf("elu", 2), [0, -1, 1], [2, 0.735758900642395, 1], [0, 0.735758900642395, 0]],
  celu: [nf("celu", 2), [0, -1, 1], [1, 0.6065306663513184, 1], [0, 0.3032653331756592, 0]],
  selu: [
    nf("selu"),
    [0, -1, 1],
    [1.7580993175506592, 0.6467686295509338, 1.0507010221481323],
    [0, 0.6467686295509338, 0],
  ],
  softplus: [nf("softplus"), [0, 1], [0.5, 0.7310585975646973], [0.25, 0.1966119259595871]],
  logsigmoid: [nf("logsigmoid"), [0, 1], [0.5, 0.2689414322376251], [-0.25, -0.1966119259595871]],
  mish: [nf("mish"), [0], [0.6000000238418579], [0.6399999856948853]],
  hinge_embedding_loss: [loss("hinge_embedding_loss", -1), [1, 0.5, 2], [-1, -1, 0], [0, 0, 0]],
  hardswish: [
    nf("hardswish"),
    [0, 3, -3, 1],
    [0.5, 1, 0, 0.8333333730697632],
    [0.3333333432674408, 0, 0, 0.3333333432674408],
  ],
  logaddexp: [(t, x) => t.logaddexp(x, t.zeros_like(x)), [0, 1], [0.5, 0.7310585975646973], [0.25, 0.1966119408607483]],
  smooth_l1_loss: [loss("smooth_l1_loss", 0), [0, 1, -1, 0.5, 2], [0, 1, -1, 0.5, 1], [1, 0, 0, 1, 0]],
  huber_loss: [loss("huber_loss", 0), [0, 1, -1, 0.5, 2], [0, 1, -1, 0.5, 1], [1, 0, 0, 1, 0]],
  soft_margin_loss: [loss("soft_margin_loss", 1), [0, 1], [-0.5, -0.2689414322376251], [0.25, 0.19661195576190948]],
  multilabel_soft_margin_loss: [
    loss("multilabel_soft_margin_loss", 1),
    [0, 1],
    [-0.25, -0.13447071611881256],
    [0.125, 0.09830596297979355],
  ],
  binary_cross_entropy_with_logits: [
    loss("binary_cross_entropy_with_logits", 0.25),
    [0, 1],
    [0.25, 0.481058597564697],
    [0.25, 0.1966119259595871],
  ],
};

// Far from zero, where exp overflows in float32: slopes on the left and on the right, and no curvature.
const far = [89, 104, 500, 1e38],
  both = (t, x) => t.stack([x, x], 1);
const FAR = {
  sigmoid: [nf("sigmoid"), 0, 0],
  silu: [nf("silu"), 0, 1],
  mish: [nf("mish"), 0, 1],
  softplus: [nf("softplus"), 0, 1],
  "softplus without a threshold": [nf("softplus", 1, 1e39), 0, 1],
  logsigmoid: [nf("logsigmoid"), 1, 0],
  glu: [(t, x) => t.nn.functional.glu(both(t, x), 1), 0, 1],
  gelu: [nf("gelu"), 0, 1],
  elu: [nf("elu"), 0, 1],
  logaddexp: [(t, x) => t.logaddexp(x, t.zeros_like(x)), 0, 1],
  logsumexp: [(t, x) => t.logsumexp(t.stack([x, t.zeros_like(x)], 1), 1), 0, 1],
  softmax: [(t, x) => t.softmax(t.stack([x, t.zeros_like(x)], 1), 1).select(1, 0), 0, 0],
  soft_margin_loss: [loss("soft_margin_loss", 1), -1, 0],
  binary_cross_entropy_with_logits: [loss("binary_cross_entropy_with_logits", 0.25), -0.25, 0.75],
  "a gate of gru": [(t, x) => gated(t, "GRUCell", 1, x), 0, 0],
  "a gate of lstm": [(t, x) => gated(t, "LSTMCell", 1, x), 0, 0],
};

/** A recurrent cell of a layer, of which gate `at` gets `x`. */
function gated(t, name, at, x) {
  const cell = new t.nn[name](1, 1, { device: x.device }),
    shut = { weight_hh: 0, bias_ih: 0, bias_hh: 0 },
    state = t.ones([x.numel(), 1], { device: x.device });
  t.no_grad(() => {
    for (const [key, value] of Object.entries(shut)) cell[key].fill_(value);
    cell.weight_ih.fill_(0).narrow(0, at, 1).fill_(1);
  });
  const out = cell.forward(x.unsqueeze(1), name === "LSTMCell" ? [state, state] : state);
  return Array.isArray(out) ? out[1] : out;
}

async function atJoints(t, [f, at, slopes, curvatures]) {
  const { autograd } = t.torch,
    x = t.tensor(at, { requires_grad: true }),
    [first] = autograd.grad(f(t.torch, x).sum(), [x], { create_graph: true });
  t.close([await first.tolist(), await autograd.grad(first.sum(), [x])[0].tolist()], [slopes, curvatures]);
}

const squared = (x) => x.mul(x);
const call = (entry) => (Array.isArray(entry) ? entry : [entry, [2, 3], [2, 3]]);

/** The gradients of a weighted sum of gradients. */
async function second(torch, entry, device, dtype) {
  const [body, ...shapes] = call(entry);
  const inputs = shapes.map((shape, i) =>
    torch
      .tensor(numbers(shape, 0.1 + 0.3 * i), { device, dtype })
      .reshape(shape)
      .requires_grad_(),
  );
  const first = torch.autograd.grad(squared(body(torch, ...inputs)).sum(), inputs, { create_graph: true });
  const weighed = first
    .map((g, i) => g.mul(torch.tensor(numbers(shapes[i], 0.5), { device, dtype }).reshape(shapes[i])).sum())
    .reduce((a, b) => a.add(b));
  return Promise.all(
    torch.autograd.grad(weighed, inputs, { materialize_grads: true }).map((g) => g.reshape(-1).tolist()),
  );
}

export default Object.fromEntries([
  ...Object.entries(FAR).map(([name, [f, left, right]]) => [
    `${name} far from zero`,
    (t) =>
      atJoints(t, [
        f,
        [...far.map((x) => -x), ...far],
        [...far.map(() => left), ...far.map(() => right)],
        Array(8).fill(0),
      ]),
  ]),
  ...Object.entries(JOINTS).map(([name, entry]) => [`${name} where its formula changes`, (t) => atJoints(t, entry)]),
  ...Object.entries(CALLS).map(([name, entry]) => [
    name,
    async (t) => {
      const { torch } = t;
      if (t.device === "cpu") {
        const [body, ...shapes] = call(entry);
        const inputs = shapes.map((shape, i) =>
          t
            .tensor(numbers(shape, 0.1 + 0.3 * i), { dtype: "float64" })
            .reshape(shape)
            .requires_grad_(),
        );
        t.equal(await torch.autograd.gradgradcheck((...args) => squared(body(torch, ...args)), inputs), true);
      } else
        t.close(await second(torch, entry, t.device, "float32"), await second(torch, entry, "cpu", "float64"), {
          rtol: 2e-3,
          atol: 2e-3,
        });
    },
  ]),
]);
