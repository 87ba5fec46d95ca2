// Slopes, first and second, where functions have kinks, end or are not finite: what PyTorch 2.13 answers.

import { I, numbers, slopes } from "./values.mjs";

export default {
  "slopes at zero": (c) => {
    const F =
        (n, ...more) =>
        (x, t) =>
          t.nn.functional[n](x, ...more),
      row = [
        [0, 0],
        [3, 4],
      ];
    return slopes(c, [
      ["normalize", F("normalize", 2, 1), row, [1e12, 1e12, 0.032, -0.024]],
      ["normalize by the 1-norm", F("normalize", 1, 1), row, [1e12, 1e12, 0, 0]],
      [
        "normalize by the 3-norm",
        (x, t) => t.nn.functional.normalize(x, 3, 1).narrow(0, 0, 1),
        row,
        [1e12, 1e12, 0, 0],
      ],
      ["the 3-norm", (x, t) => t.linalg.vector_norm(x, 3, 1).narrow(0, 0, 1), row, [0, 0, 0, 0]],
      ["norm", (x, t) => t.norm(x, 2, 1), row, [0, 0, 0.6, 0.8]],
      ["masked.norm", (x, t) => t.masked.norm(x, 2, 1), row, [0, 0, 0.6, 0.8]],
      ["masked.normalize", (x, t) => t.masked.normalize(x, 2, 1), row, [1e12, 1e12, 0.032, -0.024]],
      [
        "multi_margin_loss",
        (x, t) => t.nn.functional.multi_margin_loss(x, t.tensor([0], { dtype: "int32", device: x.device })),
        [[1, 0]],
        [0, 0],
      ],
      [
        "std",
        (x, t) => t.std(x, 1),
        [
          [2, 2],
          [1, 3],
        ],
        [0, 0, -0.70710678, 0.70710678],
      ],
      [
        "cosine_similarity",
        (x, t) => t.nn.functional.cosine_similarity(x, x.new_ones([2, 2]), 1),
        row,
        [7.0710678e7, 7.0710678e7, 0.022627417, -0.016970563],
      ],
      [
        "glu",
        (x, t) => t.nn.functional.glu(x),
        [
          [2, -200],
          [2, 200],
        ],
        [0, 0, 1, 0],
      ],
    ]);
  },
  "slopes at NaN": (c) =>
    slopes(c, [
      ["max of all", (x, t) => t.max(x), [NaN, 1, 2], [1, 0, 0]],
      ["min of all", (x, t) => t.min(x), [3, NaN, NaN, 1], [0, 0.5, 0.5, 0]],
      ["max of equal ones", (x, t) => t.max(x), [3, 1, 3], [0.5, 0, 0.5]],
      ["min of infinities", (x, t) => t.min(x), [Infinity, Infinity], [0.5, 0.5]],
      ["xlogy", (x, t) => t.xlogy(x, t.tensor([NaN, 0, -1, 1], { device: x.device })), [0, 0, 0, 0], [NaN, 0, 0, 0]],
      [
        "xlog1py",
        (x, t) => t.special.xlog1py(x, t.tensor([NaN, -1, -2, 0], { device: x.device })),
        [0, 0, 0, 0],
        [NaN, 0, 0, 0],
      ],
    ]),
  "slopes of logcumsumexp at infinities": (c) =>
    slopes(c, [
      ["behind", (x, t) => t.logcumsumexp(x, 0), [1, -Infinity], [2, 0]],
      ["in front", (x, t) => t.logcumsumexp(x, 0), [-Infinity, -Infinity, 0], [NaN, NaN, 1]],
      ["greatest", (x, t) => t.logcumsumexp(x, 0), [Infinity, 1], [NaN, 0]],
    ]),
  "second slopes at kinks and saturated ends are PyTorch's": async ({ torch, tensor, close }) => {
    const F = torch.nn.functional,
      like = (x, value) => torch.full_like(x, value),
      all = { reduction: "sum" };
    // Each: a function, where, its first and its second slope there.
    for (const [name, f, at, first, second] of [
      [
        "binary_cross_entropy_with_logits",
        (x) => F.binary_cross_entropy_with_logits(x, like(x, 0.3), all),
        [0, -0, 1, I, -I, 100],
        [0.2, 0.2, 0.43106, 0.7, -0.3, 0.7],
        [0.25, 0.25, 0.19661, 0, 0, 0],
      ],
      [
        "its pos_weight",
        (x) => F.binary_cross_entropy_with_logits(x, like(x, 0.3), { ...all, pos_weight: tensor([2]) }),
        [0, 1, I, -I],
        [0.05, 0.35038, 0.7, -0.6],
        [0.325, 0.2556, 0, 0],
      ],
      [
        "soft_margin_loss",
        (x) => F.soft_margin_loss(x, like(x, 1), all),
        [0, -0, 1],
        [-0.5, -0.5, -0.26894],
        [0.25, 0.25, 0.19661],
      ],
      [
        "multilabel_soft_margin_loss",
        (x) => F.multilabel_soft_margin_loss(x.unsqueeze(0), like(x, 0.5).unsqueeze(0), all),
        [0, -0],
        [0, 0],
        [0.125, 0.125],
      ],
      [
        "smooth_l1_loss",
        (x) => F.smooth_l1_loss(x, like(x, 0), all),
        [0, 0.5, 1, -1, 2, I, NaN],
        [0, 0.5, 1, -1, 1, 1, NaN],
        [1, 1, 0, 0, 0, 0, 1],
      ],
      [
        "smooth_l1_loss with beta 0",
        (x) => F.smooth_l1_loss(x, like(x, 0), { ...all, beta: 0 }),
        [0, 0.5, -1],
        [0, 1, -1],
        [0, 0, 0],
      ],
      [
        "huber_loss",
        (x) => F.huber_loss(x, like(x, 0), { ...all, delta: 0.5 }),
        [0, 0.5, -0.5, 1],
        [0, 0.5, -0.5, 0.5],
        [1, 0, 0, 0],
      ],
      ["elu", (x) => F.elu(x, 2), [0, -0, 1, -1], [2, 2, 1, 0.73576], [0, 0, 0, 0.73576]],
      ["selu", (x) => F.selu(x), [0, 1, -1], [1.7581, 1.0507, 0.64677], [0, 0, 0.64677]],
      ["celu", (x) => F.celu(x, 2), [0, 1, -1], [1, 1, 0.60653], [0, 0, 0.30327]],
      ["softplus", (x) => F.softplus(x), [0, -0, 1], [0.5, 0.5, 0.73106], [0.25, 0.25, 0.19661]],
      [
        "binary_cross_entropy",
        (x) => F.binary_cross_entropy(x, like(x, 0.5), all),
        [0.25, 0.5],
        [-1.33333, 0],
        [8.88889, 4],
      ],
    ]) {
      const x = tensor(at, { requires_grad: true }),
        [slope] = torch.autograd.grad(f(x).sum(), x, { create_graph: true });
      try {
        close(await numbers(slope), first, { rtol: 1e-4, atol: 1e-6 });
        close(await numbers(torch.autograd.grad(slope.sum(), x)[0]), second, { rtol: 1e-4, atol: 1e-6 });
      } catch (error) {
        throw new Error(`${name}: ${error.message}`);
      }
    }
    await slopes(
      { tensor, torch, close },
      [0, 0.5, 1].map((wanted) => [
        "binary_cross_entropy",
        (x) => F.binary_cross_entropy(x, like(x, wanted), all),
        [0, 1, 0.5],
        [-1e12 * wanted, 1e12 * (1 - wanted), 2 - 4 * wanted],
      ]),
    );
    const v = tensor([I, 1], { requires_grad: true }),
      x = tensor([2, 2], { requires_grad: true });
    F.gaussian_nll_loss(x, tensor([1, 1]), v, { reduction: "sum" }).backward();
    close(await numbers(x.grad), [0, 1]);
    const y = tensor([1, NaN, 3], { requires_grad: true });
    torch.linalg.vector_norm(y, I).backward();
    close(await numbers(y.grad), [0, 0, 0]);
  },
  "a query that sees no key has zeros, slopes of zero, and second ones": async ({ torch, tensor, close, equal }) => {
    const { functional: F, MultiheadAttention } = torch.nn,
      k = tensor([
        [0.5, 0.6],
        [0.7, -0.8],
      ]),
      v = tensor([
        [1, 2],
        [3, 5],
      ]),
      shown = tensor([[false], [true]], { dtype: torch.bool }),
      hidden = tensor([[-I, -I]]),
      zeros = [0, 0, 0, 0];
    for (const [mask, first, second] of [
      [
        tensor([
          [-I, -I],
          [0, 0.5],
        ]),
        [-0.19367978, 0.25823969, 0.45191956, -1.54943824],
        [0.01327809, 1.20490444, 0.02459118, 0.43966353],
      ],
      [
        shown.expand([2, 2]),
        [-0.23897694, 0.31863591, 0.55761284, -1.9118155],
        [-0.33844009, 2.31261563, 0.87430203, -2.19987774],
      ],
      [shown, [-0.23897694, 0.31863591, 0.55761284, -1.9118155], [-0.33844009, 2.31261563, 0.87430203, -2.19987774]],
      [hidden, zeros, zeros],
      [hidden.expand([2, 2]), zeros, zeros],
      [hidden.isfinite(), zeros, zeros],
    ])
      for (const heads of [false, true]) {
        const x = tensor(
          [
            [0.1, 0.2],
            [0.3, -0.4],
          ],
          { requires_grad: true },
        );
        const apart = (a) => (heads ? a.reshape([1, 1, ...a.shape]) : a),
          given = [x, x.add(k), v, mask].map(apart),
          out = F.scaled_dot_product_attention(...given, { enable_gqa: heads }),
          [slope] = torch.autograd.grad(out.sum(), x, { create_graph: true });
        equal((await numbers(out)).slice(0, 2), [0, 0]);
        close(await numbers(slope), first, { rtol: 1e-4, atol: 1e-6 });
        const [again] = torch.autograd.grad(slope.square().sum(), x);
        close(await numbers(again), second, { rtol: 1e-4, atol: 1e-5 });
      }
    // Scores may be so without a mask; where weights are asked for, the module's are no numbers, as in PyTorch.
    const far = tensor([
      [-I, 1],
      [0, 1],
    ]);
    equal((await numbers(F.scaled_dot_product_attention(far, v, v))).slice(0, 2), [0, 0]);
    const attention = MultiheadAttention(2, 1, { bias: false, device: v.device });
    for (const need_weights of [true, false]) {
      const [out] = attention(v, v, v, { attn_mask: hidden.expand([2, 2]), need_weights });
      equal(await numbers(out), need_weights ? [NaN, NaN, NaN, NaN] : zeros);
    }
    equal(await numbers(torch._safe_softmax(tensor([-I, -I, 0, -I]).reshape(2, 2), 1)), [0, 0, 1, 0]);
  },
  "a product with the Hessian has the same derivative by its vector at zero as elsewhere": async (t) => {
    const { torch, tensor, device, close, equal } = t;
    const F = torch.nn.functional,
      dtype = device === "cpu" ? "float64" : "float32";
    for (const [name, f] of Object.entries({
      div: (x) => torch.div(1, x),
      "div by a sum": (x) => x.div(x.sum()).square(),
      log: (x) => x.log(),
      pow: (x) => x.pow(2.5),
      "x ** x": (x) => x.pow(x),
      rsqrt: (x) => x.rsqrt(),
      logsumexp: (x) => x.square().logsumexp(0),
      softmax: (x) => x.softmax(0).square(),
      var: (x) => x.var().sqrt(),
      norm: (x) => x.norm().pow(3),
      atan2: (x) => torch.atan2(x, x.add(1)),
      lgamma: (x) => x.lgamma(),
      layer_norm: (x) => F.layer_norm(x, [3]).exp(),
      cross_entropy: (x) => F.cross_entropy(x.square().unsqueeze(0), torch.tensor([1], { device, dtype: "int64" })),
    })) {
      const slopes = async (weight) => {
        const x = tensor([0.3, 1.2, 2.6], { dtype, requires_grad: true }),
          v = torch.full([3], weight, { dtype, device, requires_grad: true }),
          of = (y, x, more = {}) => torch.autograd.grad(y, [x], more)[0];
        const first = of(f(x).sum(), x, { create_graph: true }),
          product = of(first, x, { grad_outputs: [v], create_graph: true });
        return of(product.mul(tensor([1, 2, 3], { dtype })).sum(), v).tolist();
      };
      const at = await slopes(0.5);
      equal([name, at.some((n) => Math.abs(n) > 1e-3)], [name, true]);
      close(await slopes(0), at, { rtol: 1e-4, atol: 1e-5 });
    }
  },
};
