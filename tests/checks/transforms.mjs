// torch.func on lists and objects of tensors, functions of modules, checkpoints, hooks on what the tape saves, `x.data`,
// torch.random.  The numbers and messages are PyTorch 2.13's.

async function read(value) {
  if (typeof value?.tolist === "function") return value.tolist();
  if (Array.isArray(value)) return Promise.all(value.map(read));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(await Promise.all(Object.entries(value).map(async ([k, v]) => [k, await read(v)])));
}
const same = (t, got, wanted) => t.equal(JSON.stringify(got), JSON.stringify(wanted));
const trees = (t) => ({
  x: { a: t.tensor([1, 2]), b: [t.tensor(3)] },
  f: (d) => d.a.pow(2).sum().mul(d.b[0]),
});

export default {
  "derivatives of what takes and answers objects": async (t) => {
    const { func } = t.torch,
      { x, f } = trees(t);
    same(t, await read(func.grad(f)(x)), { a: [6, 12], b: [5] });
    same(t, await read(func.grad((d) => [f(d), d.a.mul(10)], { has_aux: true })(x)), [
      { a: [6, 12], b: [5] },
      [10, 20],
    ]);
    same(t, await read(func.jacrev((d) => d.a.mul(d.b[0]))(x)), {
      a: [
        [3, 0],
        [0, 3],
      ],
      b: [[1, 2]],
    });
    same(t, await read(func.jacrev((a) => ({ u: a.mul(2), v: a.sum() }))(t.tensor([1, 2]))), {
      u: [
        [2, 0],
        [0, 2],
      ],
      v: [1, 1],
    });
    same(
      t,
      await read(
        func.jacfwd((a, b) => a.mul(b), { argnums: [0, 1], chunk_size: 2 })(t.tensor([1, 2]), t.tensor([3, 4])),
      ),
      [
        [
          [3, 0],
          [0, 4],
        ],
        [
          [1, 0],
          [0, 2],
        ],
      ],
    );
    const [out, back] = func.vjp((d) => [d.a.mul(2), d.b[0].pow(2)], x);
    same(t, await read([out, back([t.tensor([1, 1]), t.tensor(1)])]), [[[2, 4], 9], [{ a: [2, 2], b: [6] }]]);
    same(t, await read(func.jvp((d) => ({ o: d.a.mul(d.b[0]) }), [x], [{ a: t.tensor([1, 0]), b: [t.tensor(1)] }])), [
      { o: [3, 6] },
      { o: [4, 2] },
    ]);
    const [value, along] = func.linearize((a) => a.sin(), t.tensor([1, 2]));
    t.close(await read([value, along(t.tensor([1, 0])), along(t.tensor([0, 1]))]), [
      [0.841471, 0.9092974],
      [0.5403023, 0],
      [0, -0.4161468],
    ]);
    const cubes = (a) => a.pow(3).sum(),
      second = [
        [6, 0],
        [0, 12],
      ];
    t.close(await read(func.jacfwd(func.jacrev(cubes))(t.tensor([1, 2]))), second);
    same(t, await read(func.hessian((a, b) => a.mul(b).sum(), [0, 1])(t.tensor([1]), t.tensor([2]))), [
      [[[0]], [[1]]],
      [[[1]], [[0]]],
    ]);
    await t.throws(
      () => func.grad((d) => d.a.sum())({ a: 5 }),
      /grad: expected argument 0 to be a tensor, got number 5/,
    );
    await t.throws(() => back(t.tensor([1, 1])), /vjp: expected as many the cotangent as there are tensors, 2, got 1/);
    await t.throws(
      () => func.grad((a) => a.sum(), { has_aux: true })(t.tensor([1])),
      /has_aux the function must answer/,
    );
  },
  "vmap over objects, and a module's parameters as an argument": async (t) => {
    const { func, nn, ones } = t.torch;
    same(
      t,
      await read(
        func.vmap((d, s) => ({ y: d.x.mul(s) }), { in_dims: [{ x: 0 }, null] })(
          {
            x: t.tensor([
              [1, 2],
              [3, 4],
            ]),
          },
          t.tensor(2),
        ),
      ),
      {
        y: [
          [2, 4],
          [6, 8],
        ],
      },
    );
    same(
      t,
      await read(
        func.vmap(
          (a) => [a, a.sum()],
          1,
          [1, 0],
        )(
          t.tensor([
            [1, 2],
            [3, 4],
          ]),
        ),
      ),
      [
        [
          [1, 2],
          [3, 4],
        ],
        [4, 6],
      ],
    );
    const layer = nn.Linear(2, 1),
      state = { weight: t.tensor([[1, 2]]), bias: t.tensor([3]) },
      x = t.tensor([1, 1]);
    same(t, await read(func.functional_call(layer, state, x)), [6]);
    same(t, await read(func.functional_call(layer, [{ weight: state.weight }, { bias: state.bias }], [x])), [6]);
    same(t, layer.weight instanceof nn.Parameter, true);
    await t.throws(
      () => func.functional_call(layer, [state, { bias: state.bias }], [x]),
      /bias appears in multiple dictionaries/,
    );
    const gradient = func.grad((p) => func.functional_call(layer, p, [x]).sum())(state);
    same(t, await read(gradient), { weight: [[1, 1]], bias: [1] });
    await t.throws(
      () => func.functional_call(layer, { weightx: x }, [x], null, { strict: true }),
      /Error\(s\) in reparametrizing for Linear:\n\tUnexpected key\(s\): 'weightx'.\n\tMissing key\(s\): 'bias', 'weight'./,
    );
    await t.throws(() => func.functional_call(layer, { weight: t.tensor([[1, 2, 3]]) }, [x]), /linear/);
    same(t, layer.weight.shape, [1, 2]);
    const tied = nn.Sequential(nn.Linear(2, 2, { bias: false }), nn.Linear(2, 2, { bias: false }));
    tied[1].weight = tied[0].weight;
    const twice = t.tensor([
      [2, 0],
      [0, 2],
    ]);
    same(t, await read(func.functional_call(tied, { "0.weight": twice }, x)), [4, 4]);
    const models = [1, 2, 3].map(() => nn.Linear(2, 1).to(t.device)),
      [parameters, buffers] = func.stack_module_state(models);
    same(t, [parameters.weight.shape, parameters.weight.requires_grad, buffers], [[3, 1, 2], true, {}]);
    const both = func.vmap((p, b) => func.functional_call(models[0], p, [b]), { in_dims: [0, null] });
    t.close(await read(both(parameters, ones([2]))), await read(models.map((m) => m(ones([2])))));
  },
  "a checkpoint computes anew what it threw away, with the same random numbers": async (t) => {
    const { nn, utils, manual_seed, get_rng_state, set_rng_state } = t.torch,
      model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Dropout(0.5), nn.Linear(4, 1)).to(t.device);
    const x = t.tensor([
      [1, 2, 3],
      [4, 5, -6],
    ]);
    x.requires_grad_();
    manual_seed(1);
    const at = get_rng_state();
    let calls = 0;
    const gradients = async (run) => {
      x.grad = null;
      model.zero_grad();
      set_rng_state(at);
      run((y) => (calls++, model(y)))
        .pow(2)
        .sum()
        .backward();
      return read([x.grad, model[0].weight.grad, model[3].bias.grad]);
    };
    const plain = await gradients((f) => f(x)),
      after = get_rng_state();
    same(t, calls, 1);
    same(t, await gradients((f) => utils.checkpoint.checkpoint(f, x, { use_reentrant: false })), plain);
    same(t, [calls, get_rng_state()], [3, after]);
    same(t, await gradients(() => utils.checkpoint.checkpoint_sequential(model, 2, x)), plain);
    // Nothing is kept: what was saved is in no tensor of the tape.
    const held = utils.checkpoint.checkpoint((y) => y.exp().exp(), x);
    held.sum().backward();
    let turn = 0;
    const fickle = utils.checkpoint.checkpoint((y) => (turn++ ? y.exp() : y.exp().exp()), x);
    await t.throws(
      () => fickle.sum().backward(),
      /A different number of tensors was saved during the original forward/,
    );
    await t.throws(() => utils.checkpoint.checkpoint(async (y) => y.exp(), x), /must not be async/);
    await t.throws(() => utils.checkpoint.checkpoint(7, x), /argument 'function' must be a function, got number 7/);
  },
  "hooks on what the tape saves": async (t) => {
    const { autograd } = t.torch,
      x = t.tensor([1, 2]);
    x.requires_grad_();
    const seen = [];
    const y = autograd.graph.saved_tensors_hooks(
      (saved) => (seen.push(saved.shape), saved.mul(10)),
      (packed) => packed.div(5),
      () => x.mul(x).sum(),
    );
    y.backward();
    same(
      t,
      [seen, await read(x.grad)],
      [
        [[2], [2]],
        [4, 8],
      ],
    );
    await t.throws(() => y.backward(), /backward through the graph a second time/);
    await t.throws(
      () =>
        autograd.graph.saved_tensors_hooks(
          (a) => a,
          (a) => a,
        ),
      /missing required argument 'body'/,
    );
  },
  "x.data is a tensor, and reads when it is called": async (t) => {
    const { Tensor, memory } = t.torch,
      x = t.tensor([1, 2]);
    x.requires_grad_();
    same(
      t,
      [x.data instanceof Tensor, x.data.requires_grad, x.data.shape, [...(await x.data())]],
      [true, false, [2], [1, 2]],
    );
    x.data.mul_(3);
    same(t, [await read(x), await read(x.data.add(1)), x.requires_grad], [[3, 6], [4, 7], true]);
    x.data = t.tensor([7, 8]);
    same(t, [await read(x), x.is_leaf, await read(x.data.index(1))], [[7, 8], true, 8]);
    same(t, await read(t.torch.stack([x.data, x.data]).sum(0)), [14, 16]);
    const before = memory()[t.device].bytes,
      z = t.tensor([1, 2, 3]);
    await z.data();
    z.dispose();
    same(t, memory()[t.device].bytes, before);
    await t.throws(() => z.data(), /disposed/);
    await t.throws(() => x.data(1), /data: takes at most 0 positional arguments/);
    const kept = t.tensor([5]),
      other = kept.data;
    kept.dispose();
    same(t, [await read(other), await read(other.add(1))], [[5], [6]]);
  },
  "fork_rng gives random numbers back": async (t) => {
    const { random, rand, manual_seed } = t.torch;
    manual_seed(3);
    const first = await read(rand([2]));
    manual_seed(3);
    random.fork_rng(() => rand([5]));
    await random.fork_rng(async () => (await Promise.resolve(), rand([5])));
    same(t, await read(rand([2])), first);
    random.fork_rng(() => rand([2]), { enabled: false });
    manual_seed(3);
    same(t, await read(rand([2])), first);
    await t.throws(
      () =>
        random.fork_rng(() => {
          throw new Error("inside");
        }),
      /inside/,
    );
  },
};
