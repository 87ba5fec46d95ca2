// What may be changed in place between a call and the way back, what is refused, and what comes of it.
const leaf = (t, data) => t.tensor(data, { requires_grad: true });

const F =
  (name, ...rest) =>
  (torch, ...tensors) =>
    torch.nn.functional[name](...tensors, ...rest);

/** What draws anew at each call, and what leaves the tape. */
const WITHOUT_SLOPE = /^(bernoulli|binomial|poisson|dropout|.*_dropout|random|detach|requires_grad)_$/;

export default {
  "an operation in place has the gradient of the one that is not": async (t) => {
    const { Tensor } = t.torch,
      compared = [];
    const call = async (method, ...rest) => {
      const x = leaf(t, [
          [0.3, 0.9],
          [0.6, 0.45],
        ]),
        y = x.clone();
      t.torch.manual_seed(0);
      try {
        y[method](...rest)
          .mul(
            t.tensor([
              [1, 2],
              [3, 4],
            ]),
          )
          .sum()
          .backward();
      } catch {
        return null;
      }
      return { value: await y.tolist(), slope: await x.grad?.tolist() };
    };
    for (const name of Object.getOwnPropertyNames(Tensor.prototype).filter(
      (name) => /[a-z]_$/.test(name) && name.slice(0, -1) in Tensor.prototype && !WITHOUT_SLOPE.test(name),
    )) {
      for (const rest of [
        [],
        [0.7],
        [0],
        [
          t.tensor([
            [0.4, 1.5],
            [0.8, 0.2],
          ]),
        ],
      ]) {
        const there = await call(name, ...rest),
          beside = await call(name.slice(0, -1), ...rest);
        if (!there?.slope || !beside?.slope) continue;
        t.equal([name, there.slope], [name, beside.slope]);
        compared.push(name);
        break;
      }
    }
    t.equal([compared.length > 80, compared.includes("exp_"), compared.includes("cumprod_")], [true, true, true]);
  },
  "a part of a tensor without a gradient takes one in": async (t) => {
    const p = leaf(t, [1, 2, 3]),
      z = t.torch.zeros([2, 3], { device: t.device });
    z.index(0).add_(p);
    z.index(1).copy_(p.mul(2));
    z.mul(
      t.tensor([
        [1, 2, 3],
        [4, 5, 6],
      ]),
    )
      .sum()
      .backward();
    t.equal(await p.grad.tolist(), [9, 12, 15]);
  },
  "integers that gradients are copied into need none": async (t) => {
    const x = leaf(t, [1.5, 2.5]),
      n = t.torch.zeros([2], { dtype: "int32", device: t.device });
    t.equal([n.copy_(x).requires_grad, await n.tolist()], [false, [1, 2]]);
    t.equal(t.torch.zeros([2], { device: t.device }).copy_(x).requires_grad, true);
  },
  "gradients that a caller gives stay as they are": async (t) => {
    const x = leaf(t, [
        [1, 2],
        [3, 4],
      ]),
      own = t.tensor([
        [1, 1],
        [2, 2],
      ]),
      fixed = t.tensor([
        [5, 5],
        [5, 5],
      ]);
    for (const look of [
      (y) => y.view(2, 2),
      (y) => y.squeeze(0),
      (y) => y.t().t(),
      (y) => t.torch.cat([y, y], 0).narrow(0, 0, 2),
    ]) {
      look(x).backward(own);
      x.mul(7).sum().backward();
      t.equal(await own.tolist(), [
        [1, 1],
        [2, 2],
      ]);
      x.grad = null;
    }
    class Constant extends t.torch.autograd.Function {
      static forward(ctx, y) {
        return y.mul(5);
      }
      static backward() {
        return fixed;
      }
    }
    for (let n = 0; n < 2; n++) Constant.apply(x).sum().backward();
    t.equal(
      [await x.grad.tolist(), await fixed.tolist()],
      [
        [
          [10, 10],
          [10, 10],
        ],
        [
          [5, 5],
          [5, 5],
        ],
      ],
    );
  },
  "gradients of changes in place do not depend on how a view lies": async (t) => {
    const { prototype } = t.torch.Tensor,
      names = Object.getOwnPropertyNames(prototype).filter(
        (name) => /[a-z0-9]_$/.test(name) && prototype[name.slice(0, -1)],
      );
    const weights = t.tensor([[0.3], [0.7], [0.45]]),
      views = [(x) => x.index(":", "1:2"), (x) => x.index("1:", "::2"), (x) => x.t()];
    let tried = 0;
    for (const [n, name] of names.entries()) {
      // A software GPU compiles each anew for seconds: there one view of each.
      for (const view of t.device === "webgpu" ? [views[n % views.length]] : views) {
        for (const arity of [0, 1]) {
          const run = async (plain) => {
            t.torch.manual_seed(1);
            const x = leaf(t, [
                [0.11, 0.52, 0.93],
                [0.24, 0.65, 0.36],
                [0.77, 0.48, 0.19],
              ]),
              y = leaf(t, [[0.3], [0.7], [0.45]]),
              seen = view(x.mul(0.9));
            const rows = seen.shape[0],
              own = arity ? [y.narrow(0, 0, rows)] : [],
              out = plain ? seen[name.slice(0, -1)](...own) : seen[name](...own);
            const grads = t.torch.autograd.grad(out.mul(weights.narrow(0, 0, rows)).sum(), [x, y], {
              materialize_grads: true,
            });
            return Promise.all(grads.map((g) => g.tolist()));
          };
          const [wanted, got] = [await run(true).catch(() => null), await run(false).catch(() => null)];
          if (!wanted || !got) continue;
          t.close(got, wanted, { rtol: 1e-5 });
          tried++;
        }
      }
    }
    t.equal(tried > (t.device === "webgpu" ? 50 : 150), true);
  },
  "views are not detached in place, copies are": async (t) => {
    const x = leaf(t, [
        [1, 2],
        [3, 4],
      ]),
      copy = x.t().reshape(4);
    t.equal([copy.detach_().requires_grad, x.repeat(2, 1).detach_().requires_grad], [false, false]);
    t.equal([x.roll(1).detach_().requires_grad, t.torch.kron(x, x).detach_().requires_grad], [false, false]);
    t.equal([leaf(t, [1, 2]).detach_().requires_grad, x.requires_grad], [false, true]);
    for (const view of [x.view(4), x.detach().clone().view(4)])
      await t.throws(() => view.detach_(), /Can't detach views in-place/);
  },
  "a view that requires a gradient is not changed once detach_() made its base a leaf": async (t) => {
    const x = leaf(t, [1, 2, 3]),
      view = x.view(3, 1),
      y = x.mul(2),
      part = y.narrow(0, 0, 2);
    x.detach_();
    y.detach_();
    for (const late of [view, part]) {
      t.equal(late.requires_grad, true);
      await t.throws(() => late.add_(1), /a view of a leaf Variable that requires grad is being used in an in-place/);
      t.torch.no_grad(() => late.mul_(2));
    }
    t.equal(await x.tolist(), [2, 4, 6]);
    x.view(3, 1).add_(1); // outside of the tape from the beginning
    t.equal(await x.tolist(), [3, 5, 7]);
  },
  "an assignment of no elements is recorded as any other": async (t) => {
    const on = { device: t.device };
    for (const at of [[false, "..."], ["0:0"], [t.tensor([], { dtype: "int32" })]]) {
      const x = t.tensor([1, 2, 3]),
        y = leaf(t, 5);
      x.set(at, y);
      t.equal([x.requires_grad, x._version], [true, 1]);
      x.sum().backward();
      t.equal([await y.grad.item(), await x.tolist()], [0, [1, 2, 3]]);
      await t.throws(
        () => t.torch.ones([3], { ...on, requires_grad: true }).set(at, 1),
        /leaf Variable that requires grad/,
      );
    }
    const same = t.tensor([1, 2, 3]).set([false], leaf(t, 5)); // not even a change, as in PyTorch
    t.equal([same.requires_grad, same._version], [false, 0]);
  },
  "a view of what requires a gradient since requires one, too": async (t) => {
    const x = t.tensor([1, 2, 3]),
      view = x.view(3, 1),
      hidden = t.torch.no_grad(() => x.view(3, 1));
    x.requires_grad_();
    t.equal([view.requires_grad, hidden.requires_grad, x.detach().requires_grad], [true, false, false]);
    view.mul(2).sum().backward();
    t.equal(await x.grad.tolist(), [2, 2, 2]);
  },
  "diagonals are filled in place": async (t) => {
    const zeros = (...shape) => t.torch.zeros(shape, { device: t.device });
    t.equal(await zeros(2, 3).fill_diagonal_(5).tolist(), [
      [5, 0, 0],
      [0, 5, 0],
    ]);
    t.equal(await zeros(6, 2).fill_diagonal_(1, true).tolist(), [
      [1, 0],
      [0, 1],
      [0, 0],
      [1, 0],
      [0, 1],
      [0, 0],
    ]);
    t.equal(await zeros(2, 2, 2).fill_diagonal_(3).tolist(), [
      [
        [3, 0],
        [0, 0],
      ],
      [
        [0, 0],
        [0, 3],
      ],
    ]);
    t.equal(zeros(0, 2).fill_diagonal_(1).shape, [0, 2]);
    await t.throws(
      () => zeros(0, 2).requires_grad_().fill_diagonal_(1),
      /a view of a leaf Variable that requires grad/,
    );
    await t.throws(() => zeros(3).fill_diagonal_(1), /fill_diagonal_: dimensions must larger than 1, got 1/);
    await t.throws(() => zeros(2, 2, 3).fill_diagonal_(1), /must be of equal length, got \[2, 2, 3\]/);
    const x = leaf(t, [
      [1, 2],
      [3, 4],
    ]);
    x.mul(2).fill_diagonal_(0).sum().backward();
    t.equal(await x.grad.tolist(), [
      [0, 2],
      [2, 0],
    ]);
  },
  "the way back from several tensors": async (t) => {
    const { autograd } = t.torch,
      x = leaf(t, [1, 2]),
      a = x.mul(3),
      b = a.sum();
    autograd.backward([a, b], [t.tensor([1, 10]), null], { retain_graph: true });
    t.equal(await x.grad.tolist(), [6, 33]);
    x.grad = null;
    autograd.backward([b, x.sum()], { inputs: [x] });
    t.equal(await x.grad.tolist(), [4, 4]);
    await t.throws(() => autograd.backward([b], [null, null]), /backward: got 1 tensors and 2 gradients/);
    await t.throws(() => autograd.backward([3]), /backward: tensors must be tensors, got/);
    await t.throws(() => autograd.grad(b, ["x"]), /grad: inputs must be tensors, got/);
  },
  "a second derivative that is zero everywhere is zeros": async (t) => {
    const {
      autograd,
      nn: { functional: F },
    } = t.torch;
    for (const f of [
      (x) => x.relu(),
      (x) => x.abs(),
      (x) => F.max_pool1d(x.view([1, 1, 4]), 2),
      (x) => x.max(),
      (x) => x.clamp(-1, 1),
      (x) => F.leaky_relu(x),
      (x) => x.sort().values,
    ]) {
      const x = leaf(t, [1, -2, 0.5, 3]),
        [first] = autograd.grad(f(x).sum(), [x], { create_graph: true });
      if (first.requires_grad) t.equal(await autograd.grad(first.mul(first).sum(), [x])[0].tolist(), [0, 0, 0, 0]);
    }
    const x = leaf(t, [1, -2]),
      [first] = autograd.grad(x.relu().sum(), [x], { create_graph: true });
    t.equal([first.requires_grad, await autograd.grad(first.sum(), [x])[0].tolist()], [true, [0, 0]]);
  },
  "functions of torch.nn.functional that take `inplace`": async (t) => {
    const F = t.torch.nn.functional;
    const names =
      "alpha_dropout celu dropout dropout1d dropout2d dropout3d elu feature_alpha_dropout hardsigmoid hardswish hardtanh " +
      "leaky_relu mish relu relu6 rrelu selu silu threshold";
    const others = {
      threshold: [0.1, 20],
      rrelu: [0.1, 0.3, false],
      celu: [1],
      elu: [1],
      hardtanh: [-1, 1],
      leaky_relu: [0.01],
    };
    for (const name of names.split(" ")) {
      const rest = others[name] ?? (name.includes("dropout") ? [0.5, false] : []),
        shape = { dropout3d: [2, 1, 1, 3], dropout1d: [2, 3] }[name] ?? [1, 2, 3],
        make = () => t.tensor([-4, -0.5, 0, 0.25, 2, 9]).reshape(shape),
        plain = await F[name](make(), ...rest).tolist();
      for (const call of [(x) => F[name](x, ...rest, true), (x) => F[name](x, ...rest, { inplace: true })]) {
        const x = make(),
          leaf = make().requires_grad_(),
          out = call(x);
        t.equal([name, out === x, await x.tolist()], [name, true, plain]);
        // Dropout that is off writes nothing.
        if (name.includes("dropout")) t.equal([name, call(leaf) === leaf], [name, true]);
        else await t.throws(() => call(leaf), /a leaf Variable that requires grad/);
        call(leaf.mul(1)).sum().backward();
        const given = leaf.grad;
        leaf.grad = null;
        F[name](leaf, ...rest)
          .sum()
          .backward();
        t.close(await given.tolist(), await leaf.grad.tolist());
      }
      const x = make();
      const same = F[name](x, ...rest, { inplace: false }) === x;
      t.equal([name, same, await x.tolist()], [name, name.includes("dropout"), await make().tolist()]);
    }
    await t.throws(
      () => F.relu(t.tensor([1]), { inplace: 1 }),
      /argument 'inplace' must be true or false, got number 1/,
    );
    await t.throws(() => t.torch.relu(t.tensor([1]), { inplace: true }), /unexpected keyword argument 'inplace'/);
  },
  "what logdet answered may change before the way back, and x[false] = y changes nothing": async (t) => {
    const a = leaf(t, [
        [3, 1],
        [1, 2],
      ]),
      b = leaf(t, [
        [0, 1],
        [1, 0],
      ]), // whose determinant is negative
      x = leaf(t, [1, 2]),
      y = x.mul(3),
      squared = y.mul(y);
    const determinant = t.torch.logdet(a),
      none = t.torch.logdet(b);
    for (const out of [determinant, none]) {
      out.mul_(2);
      out.backward();
    }
    t.close(await a.grad.tolist(), [
      [0.8, -0.4],
      [-0.4, 1.2],
    ]);
    t.equal(await b.grad.tolist(), [
      [0, 0],
      [0, 0],
    ]);
    y.set([false], t.tensor([[7, 8, 9]])); // not even the shape is looked at
    x.set([false], 1); // nor whether it is a leaf
    squared.sum().backward();
    t.equal(
      [await y.tolist(), await x.grad.tolist()],
      [
        [3, 6],
        [18, 36],
      ],
    );
  },
};
