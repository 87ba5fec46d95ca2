// torch.autograd.graph: hooks on several gradients, saved tensors that are changed.  The answers are PyTorch 2.13.0's.

export default {
  "a hook on several gradients": async (t) => {
    const { register_multi_grad_hook } = t.torch.autograd.graph,
      a = t.tensor([2, 3]).requires_grad_(),
      b = t.tensor([4, 5]).requires_grad_(),
      c = a.mul(b),
      d = a.add(b),
      seen = [];
    const note = (grads) => seen.push(grads),
      shown = () => Promise.all(seen.map((grads) => Promise.all(grads.map((g) => g && g.tolist()))));
    const handle = register_multi_grad_hook([a, b, c, d], note);
    const again = { retain_graph: true };
    c.sum().backward(again);
    c.sum().backward({ ...again, inputs: [a] });
    c.add(d).sum().backward(again);
    t.equal(await shown(), [
      [[4, 5], [2, 3], [1, 1], null],
      [[4, 5], null, [1, 1], null],
      [
        [5, 6],
        [3, 4],
        [1, 1],
        [1, 1],
      ],
    ]);
    handle.remove();
    seen.length = 0;
    c.sum().backward(again);
    t.equal(seen, []);
    const first = register_multi_grad_hook([a, c], (grad) => seen.push([grad]), { mode: "any" });
    c.sum().backward(again);
    t.equal(await shown(), [[[1, 1]]]);
    first.remove();
    await t.throws(() => register_multi_grad_hook([a], note, { mode: "some" }), /\('all', 'any'\) but got some/);
    await t.throws(() => register_multi_grad_hook([t.tensor([1])], note), /doesn't require gradient/);
  },
  "saved tensors may be changed where that is allowed": async (t) => {
    const { torch } = t,
      { allow_mutation_on_saved_tensors: allow } = torch.autograd.graph;
    const changed = (square) => {
      const x = t.tensor([2, 3]).requires_grad_(),
        y = x.clone(),
        out = square(y).sum();
      y.sin_();
      out.backward();
      return x.grad;
    };
    t.equal(await allow(() => changed((y) => y.pow(2))).tolist(), [4, 6]);
    const x = t.tensor([2, 3]).requires_grad_();
    allow(() => {
      const y = x.exp();
      torch.no_grad(() => y.zero_());
      y.sum().backward();
    });
    t.close(await x.grad.tolist(), [7.389056, 20.085537]);
    await t.throws(() => {
      const y = x.exp();
      torch.no_grad(() => y.zero_());
      y.sum().backward();
    }, /modified by an inplace operation/);
    await t.throws(() => allow(async () => 1), /must not be async/);
  },
  "a checkpoint stops where it has what it needs": async (t) => {
    const { torch } = t,
      { checkpoint, set_checkpoint_early_stop } = torch.utils.checkpoint,
      gradient = (options) => {
        let ends = 0;
        const x = t.tensor([1, 2]).requires_grad_();
        const f = (y) => {
          const z = y.exp();
          ends++;
          return z;
        };
        checkpoint(f, x, options).sum().backward();
        return [x.grad, ends];
      };
    const [grad, ends] = gradient({});
    t.close(await grad.tolist(), [2.718282, 7.389056]);
    t.equal([ends, gradient({ early_stop: false })[1]], [1, 2]);
    t.equal(
      set_checkpoint_early_stop(false, () => gradient({ early_stop: true })[1]),
      2,
    );
  },
  "hooks on nodes see the gradients before them and after": async (t) => {
    const x = t.tensor([0.5, 2]).requires_grad_(),
      y = t.tensor([3, 4]).requires_grad_(),
      slopes = async (hook) => {
        const z = x.mul(y);
        hook(z.grad_fn);
        return Promise.all(t.torch.autograd.grad(z.sum(), [x, y]).map((g) => g.tolist()));
      };
    const seen = [];
    t.close(
      await slopes((node) => {
        node.register_prehook(([g]) => [g.add(1)]);
        node.register_prehook((grads) => void seen.push(grads));
        node.register_hook((inputs, outputs) => void seen.push(inputs, outputs));
        node.register_hook(([a, b]) => [a.mul(10), b]);
      }),
      [
        [60, 80],
        [1, 4],
      ],
    );
    // What a hook was shown is there still.
    const shown = await Promise.all(seen.map((grads) => Promise.all(grads.map((g) => g.tolist()))));
    t.close(shown, [
      [[2, 2]],
      [
        [6, 8],
        [1, 4],
      ],
      [[2, 2]],
    ]);
    t.equal(await slopes((node) => node.register_hook(([a]) => [a, null]).remove()), [
      [3, 4],
      [0.5, 2],
    ]);
    for (const [answer, message] of [
      [() => 3, /must answer a list of gradients or nothing, got number 3/],
      [([a]) => [a], /incorrect number of values \(got 1, but expected 2\)/],
      [([a, b]) => [a.sum(), b], /has changed the size of value/],
    ])
      await t.throws(() => slopes((node) => node.register_hook(answer)), message);
    const { grad_fn } = x.mul(y);
    grad_fn.metadata.mine = 7;
    t.equal([grad_fn.metadata.mine, x.mul(y).grad_fn.metadata.mine], [7, undefined]);
    // The end at a leaf has hooks as well: what distributed training hangs on.
    const [[end]] = x.mul(2).grad_fn.next_functions,
      ends = [];
    end.register_prehook(([g]) => [g.mul(5)]);
    end.register_hook((inputs, [g]) => void ends.push(inputs.length, g));
    x.mul(2).sum().backward();
    t.equal([await x.grad.tolist(), ends[0], await ends[1].tolist()], [[10, 10], 0, [10, 10]]);
  },
  "a compiled function with a hook on a node does what it does without": async (t) => {
    const { torch } = t,
      x = t.tensor([0.5, 2]),
      own = (a) => {
        const z = a.detach().requires_grad_(),
          y = z.mul(z);
        y.grad_fn.register_hook((grads) => grads.map((g) => g.mul(3)));
        return torch.autograd.grad(y.sum(), z)[0];
      },
      f = torch.compile(own);
    for (let i = 0; i < 4; i++) t.equal(await f(x.add(i)).tolist(), await own(x.add(i)).tolist());
  },
  "options that are not the checkpoint's are the function's": async (t) => {
    const { checkpoint } = t.torch.utils.checkpoint,
      x = t.tensor([1, 2]).requires_grad_(),
      block = (y, z, { mask = null, scale = 1 } = {}) => (mask ? y.mul(z).mul(mask) : y.mul(z)).mul(scale),
      mask = t.tensor([1, 0]);
    const out = checkpoint(block, x, x, { mask, scale: 3, use_reentrant: false });
    t.equal(
      [await out.tolist(), await t.torch.autograd.grad(out.sum(), x)[0].tolist()],
      [
        [3, 0],
        [6, 0],
      ],
    );
    t.equal(await checkpoint(block, x, x, { useReentrant: false }).tolist(), [1, 4]);
    await t.throws(() => checkpoint(block, x, x, { mask, use_reentrant: true }), /Unexpected keyword arguments: mask/);
  },
};
