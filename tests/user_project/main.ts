// A user's project: every line must type-check under `tsc --strict`, and what is marked must not.

import * as torch from "tensorloom";
import { add, conv2d, nn, type Tensor, type SumOptions } from "tensorloom";
import { jacrev } from "tensorloom/func";
import { svd } from "tensorloom/linalg";
import { Conv2d, type Module } from "tensorloom/nn";
import { mse_loss } from "tensorloom/nn/functional";
import { AdamW } from "tensorloom/optim";
import { StepLR } from "tensorloom/optim/lr_scheduler";
import { data } from "tensorloom/utils";

const F = nn.functional;
const x: Tensor = torch.tensor([
  [1, 2],
  [3, 4],
]);

// positional in PyTorch's order, a trailing options object, both spellings
const sums: Tensor[] = [
  torch.sum(x),
  torch.sum(x, 1),
  torch.sum(x, [0, 1], true),
  torch.sum(x, 1, { keepdim: true }),
  x.sum({ dim: 0 }),
];
const named: SumOptions = { dim: [0], keepdim: true };
add(x, x, { alpha: 2 });
add(x, 2).mul(3).sub(x);
F.cross_entropy(x, x, { ignore_index: 1, labelSmoothing: 0.1, reduction: "sum" });
conv2d(x, x, null, { stride: [1, 2], padding: 1 });
F.conv2d(x, x, null, 2, [1, 1]);
torch.clamp(x, { min: 0 });
torch.clamp(x, -1, 1);
F.gelu(x, { approximate: "tanh" });

// views: any of the last arguments by name
const views: Tensor[] = [
  torch.diagonal(x, { dim1: 1, dim2: 0 }),
  torch.diagonal(x, 1, { dim1: 1, dim2: 0 }),
  torch.transpose(x, { dim0: 0, dim1: 1 }),
  torch.flatten(x, 0, { end_dim: 1 }),
  torch.reshape(x, 1, 4),
  torch.flip(x, 0, 1),
];
// @ts-expect-error a place is a number
torch.diagonal(x, "1");

// what is required by name, too
const soft: Tensor[] = [F.softmax(x, { dim: 1 }), x.cumsum({ dim: 0 }), torch.threshold(x, { threshold: 1, value: 0 })];
F.interpolate(x, { scale_factor: 2, mode: "bilinear" });
F.pad(x, [1, 1], { mode: "reflect" });
x.topk({ k: 2, largest: false }).values.add(1);
F.softmax(x, { dtype: "float32" });
// @ts-expect-error the axis is missing
torch.softmax(x, { dtype: "float32" });

// parts of the package, imported by themselves, are of the same types
const part: Module & nn.Module = new Conv2d(3, 8, 3);
StepLR(AdamW(part.parameters(), { lr: 0.1 }), 2).step();
mse_loss(svd(x).S, jacrev((y: Tensor) => y.sum())(x) as Tensor).backward();
data.DataLoader([x, x], { batch_size: 2 });

// several results: fields and order
const { values, indices } = x.max(1);
const [v, i] = torch.max(x, 1, true);
const largest: Tensor = torch.max(x);
const larger: Tensor = torch.max(x, x);
torch.matmul(x, x);
x.var({ correction: 0 });

// files and data
const model = nn.Linear(2, 1);
const { missing_keys }: nn.LoadReport = await model.load_state_dict("model.pt", {
  strict: false,
  progress: (p) => console.log(p.loaded, p.total),
});
await torch.save(model.state_dict(), "model.safetensors", { dtype: "bfloat16" });
const loaded: Record<string, Tensor> = await torch.safetensors.load_file(
  new URL("https://example.org/model.safetensors"),
);
const { epoch }: { epoch: number } = await torch.load<{ epoch: number }>("checkpoint.pt");
const anything: unknown = await torch.load(new Blob([]), { map_location: "cpu" });
const { DataLoader, Dataset, TensorDataset } = torch.utils.data;
class Squares extends Dataset<number> {
  override get length(): number {
    return 3;
  }
  override get(index: number): number {
    return index ** 2;
  }
}
for await (const [a, b] of DataLoader(TensorDataset(x, x), {
  batch_size: 2,
  shuffle: true,
  generator: new torch.Generator().manual_seed(1),
}))
  add(a, b);
for await (const batch of new DataLoader<string>(new Squares(), { collate_fn: (samples: number[]) => samples.join() }))
  batch.trim();
// @ts-expect-error no such option
DataLoader([1], { batchsize: 1 });

// in place
const same: Tensor = x.add_(1).relu_();

