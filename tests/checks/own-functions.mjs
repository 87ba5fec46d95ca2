// torch.autograd.Function: what forward keeps, results without gradients, gradients that are differentiated once.

export default {
  "null is kept beside tensors, anything else refused": async ({ torch, tensor, equal, throws }) => {
    class Affine extends torch.autograd.Function {
      static forward(ctx, input, weight, bias = null) {
        ctx.save_for_backward(input, weight, bias);
        const out = input.mm(weight.t());
        return bias === null ? out : out.add_(bias);
      }
      static backward(ctx, g) {
        const [input, weight, bias] = ctx.saved_tensors;
        return [g.mm(weight), g.t().mm(input), bias === null ? null : g.sum(0)];
      }
    }
    for (const bias of [null, [1, -1]]) {
      const leaves = [
        [[1, 2]],
        [
          [3, 4],
          [5, 6],
        ],
        ...(bias ? [bias] : []),
      ].map((x) => tensor(x).requires_grad_());
      const out = Affine.apply(...leaves, ...(bias ? [] : [null]));
      equal(await out.tolist(), [bias ? [12, 16] : [11, 17]]);
      out
        .mul(tensor([1, 10]))
        .sum()
        .backward();
      equal(await Promise.all(leaves.map((x) => x.grad.tolist())), [
        [[53, 64]],
        [
          [1, 2],
          [10, 20],
        ],
        ...(bias ? [[1, 10]] : []),
      ]);
    }
    class Keeps extends torch.autograd.Function {
      static forward(ctx, x, what) {
        ctx.save_for_backward(x, what);
        return x.clone();
      }
    }
    const x = tensor([1]).requires_grad_();
    for (const what of [3, "text", undefined, [x]])
      await throws(() => Keeps.apply(x, what), /save_for_backward can only save tensors and null, but argument 1 is /);
  },

  "apply is taken from its class": async ({ torch, tensor, equal }) => {
    class Cube extends torch.autograd.Function {
      static forward(ctx, x) {
        ctx.save_for_backward(x);
        return x.pow(3);
      }
      static backward(ctx, g) {
        return g.mul(ctx.saved_tensors[0].pow(2).mul(3));
      }
    }
    class Twice extends Cube {
      static forward(ctx, x) {
        return super.forward(ctx, x).mul(2);
      }
      static backward(ctx, g) {
        return super.backward(ctx, g).mul(2);
      }
    }
    class Square extends torch.AutoFunction {
      static forward([x]) {
        return x.mul(x);
      }
      static setupContext(ctx, [x]) {
        ctx.x = x;
      }
      static backward(ctx, g) {
        return [g.mul(ctx.x).mul(2)];
      }
    }
    const abs = torch.functions.AbsFunction.apply;
    for (const [apply, slope] of [
      [Cube.apply, 12],
      [Twice.apply, 24],
      [Square.apply, -4],
      [abs, -1],
    ]) {
      const x = tensor([-2]).requires_grad_();
      apply(x).sum().backward();
      equal(await x.grad.tolist(), [slope]);
    }
    const x = tensor([-2]).requires_grad_();
    torch.autograd.Function.apply.call(Twice, x).sum().backward(); // as what is called on a class
    equal(await x.grad.tolist(), [24]);
  },

  "results that are no floats have no gradient": async ({ torch, tensor, equal }) => {
    class Best extends torch.autograd.Function {
      static forward(ctx, x) {
        ctx.save_for_backward(x);
        return [x.square(), x.argmax(), x.gt(0), x.to(torch.int32)];
      }
      static backward(ctx, g, ...others) {
        equal(
          others.map((zeros) => zeros.dtype),
          ["int64", "bool", "int32"],
        );
        const [saved] = ctx.saved_tensors;
        return saved.mul(2).mul(g);
      }
    }
    const x = tensor([1, -2]).requires_grad_(),
      made = Best.apply(x);
    equal(
      made.map((result) => [result.requires_grad, result.grad_fn === null]),
      [
        [true, false],
        [false, true],
        [false, true],
        [false, true],
      ],
    );
    made[0].sum().backward();
    equal(await x.grad.tolist(), [2, -4]);
  },

  "a result that is kept has a gradient of its own, complex ones, too": async ({ torch, tensor, close }) => {
    class Exp extends torch.autograd.Function {
      static forward(ctx, z) {
        const y = z.exp();
        ctx.save_for_backward(y);
        return y;
      }
      static backward(ctx, g) {
        const [y] = ctx.saved_tensors;
        return g.mul(y.conj());
      }
    }
    const z = torch.complex(tensor([0.3, -0.5]), tensor([0.7, 0.2])).requires_grad_();
    const [g] = torch.autograd.grad(Exp.apply(z).abs().pow(2).sum(), z, { create_graph: true });
    g.real.sum().backward();
    close(await torch.view_as_real(g.detach()).tolist(), [
      [3.644238, 0],
      [0.735759, 0],
    ]);
    close(await torch.view_as_real(z.grad).tolist(), [
      [7.288475, 0],
      [1.471518, 0],
    ]);
  },

  "once_differentiable: gradients that cannot be differentiated again": async ({ torch, tensor, equal, throws }) => {
    const { once_differentiable } = torch.autograd.function,
      recorded = [];
    class Product extends torch.autograd.Function {
      static forward(ctx, x, y, factor) {
        ctx.save_for_backward(x, y);
        ctx.factor = factor;
        return x.mul(y).mul(factor);
      }
      static backward = once_differentiable((ctx, g) => {
        const [x, y] = ctx.saved_tensors;
        recorded.push(torch.is_grad_enabled());
        return [g.mul(y).mul(ctx.factor), g.mul(x).mul(ctx.factor), null];
      });
    }
    const leaves = () =>
      [
        [1, 2],
        [3, 4],
      ].map((x) => tensor(x).requires_grad_());
    const [x, y] = leaves();
    Product.apply(x, y, 2).sum().backward();
    equal(await Promise.all([x, y].map((leaf) => leaf.grad.tolist())), [
      [6, 8],
      [2, 4],
    ]);
    equal(
      [x, y].map((leaf) => leaf.grad.requires_grad),
      [false, false],
    );
    // A gradient that needs none itself is followed by nothing: what is made of constants is one.
    const [a, b] = leaves();
    const plain = torch.autograd.grad(Product.apply(a, b, 2).sum(), [a, b], { create_graph: true });
    equal(
      plain.map((g) => g.requires_grad),
      [false, false],
    );
    const grads = torch.autograd.grad(Product.apply(a, b, 2).square().sum(), [a, b], { create_graph: true });
    equal(
      grads.map((g) => g.requires_grad),
      [true, true],
    );
    await throws(() => grads[0].sum().backward(), /trying to differentiate twice a function that was marked with/);
    equal([...new Set(recorded)], [false]);
    await throws(() => once_differentiable(3), /once_differentiable: argument 'fn' must be a function/);
  },
};
