// autograd.Function, AutoFunction, operators as classes, kernels of a user's own, and the tensor class as a
// constructor.
const scaling = {
  name: "scaling",
  config: [{ name: "threads" }],
  parameters: [
    { name: "size", shaderType: "u32" },
    { name: "factor", shaderType: "f32" },
  ],
  inputs: [{ name: "input", shaderType: "array<f32>" }],
  outputs: [{ name: "output", shaderType: "array<f32>", size: "size" }],
  workgroupSize: ["threads"],
  workgroupCount: ["ceil(size / threads)"],
  shader: "if (global_id.x < parameters.size) { output[global_id.x] = parameters.factor * input[global_id.x]; }",
};

export default {
  "a Function with setup_context": async (t) => {
    const { Function } = t.torch.autograd,
      seen = [];
    class Product extends Function {
      static forward(x, y, factor) {
        return x.mul(y).mul(factor);
      }
      static setup_context(ctx, inputs, output) {
        seen.push(inputs.length, output.shape);
        ctx.save_for_backward(inputs[0], inputs[1]);
        ctx.factor = inputs[2];
      }
      static backward(ctx, g) {
        const [x, y] = ctx.saved_tensors;
        return [g.mul(y).mul(ctx.factor), g.mul(x).mul(ctx.factor), null];
      }
    }
    const x = t.tensor([1, 2], { requires_grad: true }),
      y = t.tensor([3, 4], { requires_grad: true });
    const out = Product.apply(x, y, 10);
    out.sum().backward();
    t.equal(await out.tolist(), [30, 80]);
    t.equal(await x.grad.tolist(), [30, 40]);
    t.equal(await y.grad.tolist(), [10, 20]);
    t.equal(seen, [3, [2]]);
  },
  "an AutoFunction": async (t) => {
    class Square extends t.torch.AutoFunction {
      static forward([x]) {
        return x.mul(x);
      }
      static setupContext(ctx, [x], output) {
        ctx.saveForBackward(x);
        ctx.shape = output.shape;
      }
      static backward(ctx, g) {
        t.equal(ctx.shape, [2]);
        t.equal(ctx.needsInputGradient, [true]);
        return [g.mul(2).mul(ctx.savedTensors[0])];
      }
    }
    const x = t.tensor([3, 4], { requires_grad: true });
    const y = Square.apply(x);
    t.equal(y.grad_fn.name(), "SquareBackward");
    y.sum().backward();
    t.equal(await x.grad.tolist(), [6, 8]);
    await t.throws(() => t.torch.AutoFunction.apply(x), /must have a forward/);
  },
  "operators as classes": async (t) => {
    const { functions, AutoFunction } = t.torch,
      x = t.tensor(
        [
          [-1, 2],
          [3, -4],
        ],
        { dtype: "float32", requires_grad: true },
      );
    t.equal(await functions.AbsFunction.apply(x).tolist(), [
      [1, 2],
      [3, 4],
    ]);
    t.close(await functions.LogSoftmaxFunction.apply(x, 1).exp().sum(1).tolist(), [1, 1]);
    t.equal(functions.AbsFunction.prototype instanceof AutoFunction, true);
    t.equal(
      [functions.AbsFunction.name, "AddFunction" in functions, "NonsenseFunction" in functions, functions.abs],
      ["AbsFunction", true, false, undefined],
    );
    functions.MulFunction.apply(x, x).sum().backward();
    t.equal(await x.grad.tolist(), [
      [-2, 4],
      [6, -8],
    ]);
    // Through a subclass, its backward is the operator's.
    class Own extends functions.MulFunction {
      static apply(...inputs) {
        return AutoFunction.apply.call(this, ...inputs);
      }
    }
    const a = t.tensor([2, 3], { requires_grad: true });
    Own.apply(a, 5).sum().backward();
    t.equal(await a.grad.tolist(), [5, 5]);
  },
  "the class of tensors makes tensors": async (t) => {
    const { Tensor, float32, nn } = t.torch;
    for (const x of [
      new Tensor([
        [1, 2],
        [3, 4],
      ]),
      Tensor([
        [1, 2],
        [3, 4],
      ]),
      new Tensor([1, 2, 3, 4], { shape: [2, 2] }),
      new Tensor(new Int32Array([1, 2, 3, 4]), { shape: [2, 2] }),
    ]) {
      t.equal(
        [x.dtype, x.shape, await x.tolist(), x instanceof Tensor],
        [
          float32,
          [2, 2],
          [
            [1, 2],
            [3, 4],
          ],
          true,
        ],
      );
    }
    t.equal([new Tensor(2, 3).shape, new Tensor().shape, new Tensor([true, false]).dtype], [[2, 3], [0], float32]);
    const x = t.tensor([1, 2]),
      view = new Tensor(x);
    view.add_(1);
    t.equal(await x.tolist(), [2, 3]);
    t.equal([nn.Parameter(x) instanceof Tensor, [] instanceof Tensor], [true, false]);
  },
  "a kernel of a user's own": async (t) => {
    const { Kernel } = t.torch,
      kernel = new Kernel(scaling, { threads: 64 }),
      x = t.tensor(
        Array.from({ length: 100 }, (_, i) => i),
        { dtype: "float32" },
      );
    if (t.device === "cpu") {
      await t.throws(
        () => kernel.run([x], { size: 100, factor: 2 }),
        /Kernel scaling: runs on webgpu; its first input is cpu/,
      );
      return;
    }
    const [y] = kernel.run([x], { size: 100, factor: 2 });
    t.equal(
      await y.tolist(),
      Array.from({ length: 100 }, (_, i) => 2 * i),
    );
    const part = x.index("1::2"),
      out = t.torch.zeros([50]);
    t.equal(kernel.run([part], { size: 50, factor: -1 }, [out])[0] === out, true);
    t.equal(
      await out.tolist(),
      Array.from({ length: 50 }, (_, i) => -2 * i - 1),
    );
    const [none] = kernel.run([t.torch.zeros([0])], { size: 0, factor: 1 });
    t.equal([none.shape, await none.tolist()], [[0], []]);
    await t.throws(() => kernel.run([x, x], { size: 100, factor: 1 }), /takes 1 inputs, got 2/);
    await t.throws(() => kernel.run([x], { size: 100 }), /parameter factor must be a number/);
    await t.throws(
      () => kernel.run([x.int()], { size: 100, factor: 1 }),
      /input is an array<f32>, got a tensor of int32/,
    );
    await t.throws(() => kernel.run([x], { size: 100, factor: 1 }, [x]), /shares its memory/);
    await t.throws(() => kernel.run([x], { size: 100, factor: 1 }, [out]), /output has 100 elements, got the shape/);
  },
  "a kernel that does not compile says so when values are read": async (t) => {
    if (t.device === "cpu") return;
    const broken = new t.torch.Kernel({ ...scaling, name: "broken", shader: "output[0] = nonsense;" }, { threads: 1 });
    const [y] = broken.run([t.tensor([1.5])], { size: 1, factor: 1 });
    await t.throws(() => y.tolist(), /broken: its kernel was refused by the device/);
  },
  "what a kernel's description must be": async (t) => {
    const { Kernel } = t.torch;
    await t.throws(() => new Kernel(scaling), /no value for threads/);
    await t.throws(() => new Kernel({ ...scaling, workgroupSize: ["threads +"] }, { threads: 1 }), /is no arithmetic/);
    await t.throws(
      () => new Kernel({ ...scaling, workgroupSize: ["2 * size"] }, { threads: 1 }),
      /names size, of which there is no number/,
    );
    await t.throws(
      () => new Kernel({ ...scaling, inputs: [{ name: "a b", shaderType: "array<f32>" }] }, { threads: 1 }),
      /is no name/,
    );
    await t.throws(
      () => new Kernel({ ...scaling, inputs: [{ name: "a", shaderType: "mat4" }] }, { threads: 1 }),
      /a is of type "mat4"/,
    );
    t.equal(
      new Kernel(
        { ...scaling, workgroupSize: ["(threads + 1) * 2 % 7", "max(1, threads - 60) / 2", () => 1.5] },
        { threads: 64 },
      ).code.includes("@workgroup_size(4, 2, 2)"),
      true,
    );
  },
};