// modules: arguments by position, by name, mixed; a module is called as its forward says
class Net extends nn.Module {
  conv = nn.Conv2d(1, 8, 3, 2, { padding: 1, padding_mode: "reflect" });
  blocks = nn.ModuleList([nn.Linear(8, 8, false), new nn.Linear({ in_features: 8, out_features: 2 })]);
  norm = nn.BatchNorm2d(8, { momentum: null });
  override forward(image: Tensor, twice = false): Tensor {
    const seen = this.norm(this.conv(image)).relu();
    return twice ? seen.mul(2) : seen;
  }
}
const net = new Net(),
  scores: Tensor = net(x, true);
const [output, [hidden, cell]] = nn.LSTM(2, 3, { bidirectional: true })(x);
const [attended, weights] = nn.MultiheadAttention(4, 2, { batch_first: true })(x, x, x, { need_weights: false });
const states: Tensor[] = [output, hidden, cell, attended, weights ?? x];
nn.init.kaiming_normal_(net.conv.weight, { mode: "fan_out", nonlinearity: "relu" });
net.conv.register_forward_hook((module, args, out) => {
  console.log(module.kernel_size, args.length, out);
});

// what goes to the GPU is there at once, what comes from it is a promise
const there: Tensor = x.to("webgpu"),
  moved: Net = net.to("webgpu"),
  double: Net = net.double();
const back = (await x.to("cpu")).add(1);
const total: number = await x.sum().item(),
  some: boolean = await x.any().item<boolean>(),
  rows = await x.tolist<number[][]>();
rows[0]![0]!.toFixed();

// derivatives: what a function takes, its derivative takes
const [slope] = torch.autograd.grad(x.sum(), x),
  [unused] = torch.autograd.grad(x.sum(), [x], { allow_unused: true });
slope!.add(1);
unused?.add(1);
const derivative: Tensor = torch.func.grad((t: Tensor) => t.sum())(x),
  pair: Tensor[] = torch.func.grad((s: Tensor, t: Tensor) => s.mul(t).sum(), [0, 1])(x, x);
const each: Tensor = torch.vmap((row: Tensor) => row.sum())(x);
class Square extends torch.autograd.Function {
  static override forward(ctx: torch.autograd.FunctionContext, input: Tensor): Tensor {
    ctx.save_for_backward(input);
    return input.mul(input);
  }
  static override backward(ctx: torch.autograd.FunctionContext, grad: Tensor): Tensor {
    return grad.mul(ctx.saved_tensors[0]!).mul(2);
  }
}
const squared: Tensor = Square.apply(x);
// @ts-expect-error the function takes a tensor
torch.func.grad((t: Tensor) => t.sum())("x");

// looking on
const prof = await torch.profiler.profile(
  { record_shapes: true, activities: [torch.profiler.ProfilerActivity.CPU] },
  () => torch.profiler.record_function("once", () => x.sum()),
);
const table: string = prof.key_averages().table({ sort_by: "count" });
torch.set_debug(true, { replay: false });
// @ts-expect-error no such column
prof.key_averages().table({ sort_by: "calls" });

// @ts-expect-error no such option
nn.Linear(2, 3, { biass: true });
// @ts-expect-error a size is a number
nn.LSTM(2, "3");
// @ts-expect-error no such padding
nn.Conv2d(1, 2, 3, { padding: "full" });
// @ts-expect-error its forward takes a tensor
net("image");
// @ts-expect-error a string is no tensor
torch.exp("1");
// @ts-expect-error no such option
add(x, x, { beta: 2 });
// @ts-expect-error no such choice
F.gelu(x, { approximate: "fast" });
// @ts-expect-error a missing argument
torch.matmul(x);
// @ts-expect-error an axis is a number
x.sum("0");

export {
  soft,
  there,
  moved,
  double,
  back,
  total,
  some,
  derivative,
  pair,
  each,
  squared,
  table,
  sums,
  named,
  values,
  indices,
  v,
  i,
  largest,
  larger,
  same,
  scores,
  states,
};

// other spellings
import { Adam, Linear, Relu, Sequential, Tensor as Made } from "tensorloom/compat/tensorjs";
const layers = new Sequential([new Linear(1, 8), new Relu()]);
await layers.toBackend("GPU");
const steps = new Adam(layers, 0.01);
const [predicted]: Tensor[] = await layers.forward([new Made([1, 2, 3], { shape: [3, 1] })]);
predicted!.reduceMean().backward();
steps.step();
steps.zeroGrads();
const fromSizes: Tensor = new torch.Tensor(2, 3),
  fromValues: Tensor = torch.Tensor([[1, 2]]);
const shape: torch.Shape = fromSizes.shape,
  type: torch.Dtype = fromValues.dtype;
