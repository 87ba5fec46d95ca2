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
};
