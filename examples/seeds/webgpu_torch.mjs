// webgpu-torch's program: tensors on the GPU, values back, gradients, and its own names for functions and kernels.
// The calls are those of its README; `torch` is imported where that page has a <script>.
import * as torch from "../../dist/index.js";

await torch.initWebGPUAsync();

// Tensors, a sum, and its values.
const a = torch.tensor([
  [1, 2, 3],
  [4, 5, 6],
]);
const b = torch.tensor([
  [7, 8, 9],
  [10, 11, 12],
]);
const c = a.add(b);
const floatArray = await c.toArrayAsync();
const mapped = await a.storage.mapReadAsync();

// Gradients: backward() on what is no scalar counts as a gradient of ones, and c keeps its own.
const x = torch.tensor({
  data: [
    [1, 2, 3],
    [4, 5, 6],
  ],
  requiresGrad: true,
});
const y = torch.tensor({
  data: [
    [7, 8, 9],
    [10, 11, 12],
  ],
  requiresGrad: true,
});
const z = x.add(y);
z.backward();

// Operations as functions and as methods.
const signed = torch.tensor([
  [-1, 2, -3],
  [4, -5, 6],
]);
const other = torch.tensor([
  [7, -8, 9],
  [-10, 11, -12],
]);
const abs = torch.abs(signed);
const abs2 = signed.abs();
const sum = torch.add(signed, other);
const sum2 = signed.add(other);

// The other ways to make a tensor.
const made = [
  new torch.Tensor([
    [1, 2],
    [3, 4],
  ]),
  torch.zeros([2, 2]),
  torch.ones([2, 2]),
];
const product = made[0].mm(made[2]);

// Operators as classes with an `apply`, and a class of one's own.
const applied = torch.functions.AbsFunction.apply(signed);

class Cube extends torch.AutoFunction {
  static forward([input]) {
    return input.mul(input).mul(input);
  }
  static setupContext(ctx, [input]) {
    ctx.saveForBackward(input);
  }
  static backward(ctx, gradient) {
    return [gradient.mul(3).mul(ctx.savedTensors[0]).mul(ctx.savedTensors[0])];
  }
}
const cubed = torch.tensor({ data: [1, 2, 3], requiresGrad: true });
Cube.apply(cubed).backward();

// A kernel of one's own: it is WGSL, so it needs the GPU.
const scale = new torch.Kernel(
  {
    name: "scale",
    config: [{ name: "threads" }],
    parameters: [
      { name: "size", shaderType: "u32" },
      { name: "factor", shaderType: "f32" },
    ],
    inputs: [{ name: "input", shaderType: "array<f32>" }],
    outputs: [{ name: "output", shaderType: "array<f32>", size: "size" }],
    workgroupSize: ["threads", 1, 1],
    workgroupCount: ["size / threads", 1, 1],
    shader: "if (global_id.x < parameters.size) { output[global_id.x] = parameters.factor * input[global_id.x]; }",
  },
  { threads: 64 },
);
const scaled = c.device === "webgpu" ? scale.run([c], { size: 6, factor: 0.5 })[0] : c.mul(0.5).flatten();

export const answers = {
  device: c.device,
  floatArray,
  mapped: Array.from(mapped),
  gradients: [await x.grad.tolist(), await y.grad.tolist(), await z.grad.tolist()],
  abs: await abs.tolist(),
  abs2: await abs2.tolist(),
  sum: await sum.tolist(),
  sum2: await sum2.tolist(),
  product: await product.tolist(),
  applied: await applied.tolist(),
  cubed: await cubed.grad.tolist(),
  scaled: await scaled.tolist(),
};