const absolute: Tensor = torch.functions.AbsFunction!.apply(x);
class Cube extends torch.AutoFunction {
  static override forward([input]: readonly torch.FunctionInput[]): Tensor {
    return (input as Tensor).pow(3);
  }
  static override backward(ctx: torch.GradientContext, gradient: Tensor): Tensor[] {
    return [gradient.mul(ctx.savedTensors[0]!)];
  }
}
Cube.apply(x);
const twice = new torch.Kernel({
  name: "twice",
  inputs: [{ name: "x", shaderType: "array<f32>" }],
  outputs: [{ name: "y", shaderType: "array<f32>", size: ({ n }) => Number(n) }],
  workgroupCount: ["n / 64"],
  parameters: [{ name: "n", shaderType: "u32" }],
  shader: "y[global_id.x] = 2 * x[global_id.x];",
});
const [doubled]: Tensor[] = twice.run([x], { n: 4 });
// @ts-expect-error a model is moved to a backend by name
await layers.toBackend("TPU");
// @ts-expect-error modules take lists
await layers.forward(x);

// options after a required place, results by number, names of types, everything by name
nn.Conv2d(3, 64, { kernel_size: 7 });
nn.MaxPool2d(2, { padding: 1 });
nn.Linear(2, { out_features: 3 });
const greatest: Tensor = x.max(1)[0]!;
torch.zeros(2, { dtype: "int64" }).to("torch.float32");
x.view({ size: [4] }).requires_grad_({ requires_grad: false });
torch.autograd.grad({ outputs: greatest, inputs: [x], allow_unused: true });
new torch.optim.lr_scheduler.StepLR({ optimizer: torch.optim.Adam({ params: [x], lr: 0.1 }), step_size: 2 });
// @ts-expect-error no such option
nn.Conv2d(3, 64, { kernel_siz: 7 });

// a promise is no condition
// @ts-expect-error this condition is always true: await is missing
if (torch.allclose(x, x)) console.log("never");
if (await torch.allclose(x, x)) console.log("close");

// data is a tensor that reads when called; modules of one kind by name; options that functions have in place
const seen: Tensor = x.data.add(1);
const read: Float32Array | ArrayLike<number> = await x.data();
const layersByName = new nn.ModuleDict({ a: nn.Linear(1, 1), b: nn.Linear(1, 1) });
const rectified: Tensor = nn.functional.relu(seen, { inplace: true });
// @ts-expect-error there is no such type here
torch.zeros(2, { dtype: torch.complex128 });
torch.zeros(2, { dtype: torch.bfloat16 }).to(torch.uint32).to(torch.short);
const averaged = torch.func.vmap((p: Tensor) => p.mul(2), { in_dims: 0 })(rectified);
await torch.testing.assert_close([averaged, read], [averaged, read], { rtol: 0, atol: 0 });
torch.utils.checkpoint.checkpoint((y: Tensor) => y.exp(), x, { use_reentrant: false }).backward();
nn.utils.parametrizations.weight_norm(layersByName.get("a")!, "weight").forward(x);

// functions in place, models without values, datasets of datasets, edges of the graph
const inPlace: Tensor = torch.relu_(x.clone().detach());
torch.clamp_(inPlace, { min: 0 });
nn.functional.leaky_relu_(inPlace, 0.1);
const unfilled: nn.Linear = nn.utils.skip_init(nn.Linear, 2, 3, { bias: false });
unfilled.to_empty({ device: "cpu" });
const sample: unknown = torch.utils.data.StackDataset({ image: [1, 2], label: [0, 1] }).get(0);
const [hiddenAfter, cellAfter]: [Tensor, Tensor] = torch.lstm_cell(
  torch.ones(1, 2),
  [torch.zeros(1, 1), torch.zeros(1, 1)],
  torch.ones(4, 2),
  torch.ones(4, 1),
);
torch.autograd.graph
  .get_gradient_edge(hiddenAfter.add(cellAfter).requires_grad_(true))
  .node.next_functions.map(([node]) => node);
console.log(sample, torch.kl_div(hiddenAfter, cellAfter, { reduction: 2 }));

// functions written in place need no types; parameters of distributions by name, alone or after others
const slopes: Tensor = torch.func.jacrev((y) => y.pow(2))(x);
const [, pull] = torch.func.vjp((y: Tensor) => [y, y.mul(2)], x);
pull([slopes, slopes]);
const logits = torch.zeros(3);
console.log(torch.distributions.Categorical({ logits }).probs, torch.distributions.NegativeBinomial(2, { logits }));
new torch.distributions.MultivariateNormal(logits, { scale_tril: torch.eye(3) }).sample([2]);
torch.stft(torch.ones(20), 8, 4, { center: false, return_complex: true });
torch.einsum(x, [0], x, [0], []);
