// Gradients through views, broadcasting, reuse, in-place changes; gradients of gradients.
const leaf = (t, data) => t.tensor(data, { requires_grad: true });

export default {
  "a gradient that is a part of another": async (t) => {
    const x = t.tensor([1, 2, 3, 4, 5], { dtype: "float32", requires_grad: true });
    const parts = t.torch.split(x, [1, 3, 1]).map((part) => part.mul(10));
    t.torch.cat(parts).backward(t.tensor([1, 2, 3, 4, 5], { dtype: "float32" }));
    t.equal(await x.grad.tolist(), [10, 20, 30, 40, 50]);
  },
  "a broadcast operand gets a gradient of its own shape": async (t) => {
    const x = leaf(t, [
        [1, 2],
        [3, 4],
      ]),
      b = leaf(t, [10, 20]);
    x.mul(b).sum().backward();
    t.equal(await b.grad.tolist(), [4, 6]);
    t.equal(await x.grad.tolist(), [
      [10, 20],
      [10, 20],
    ]);
  },
  "gradients add up over calls and uses": async (t) => {
    const x = leaf(t, [3]);
    x.mul(x).backward();
    x.mul(2).backward();
    t.equal(await x.grad.tolist(), [8]);
  },
  "a shared subgraph is walked once": async (t) => {
    const x = leaf(t, [1]);
    let y = x;
    for (let i = 0; i < 40; i++) y = y.add(y);
    y.backward();
    t.equal(await x.grad.tolist(), [2 ** 40]);
  },
  "through views": async (t) => {
    const x = leaf(t, [
      [1, 2, 3],
      [4, 5, 6],
    ]);
    x.t()
      .index("1:")
      .mul(
        t.tensor([
          [1, 2],
          [3, 4],
        ]),
      )
      .sum()
      .backward();
    t.equal(await x.grad.tolist(), [
      [0, 1, 3],
      [0, 2, 4],
    ]);
  },
  "gradients of gradients": async (t) => {
    const x = leaf(t, [2]);
    const [first] = t.torch.autograd.grad(x.pow(3).sum(), [x], { create_graph: true });
    const [second] = t.torch.autograd.grad(first.sum(), [x], { create_graph: true });
    t.close(await first.tolist(), [12]);
    t.close(await second.tolist(), [12]);
  },
  "derivatives of third order and more": async (t) => {
    const { torch } = t,
      { functional: F } = torch.nn,
      w = torch.tensor(
        [
          [0.3, -0.7],
          [0.5, 0.2],
        ],
        { device: t.device },
      );
    /** The derivative of this order along x of f(x + s v) by s, from the tape. */
    const along = (f, x, order) => {
      let y = f(x);
      for (let k = 0; k < order; k++) {
        [y] = torch.autograd.grad(y.mul(k ? direction : 1).sum(), [x], { create_graph: true });
      }
      return y;
    };
    const values = [0.4, 0.9],
      direction = torch.tensor([0.6, -0.8], { device: t.device });
    const functions = {
      polynomial: (x) => x.pow(4),
      exp: (x) => x.exp(),
      log: (x) => x.log(),
      tanh: (x) => x.tanh(),
      sigmoid: (x) => x.sigmoid(),
      sin: (x) => x.sin(),
      quotient: (x) => torch.tensor(1, { device: t.device }).div(x.add(1)),
      gelu: (x) => F.gelu(x),
      softmax: (x) => F.softmax(x, 0).mul(direction),
      logsumexp: (x) => x.logsumexp(0),
      prod: (x) => x.prod(),
      var: (x) => x.var().mul(x.sum()),
      matmul: (x) => torch.matmul(w, x.exp()).pow(3),
      layer_norm: (x) => F.layer_norm(x.pow(2), [2]).mul(direction),
      mse_loss: (x) => F.mse_loss(x.exp(), direction),
      cross_entropy: (x) =>
        F.cross_entropy(x.mul(2).reshape([1, 2]), torch.tensor([1], { dtype: "int32", device: t.device })),
      conv1d: (x) => F.conv1d(x.pow(2).reshape([1, 1, 2]), w.reshape([2, 1, 2]), { padding: 1 }).pow(2),
    };
    // Bodies of steps, whose gradients run others.
    const definite = (x) => torch.diag(x.exp()).add(torch.outer(x, x));
    Object.assign(functions, {
      cholesky: (x) => torch.linalg.cholesky(definite(x)).pow(2),
      solve: (x) => torch.linalg.solve(definite(x), x.exp()),
      inv: (x) => torch.linalg.inv(definite(x)),
      det: (x) => torch.linalg.det(definite(x)),
      matrix_exp: (x) => torch.linalg.matrix_exp(definite(x)),
    });
    const h = 0.02;
    for (const [name, f] of Object.entries(functions)) {
      const at = (s) =>
        leaf(
          t,
          values.map((v, i) => v + s * [0.6, -0.8][i]),
        );
      const third = await along(f, at(0), 3).tolist();
      const [more, less] = [await along(f, at(h), 2).tolist(), await along(f, at(-h), 2).tolist()];
      const wanted = more.map((v, i) => (v - less[i]) / (2 * h));
      t.close(third, wanted, { rtol: 2e-2, atol: 2e-2 }, name);
    }
  },
  "derivatives of third order of what broadcasts are sums over all that was one element": async (t) => {
    const { torch } = t;
    for (const [name, f, ...shapes] of [
      ["mul", (x, y) => x.mul(y), [2, 1], [1, 3]],
      ["div", (x, y) => x.div(y), [3], [2, 3]],
      ["addcmul", (x, y, z) => x.addcmul(y, z), [2, 1], [3], [2, 3]],
    ]) {
      const answers = [];
      for (const wide of [false, true]) {
        // Beside views in which each element is repeated, which are other functions' business.
        const inputs = shapes.map((shape, i) =>
            torch
              .rand(shape, { device: t.device, generator: new torch.Generator().manual_seed(i) })
              .add(0.5)
              .requires_grad_(),
          ),
          slopes = (y) => torch.autograd.grad(y, inputs, { create_graph: true }),
          lengths = (xs) => xs.map((x) => x.square().sum()).reduce((a, b) => a.add(b)),
          y = f(...inputs.map((x) => (wide ? x.expand([2, 3]) : x)));
        answers.push(
          await torch.cat(slopes(lengths(slopes(lengths(slopes(lengths([y])))))).map((x) => x.flatten())).tolist(),
        );
      }
      const largest = Math.max(...answers[1].map(Math.abs));
      t.close(answers[0], answers[1], { rtol: 1e-3, atol: 1e-5 * largest }, name);
    }
    const a = t.tensor([1, 2, 3], { requires_grad: true }),
      b = t.tensor([-1.5, -1.25], { requires_grad: true }),
      w = t.tensor([1, 10, 100], { requires_grad: true }),
      c = t.tensor([1, 2, 3, 4, -0.5, -3]);
    const [first] = torch.autograd.grad(torch.kron(a, b).mul(c).sum(), a, { create_graph: true }),
      [second] = torch.autograd.grad(first.mul(w).sum(), b, { create_graph: true }),
      [third] = torch.autograd.grad(second.mul(t.tensor([1, 1000])).sum(), w);
    t.close(await third.tolist(), [2001, 4003, -3000.5]);
  },
  "second derivatives of long rows and of many points": async (t) => {
    const n = 1300,
      x = t.tensor(
        Array.from({ length: n }, (_, i) => (i % 7) / 7),
        { requires_grad: true },
      );
    const [slope] = t.torch.autograd.grad(x.sigmoid().sum(), [x], { create_graph: true });
    const [curve] = t.torch.autograd.grad(slope.sum(), [x]);
    const s = Array.from(await x.data(), (v) => 1 / (1 + Math.exp(-v)));
    t.close(
      await curve.tolist(),
      s.map((v) => v * (1 - v) * (1 - 2 * v)),
    );
    // logsumexp along 1300 elements: its Hessian times ones is 0, times the first axis' unit p[0] * (unit - p).
    const [p] = t.torch.autograd.grad(x.logsumexp(0), [x], { create_graph: true });
    const [column] = t.torch.autograd.grad(p.index(0), [x]);
    const total = s.reduce((sum, v) => sum + v / (1 - v), 0),
      q = s.map((v) => v / (1 - v) / total);
    t.close(
      await column.tolist(),
      q.map((v, i) => q[0] * ((i === 0 ? 1 : 0) - v)),
      { rtol: 1e-4, atol: 1e-9 },
    );
  },
  "gradients of gradients that are computed from the gradient": async (t) => {
    const x = leaf(t, [0.5, 2]);
    for (const [f, wanted] of [
      [(y) => y.log(), [-4, -0.25]],
      [(y) => y.sqrt(), [-0.7071068, -0.0883883]],
      [(y) => y.log10(), [-1.7371779, -0.1085736]],
    ]) {
      const [first] = t.torch.autograd.grad(f(x).sum(), [x], { create_graph: true });
      t.close(await t.torch.autograd.grad(first.sum(), [x])[0].tolist(), wanted, { rtol: 1e-4 });
    }
  },
  "what the gradient of an exponent weighs counts only where somebody asks": async (t) => {
    const x = leaf(t, [-0.5, 2]),
      w = leaf(t, [1, 1]);
    const [first] = t.torch.autograd.grad(x.pow(2), [x], { grad_outputs: w, create_graph: true });
    t.close(await t.torch.autograd.grad(first.sum(), [w])[0].tolist(), [-1, 4]);
  },
  "a view made before its base required a gradient can be a leaf of its own": async (t) => {
    const base = t.torch.tensor([1, 2, 3], { device: t.device }),
      view = base.view([3]),
      other = base.view([3]);
    base.requires_grad_();
    view.requires_grad_();
    t.equal([view.is_leaf, view.requires_grad, other.requires_grad], [true, true, true]);
    await view.mul(view).sum().backward();
    t.equal([await view.grad.tolist(), base.grad], [[2, 4, 6], null]);
    t.torch.no_grad(() => base.mul_(2)); // from now on it is a view of what its base has become
    t.equal(view.is_leaf, false);
    await view.mul(view).sum().backward();
    t.equal(await base.grad.tolist(), [4, 8, 12]);
  },
  "no_grad and detach record nothing": async (t) => {
    const x = leaf(t, [1]);
    t.equal(t.torch.no_grad(() => x.mul(2)).requires_grad, false);
    t.equal(x.mul(2).detach().requires_grad, false);
    t.equal(x.mul(2).requires_grad, true);
  },
  "a saved value that was changed in place is an error": async (t) => {
    const x = leaf(t, [1, 2]),
      y = x.exp();
    y.add_(1);
    await t.throws(() => y.sum().backward(), /in-?place|modified/i);
  },
  "backward twice needs retain_graph": async (t) => {
    const x = leaf(t, [1]),
      y = x.exp();
    y.backward();
    await t.throws(() => y.backward(), /second time/);
    for (const linear of [x.mul(3), t.torch.lerp(x, x, 0.25), x.div(2)]) {
      for (let n = 0; n < 2; n++) linear.backward(); // numbers are not freed
    }
  },
  "a gradient of 10,000 chained operations": async (t) => {
    const x = leaf(t, [1]);
    let y = x;
    for (let i = 0; i < 10000; i++) y = y.add(1);
    y.backward();
    t.equal(await x.grad.tolist(), [1]);
  },
  "a matrix product": async (t) => {
    const a = leaf(t, [
        [1, 2],
        [3, 4],
      ]),
      b = leaf(t, [
        [5, 6],
        [7, 8],
      ]);
    a.matmul(b).sum().backward();
    t.equal(await a.grad.tolist(), [
      [11, 15],
      [11, 15],
    ]);
    t.equal(await b.grad.tolist(), [
      [4, 4],
      [6, 6],
    ]);
  },
  "a convolution": async (t) => {
    const x = leaf(t, [[[1, 2, 3, 4]]]),
      w = leaf(t, [[[1, 10]]]);
    const y = t.torch.nn.functional.conv1d(x, w, null, { padding: 1 });
    t.equal(await y.tolist(), [[[10, 21, 32, 43, 4]]]);
    y.mul(t.tensor([1, 2, 3, 4, 5]))
      .sum()
      .backward();
    t.equal(await x.grad.tolist(), [[[12, 23, 34, 45]]]);
    t.equal(await w.grad.tolist(), [[[40, 30]]]);
  },
  "hooks see and replace gradients": async (t) => {
    const x = leaf(t, [1]),
      y = x.mul(3);
    y.register_hook((g) => g.mul(10));
    y.backward();
    t.equal(await x.grad.tolist(), [30]);
  },
  "edges of the graph, and hooks that are refused": async (t) => {
    const { graph } = t.torch.autograd,
      x = t.tensor([1, 2]).requires_grad_(true),
      y = x.mul(3);
    const edge = graph.get_gradient_edge(y),
      leaf = graph.get_gradient_edge({ tensor: x });
    t.equal([edge.node === y.grad_fn, edge.output_nr, edge instanceof graph.GradientEdge], [true, 0, true]);
    t.equal([leaf.node === y.grad_fn.next_functions[0][0], leaf.node instanceof graph.Node], [true, true]);
    await t.throws(() => graph.get_gradient_edge(t.tensor([1])), /does not require gradients/);
    const out = x.mul(x).sum();
    graph.increment_version(x);
    await t.throws(() => out.backward(), /modified by an inplace operation/);
    const pass = (v) => v,
      refused = () => graph.saved_tensors_hooks(pass, pass, () => 1);
    await t.throws(() => graph.disable_saved_tensors_hooks("no hooks here", refused), /^no hooks here$/);
    t.equal([refused(), graph.disable_saved_tensors_hooks("no", () => 2)], [1, 2]);
  },

  "what no part of a program makes counts as zeros, whatever lay in memory": async (t) => {
    // By running statistics nothing reaches the batch's, of which the second derivative has a part.
    const { torch } = t,
      F = torch.nn.functional,
      rows = (...numbers) => t.tensor(numbers),
      [mean, variance, weight, bias] = [rows(3, 2, -0.5), rows(0.75, 0.5, 0.75), rows(-1, 0.5, 1.25), rows(1, 2, 3)],
      values = [0.5, -0.75, -2, 1, 3, 0.25, -1.75, 1, 2.5, -1, 0.5, 2];
    const twice = (f) => {
      const x = t.tensor(values, { shape: [2, 3, 2], requires_grad: true }),
        [g] = torch.autograd.grad(f(x).square().sum(), [x], { create_graph: true });
      return torch.autograd.grad(g.mul(g).sum(), [x])[0];
    };
    const across = (x) => x.reshape([1, 3, 1]),
      scale = across(weight.div(variance.add(1e-5).sqrt())),
      wanted = await twice((x) => x.sub(across(mean)).mul(scale).add(across(bias))).tolist();
    for (let n = 0; n < 6; n++) {
      // Memory that is given back holds what it held.
      for (let k = 1; k < 40; k++) torch.full([k], 1e30, { device: t.device }).dispose();
      const batch = { weight, bias, training: false },
        instance = { running_mean: mean, running_var: variance, weight, bias, use_input_stats: false };
      t.close(await twice((x) => F.batch_norm(x, mean, variance, batch)).tolist(), wanted, { rtol: 1e-4 });
      t.close(await twice((x) => F.instance_norm(x, instance)).tolist(), wanted, { rtol: 1e-4 });
    }
  },
  "a gradient that cannot be a tensor's is refused when it is assigned": async (t) => {
    const { torch } = t,
      make = () => t.tensor([[1, 2, 3]], { requires_grad: true }),
      x = make();
    for (const [grad, message] of [
      [
        t.tensor([[1, 2, 3]], { dtype: "uint8" }),
        /assign a gradient with dtype 'uint8' to a tensor with dtype 'float32'/,
      ],
      [t.tensor([[1, 2, 3]], { dtype: "int32" }), /assign a gradient with dtype 'int32'/],
      [
        torch.zeros([1, 3], { device: "meta" }),
        /assign a gradient with device type 'meta' to a tensor with device type/,
      ],
      [t.tensor([1, 2, 3]), /assign a gradient of size '\[3\]' to a tensor of size '\[1, 3\]'/],
      [t.tensor([[1]]), /assign a gradient of size/],
      [x, /can't assign Variable as its own grad/],
      [1, /assigned grad expected to be a Tensor or null but got grad of type number 1/],
      [[1, 2, 3], /expected to be a Tensor or null/],
      [undefined, /expected to be a Tensor or null/],
      [0, /expected to be a Tensor or null/],
    ])
      await t.throws(() => {
        x.grad = grad;
      }, message);
    t.equal(x.grad, null);
    x.grad = t.tensor([[4, 5, 6]]);
    x.sum().backward();
    t.equal(await x.grad.tolist(), [[5, 6, 7]]);
    x.grad = null;
    const whole = t.tensor([1, 2], { dtype: "int32" });
    whole.grad = t.tensor([3, 4], { dtype: "int32" });
    t.equal([await whole.grad.tolist(), x.grad], [[3, 4], null]);
    const result = make().mul(2);
    result.grad = t.tensor([[1, 1, 1]]);
    t.equal(await result.grad.tolist(), [[1, 1, 1]]);
  },
  "a leaf that was frozen after a call gets no gradient": async (t) => {
    for (const freeze of [(x) => x.requires_grad_(false), (x) => x.detach_().unsqueeze_(0)]) {
      const x = t.tensor([1, 2], { requires_grad: true }),
        w = t.tensor([3, 4], { requires_grad: true }),
        y = x.mul(2).add(w);
      freeze(x);
      y.sum().backward();
      t.equal([x.grad, await w.grad.tolist()], [null, [1, 1]]);
    }
  },
};
