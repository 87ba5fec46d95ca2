// torch.func and torch.autograd.functional, and the rules of the tape that PyTorch has for leaves and views.
const leaf = (t, data) => t.tensor(data, { requires_grad: true });

export default {
  "grad, grad_and_value, and grad of grad": async (t) => {
    const { func } = t.torch,
      cube = (x) => x.pow(3).sum(),
      x = t.tensor([1, 2]);
    t.close(await func.grad(cube)(x).tolist(), [3, 12]);
    t.equal(x.requires_grad, false);
    const [g, value] = func.grad_and_value((a, b) => a.mul(b).sum(), [0, 1])(x, t.tensor([5, 7]));
    t.equal([await g[0].tolist(), await g[1].tolist(), await value.item()], [[5, 7], [1, 2], 19]);
    t.equal(g[0].requires_grad, false);
    const second = func.grad((y) => func.grad(cube)(y).sum());
    t.close(await second(x).tolist(), [6, 12]);
    await t.throws(() => func.grad((y) => y.mul(2))(x), /scalar Tensor, got tensor with 1 dims/);
    t.equal(
      await func
        .grad(() => t.tensor(1))(x)
        .tolist(),
      [0, 0],
    );
  },
  "vjp and jvp": async (t) => {
    const { func } = t.torch,
      x = t.tensor([1, 2]),
      f = (y) => y.mul(y).mul(3);
    const [out, back] = func.vjp(f, x);
    t.equal(
      [await out.tolist(), await back(t.tensor([1, 10]))[0].tolist()],
      [
        [3, 12],
        [6, 120],
      ],
    );
    const [same, along] = func.jvp(f, [x], [t.tensor([1, 0.5])]);
    t.close(
      [await same.tolist(), await along.tolist()],
      [
        [3, 12],
        [6, 6],
      ],
    );
    const w = t.tensor([
      [1, 2],
      [3, 4],
    ]);
    t.close(await func.jvp((y) => w.matmul(y).exp(), [t.tensor([0, 0])], [t.tensor([1, 1])])[1].tolist(), [3, 7]);
    t.equal(await func.jvp((y) => y.add(1), [x], [t.tensor([4, 5])])[1].tolist(), [4, 5]);
  },
  "jacrev and hessian": async (t) => {
    const { func } = t.torch,
      x = t.tensor([1, 2]);
    t.close(
      await func
        .jacrev((y) => y.pow(2))(x)
        .tolist(),
      [
        [2, 0],
        [0, 4],
      ],
    );
    t.equal(func.jacrev((y) => t.torch.outer(y, y))(x).shape, [2, 2, 2]);
    t.close(
      await func
        .hessian((y) => y.pow(3).sum())(x)
        .tolist(),
      [
        [6, 0],
        [0, 12],
      ],
    );
  },
  vmap: async (t) => {
    const { func } = t.torch,
      a = t.tensor([
        [1, 2],
        [3, 4],
        [5, 6],
      ]),
      v = t.tensor([10, 1]);
    t.equal(
      await t.torch
        .vmap((row) => row.mul(v).sum())(a)
        .tolist(),
      [12, 34, 56],
    );
    t.equal(
      await func
        .vmap(
          (row, w) => row.mul(w),
          [1, null],
          1,
        )(a, t.tensor([1, 0, 2]))
        .tolist(),
      [
        [1, 2],
        [0, 0],
        [10, 12],
      ],
    );
    t.close(
      await func
        .vmap(func.grad((y) => y.pow(2).sum()))(a)
        .tolist(),
      [
        [2, 4],
        [6, 8],
        [10, 12],
      ],
    );
    await t.throws(() => func.vmap((x, y) => x.add(y))(a, v), /same size in the mapped dimension/);
  },
  "what a function answers beside its value tracks gradients where its value does": async (t) => {
    const { func } = t.torch,
      x = t.tensor([1, 2]),
      w = t.tensor([3, 4], { requires_grad: true }),
      named = { has_aux: true },
      made = {
        grad: (f, x) => func.grad((x) => [f(x).sum(), { y: f(x), list: [x.sin(), 7] }], named)(x)[1],
        grad_and_value: (f, x) =>
          func.grad_and_value((x) => [f(x).sum(), { y: f(x), list: [x.sin(), 7] }], named)(x)[1][1],
        vjp: (f, x) => func.vjp((x) => [f(x), { y: f(x), list: [x.sin(), 7] }], x, named)[2],
        jvp: (f, x) => func.jvp((x) => [f(x), { y: f(x), list: [x.sin(), 7] }], [x], [x], named)[2],
        jacrev: (f, x) => func.jacrev((x) => [f(x), { y: f(x), list: [x.sin(), 7] }], named)(x)[1],
        jacfwd: (f, x) => func.jacfwd((x) => [f(x), { y: f(x), list: [x.sin(), 7] }], named)(x)[1],
      };
    for (const [name, aux] of Object.entries(made)) {
      const plain = aux((x) => x.square(), x);
      t.equal([name, plain.y.requires_grad, plain.list[0].requires_grad, plain.list[1]], [name, false, false, 7]);
      t.close(await plain.y.tolist(), [1, 4]);
      const captured = aux((x) => x.mul(w), x);
      t.equal([name, captured.y.requires_grad], [name, true]);
      const within = func.grad((x) => aux((x) => x.pow(3), x).y.sum())(x);
      t.close([name, await within.tolist()], [name, [3, 12]]);
    }
  },
  "autograd.functional": async (t) => {
    const { functional } = t.torch.autograd,
      x = t.tensor([1, 2]),
      ones = t.tensor([1, 1]),
      cube = (y) => y.pow(3).sum();
    t.close(await functional.jacobian((y) => y.pow(2), x).tolist(), [
      [2, 0],
      [0, 4],
    ]);
    t.close(await functional.hessian(cube, x).tolist(), [
      [6, 0],
      [0, 12],
    ]);
    const [value, product] = functional.hvp(cube, x, ones);
    t.close([await value.item(), await product.tolist()], [9, [6, 12]]);
    t.close(await functional.vjp((y) => y.pow(2), x, ones)[1].tolist(), [2, 4]);
    t.close(await functional.jvp((y) => y.pow(2), x, ones)[1].tolist(), [2, 4]);
    const blocks = functional.hessian((a, b) => a.mul(b).sum(), [x, x]);
    t.close(await blocks[0][1].tolist(), [
      [1, 0],
      [0, 1],
    ]);
    await t.throws(() => functional.vjp((y) => y.mul(2), x), /v can only be None/);
  },
  "what a function captures has gradients through every derivative of it, as in PyTorch": async (t) => {
    const { func, autograd, no_grad } = t.torch,
      w = leaf(t, [1.5, 2]),
      [x, v] = [t.tensor([1, 2]), t.tensor([3, 4])],
      f = (y) => y.mul(w).pow(3).sum(), // gradient 3 w^3 x^2, second 6 w^3 x
      far = autograd.functional,
      recorded = { create_graph: true };
    const ways = {
      grad: [(y) => func.grad(f)(y), 2],
      grad_and_value: [(y) => func.grad_and_value(f)(y)[0], 2],
      "its value": [(y) => func.grad_and_value(f)(y)[1], 1],
      vjp: [(y) => func.vjp(f, y)[1](t.tensor(1))[0], 2],
      jacrev: [(y) => func.jacrev(f)(y), 2],
      jacfwd: [(y) => func.jacfwd(f)(y), 2],
      jvp: [(y) => func.jvp(f, [y], [v])[1], 3],
      linearize: [(y) => func.linearize(f, y)[1](v), 3],
      hessian: [(y) => func.hessian(f)(y), 4],
      vmap: [(y) => func.vmap(func.grad(f))(y.index(null)), 2],
      "grad of grad": [(y) => func.grad((z) => func.grad(f)(z).dot(v))(y), 5],
      "autograd.functional.jacobian": [(y) => far.jacobian(f, y, recorded), 2],
      "autograd.functional.hessian": [(y) => far.hessian(f, y, recorded), 4],
      "autograd.functional.vjp": [(y) => far.vjp(f, y, recorded)[1], 2],
      "autograd.functional.jvp": [(y) => far.jvp(f, y, v, recorded)[1], 3],
      "autograd.functional.hvp": [(y) => far.hvp(f, y, v, recorded)[1], 5],
      "autograd.functional.vhp": [(y) => far.vhp(f, y, v, true)[1], 5],
    };
    // Of the sum of each answer, by w: that of w^3 x^3, 3 w^3 x^2 (twice: times v), 6 w^3 x (twice: times v).
    const wanted = [null, [6.75, 96], [20.25, 144], [60.75, 576], [40.5, 144], [121.5, 576]];
    for (const [name, [way, which]] of Object.entries(ways)) {
      w.grad = null;
      way(x).sum().backward();
      t.close(await w.grad.tolist(), wanted[which], name);
      t.equal([x.requires_grad, x.grad], [false, null], name);
      t.equal(no_grad(() => way(x)).requires_grad, name.startsWith("autograd"), name);
    }
    t.equal(func.hessian((y) => y.mul(w.detach()).pow(3).sum())(x).requires_grad, false);
    for (const name of ["jacobian", "hessian"]) t.equal(far[name](f, w).requires_grad, false, name);
    for (const name of ["vjp", "jvp", "hvp", "vhp"])
      t.equal(
        far[name](f, w, name === "vjp" ? null : v).map((y) => y.requires_grad),
        [false, false],
        name,
      );
    const two = far.jacobian((y) => [y.sum(), y.mul(2)], x);
    t.equal(
      [await two[0].tolist(), await two[1].tolist()],
      [
        [1, 1],
        [
          [2, 0],
          [0, 2],
        ],
      ],
    );
    await t.throws(
      () => far.jacobian((y, z) => y.mul(2), [x, v], { strict: true, vectorize: true }),
      /jacobian: Output 0 of the user-provided function is independent of input 1/,
    );
  },
  "leaves and views that must not be changed in place": async (t) => {
    const { no_grad } = t.torch,
      x = leaf(t, [1, 2]),
      y = x.mul(2);
    await t.throws(() => x.add_(1), /a leaf Variable that requires grad is being used in an in-place operation/);
    await t.throws(() => x.view(2).mul_(2), /a view of a leaf Variable/);
    await t.throws(() => no_grad(() => x.view(2)).add_(1), /A view was created in no_grad mode/);
    await t.throws(() => y.unbind()[0].add_(1), /function that returns multiple views/);
    await t.throws(() => y.split(1)[1].zero_(), /function that returns multiple views/);
    no_grad(() => x.view(2).add_(1));
    t.equal(await x.tolist(), [2, 3]);
    t.equal(await y.detach().unbind()[0].add_(1).item(), 3);
    await t.throws(() => y.requires_grad_(false), /you can only change requires_grad flags of leaf variables/);
    await t.throws(() => y.index(0).detach_(), /Can't detach views in-place/);
    await t.throws(
      () => t.tensor([1], { dtype: "int32" }).requires_grad_(),
      /only Tensors of floating point and complex dtype can require gradients/,
    );
    await t.throws(() => t.tensor([1]).backward(), /does not require grad and does not have a grad_fn/);
    await t.throws(() => t.tensor([1]).register_hook(() => {}), /doesn't require gradient/);
  },
  "a view changed in place changes its base's gradient, and the other way round": async (t) => {
    const x = leaf(t, [1, 2, 3]),
      y = x.mul(2),
      v = y.index("1:");
    v.mul_(10);
    y.sum().backward({ retain_graph: true });
    t.equal(await x.grad.tolist(), [2, 20, 20]);
    y.mul_(3);
    x.grad = null;
    v.sum().backward();
    t.equal(await x.grad.tolist(), [0, 60, 60]);
  },
  "what is saved is compared by version": async (t) => {
    const x = leaf(t, [1, 2]),
      y = x.exp(),
      z = y.mul(y);
    y.detach().add_(1);
    await t.throws(() => z.sum().backward(), /modified by an inplace operation: .*version 1; expected version 0/);
    const a = leaf(t, [1, 2]),
      b = a.mul(3).add_(1); // add_ needs nothing saved
    b.sum().backward();
    t.equal(await a.grad.tolist(), [3, 3]);
  },
  "inputs of backward, retain_grad, and what is unused": async (t) => {
    const x = leaf(t, [1, 2]),
      y = x.mul(2),
      other = leaf(t, [1]);
    y.sum().backward({ inputs: [y], retain_graph: true });
    t.equal([await y.grad.tolist(), x.grad], [[1, 1], null]);
    await t.throws(() => y.sum().backward({ inputs: [] }), /`inputs` argument to `backward\(\)` cannot be empty/);
    await t.throws(
      () => t.torch.autograd.grad(y.sum(), [other]),
      /at index 0 appears to not have been used in the graph/,
    );
    const z = x.mul(3);
    z.retain_grad();
    z.mul(z).sum().backward();
    t.equal([z.is_leaf, x.is_leaf, await z.grad.tolist()], [false, true, [6, 12]]);
  },
  "hooks can be taken off, and the mode of recording is given back after an error": async (t) => {
    const { enable_grad, is_grad_enabled, no_grad, set_grad_enabled } = t.torch,
      x = leaf(t, [1]);
    let calls = 0;
    const handle = x.register_hook(() => {
      calls++;
    });
    x.mul(2).backward();
    handle.remove();
    x.mul(2).backward();
    t.equal(calls, 1);
    await t.throws(
      () =>
        no_grad(() => {
          throw new Error("mine");
        }),
      /mine/,
    );
    t.equal(is_grad_enabled(), true);
    t.equal(
      no_grad(() => enable_grad(() => x.mul(2).requires_grad)),
      true,
    );
    set_grad_enabled(false);
    t.equal(x.mul(2).requires_grad, false);
    set_grad_enabled(true);
  },
  "numbers with tangents": async (t) => {
    const { autograd, no_grad } = t.torch,
      { dual_level, enter_dual_level, exit_dual_level, make_dual, unpack_dual } = autograd.forward_ad,
      x = t.tensor([1, 2]),
      v = t.tensor([1, 0.5]);
    const last = await dual_level(async () => {
      const d = make_dual(x, v),
        y = d.mul(d).sin(),
        { primal, tangent } = unpack_dual(y);
      t.close(await primal.tolist(), [0.841471, -0.7568025]);
      t.close(await tangent.tolist(), [1.0806046, -1.3072872]);
      t.equal([primal.requires_grad, tangent.requires_grad], [false, false]);
      const [same, own] = unpack_dual(d);
      t.equal(
        [await same.tolist(), await own.tolist()],
        [
          [1, 2],
          [1, 0.5],
        ],
      );
      // Through reductions, products and two duals at once; what comes of none of them has no tangent.
      const two = make_dual(t.tensor([3, 4]), t.tensor([1, 1]));
      t.close(await unpack_dual(d.mul(two).sum()).tangent.item(), 3 + 2 + 1 + 2);
      t.equal([unpack_dual(x.mul(2)).tangent, unpack_dual(d.detach()).tangent], [null, null]);
      t.equal(await unpack_dual(d.mul(0).add(two)).tangent.tolist(), [1, 1]);
      // Without a graph there are tangents, too.
      t.equal(await no_grad(() => unpack_dual(d.mul(d))).tangent.tolist(), [2, 2]);
      t.equal(
        no_grad(() => t.torch.is_grad_enabled()),
        false,
      );
      // Derivatives of tangents, backwards.
      const w = leaf(t, [1, 2]),
        { tangent: slope } = unpack_dual(make_dual(w, v).pow(3).sum());
      t.close(await slope.item(), 9);
      t.close(await autograd.grad(slope, w)[0].tolist(), [6, 6]);
      await t.throws(() => enter_dual_level(), /Nested forward mode AD is not supported/);
      await t.throws(() => make_dual(x, t.tensor([1, 2, 3])), /Tensor is of size \[2\] while the given .* size \[3\]/);
      await t.throws(() => make_dual(x.long(), v), /Expected primal to be floating point or complex/);
      await t.throws(() => make_dual(1, v), /make_dual: argument 'tensor'/);
      return y;
    });
    t.equal(unpack_dual(last).tangent, null);
    await t.throws(() => make_dual(x, v), /no level exists, make sure to enter_dual_level\(\) first/);
    t.equal(enter_dual_level(), 0);
    t.equal(await unpack_dual(make_dual(x, v).mul(3)).tangent.tolist(), [3, 1.5]);
    exit_dual_level();
    await t.throws(() => exit_dual_level(), /Dual level must be a positive number/);
  },
};
