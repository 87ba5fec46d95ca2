// What user code answers in the place of a gradient: functions of one's own, hooks of tensors and of modules.  The
// answers are PyTorch 2.13.0's.

/** The gradients that reach a tensor of this shape through what `wrap` puts between it and a sum. */
async function through(t, shape, wrap) {
  const x = t.torch.ones(shape, { device: t.device, requires_grad: true });
  wrap(x.mul(1)).sum().backward();
  return [x.grad.dtype, await x.grad.tolist()];
}

/** A function whose way back answers what `back` does. */
const doubled = (t, back) =>
  class Doubled extends t.torch.autograd.Function {
    static forward(_, x) {
      return x.mul(2);
    }
    static backward(_, grad) {
      return back(grad);
    }
  };

const sevens = [
  [2, 2],
  [2, 2],
].map((row) => row.map(() => 7));

export default {
  "a function's gradient fits its argument": async (t) => {
    const { torch, device } = t,
      ones = (...size) => torch.ones(size, { device });
    const of = (back) => through(t, [2, 2], (x) => doubled(t, back).apply(x));
    t.equal(await of(() => ones(7, 2, 2)), ["float32", sevens]);
    t.equal(await of((grad) => grad.mul(7).int()), ["float32", sevens]);
    if (device === "cpu") t.equal(await of((grad) => grad.mul(7).double()), ["float32", sevens]);
    for (const size of [[2], [3], [1, 2], [2, 1], [], [4], [2, 2, 2, 3]])
      await t.throws(
        () => of(() => ones(...size)),
        /Function DoubledBackward returned an invalid gradient at index 0 - got \[[\d, ]*\] but expected shape compatible with \[2, 2\]/,
      );
    // Of a leaf as of what lies in between.
    const leaf = ones(2, 2).requires_grad_();
    await t.throws(
      () =>
        doubled(t, () => ones(2))
          .apply(leaf)
          .sum()
          .backward(),
      /invalid gradient at index 0/,
    );
  },
  "a hook keeps size and type": async (t) => {
    const { torch, device } = t,
      hooked = (hook) => (x) => (x.register_hook(hook), x.mul(1));
    t.equal(
      await through(
        t,
        [2, 2],
        hooked((grad) => grad.mul(7)),
      ),
      ["float32", sevens],
    );
    for (const other of [(g) => g.sum(), (g) => g.view([4]), (g) => g.view([1, 2, 2]), (g) => g.int()])
      await t.throws(() => through(t, [2, 2], hooked(other)), /hook has changed the size or type of value/);
    const module = new torch.nn.Identity(),
      answers = [torch.ones([3], { device }), torch.ones([2, 2], { device }).int()];
    const handle = module.register_full_backward_hook(() => [answers[0]]);
    await t.throws(() => through(t, [2, 2], module), /Backward hook returned an invalid gradient at index 0/);
    handle.remove();
    module.register_full_backward_hook(() => [answers[1]]);
    t.equal((await through(t, [2, 2], module))[0], "float32");
  },
  "the gradient that begins has its tensor's type": async (t) => {
    const x = t.tensor([1, 2]).requires_grad_();
    x.mul(2).backward(t.tensor([3, 4], { dtype: t.torch.int32 }));
    t.equal([x.grad.dtype, await x.grad.tolist()], ["float32", [6, 8]]);
  },
  "hooks of a module see each argument and result, gradient or none": async (t) => {
    const { torch } = t;
    class Several extends torch.nn.Module {
      forward(flag, x, fixed, count) {
        t.equal([x.requires_grad, fixed.requires_grad], [true, false]);
        return [x.mul(fixed), flag, count, fixed];
      }
    }
    const module = new Several(),
      seen = [],
      kinds = (grads) => grads.map((grad) => grad !== null);
    module.register_full_backward_pre_hook((_, out) => {
      seen.push(kinds(out));
    });
    module.register_full_backward_hook((_, input, output) => {
      seen.push(kinds(input), kinds(output));
    });
    const x = t.tensor([1, 2]).requires_grad_(),
      count = t.tensor([1, 2]).int();
    const [y, flag, same, fixed] = module(true, x, t.tensor([3, 4]), count);
    t.equal([flag, same === count, fixed.requires_grad], [true, true, false]);
    y.sum().backward();
    const results = [true, false, false, false];
    t.equal(seen, [results, [false, true, false, false], results]);
    t.equal(await x.grad.tolist(), [3, 4]);
    const linear = new torch.nn.Linear(2, 1).to(t.device);
    linear.register_full_backward_hook(() => [t.tensor([[1, 1]])]);
    await t.throws(
      () =>
        linear(t.tensor([[1, 2]]))
          .sum()
          .backward(),
      /where no input requires gradient/,
    );
  },
  "a function answers tensors and anything else": async (t) => {
    const { torch } = t;
    class Mixed extends torch.autograd.Function {
      static forward(ctx, x, factor) {
        ctx.factor = factor;
        return [factor, x.mul(factor), null, "text", x];
      }
      static backward(ctx, ...grads) {
        t.equal(
          grads.map((grad) => grad !== null),
          [false, true, false, false, true],
        );
        return [grads[1].mul(ctx.factor).add(grads[4]), null];
      }
    }
    const x = t.tensor([1, 2]).requires_grad_(),
      [factor, y, nothing, text, same] = Mixed.apply(x, 3);
    t.equal([factor, nothing, text], [3, null, "text"]);
    y.sum().add(same.sum()).backward();
    t.equal(await x.grad.tolist(), [4, 4]);
  },
  "a function changes its argument": async (t) => {
    const { torch } = t;
    class Add extends torch.autograd.Function {
      static forward(ctx, x) {
        ctx.mark_dirty(x);
        return x.add_(1);
      }
      static backward(_, grad) {
        return grad.mul(3);
      }
    }
    const leaf = t.tensor([1, 2]).requires_grad_(),
      x = leaf.clone(),
      y = x.exp();
    t.equal(Add.apply(x) === x, true);
    x.sum().backward({ retain_graph: true });
    t.equal(
      [await x.detach().tolist(), await leaf.grad.tolist()],
      [
        [2, 3],
        [3, 3],
      ],
    );
    y.sum().backward();
    const saved = leaf.clone(),
      square = saved.mul(saved);
    Add.apply(saved);
    await t.throws(() => square.sum().backward(), /modified by an inplace operation/);
    await t.throws(() => Add.apply(leaf), /a leaf Variable that requires grad is being used in an in-place operation/);
    await t.throws(() => Add.apply(leaf.clone().view([2, 1])), /mark_dirty takes no views/);
  },
  "gradients for several weights at once": async (t) => {
    const { torch } = t,
      { grad } = torch.autograd,
      x = t.tensor([1, 2]).requires_grad_(),
      z = t.tensor([5]).requires_grad_(),
      y = x.pow(2),
      eye = torch.eye(2, { device: t.device });
    const [rows, none] = grad(y, [x, z], { grad_outputs: eye, is_grads_batched: true, allow_unused: true });
    t.equal(await rows.tolist(), [
      [2, 0],
      [0, 4],
    ]);
    t.equal(none, null);
    await t.throws(
      () => grad(x.pow(2), x, { grad_outputs: t.tensor([1, 1]), is_grads_batched: true }),
      /If `is_grads_batched=True`, we interpret the first dimension .* got grad_output\[0\] of \[2\] for output\[0\] of \[2\]/,
    );
    await t.throws(() => grad(x.sum(), []), /grad requires non-empty inputs/);
    const [zeros] = grad(x.sum(), [z], { create_graph: true, materialize_grads: true });
    t.equal([zeros.requires_grad, await zeros.tolist()], [true, [0]]);
    await t.throws(
      () => grad(x.sum(), [z], { allow_unused: false, materialize_grads: true }),
      /Expected allow_unused to be True or not passed/,
    );
  },
};
