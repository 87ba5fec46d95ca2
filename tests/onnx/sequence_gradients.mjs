// Gradients flow through sequences: node sequence_gradients.mjs FILE cpu|webgpu
// FILE splits `x @ w` into rows, takes the second and the first, and answers second * 3 + first.
// Prints {name: failure or null} as JSON.
const [file, device] = process.argv.slice(2);
const torch = await import("../../dist/in-node/index.js");
if (device === "webgpu" && !(await torch.initWebGPUAsync())) throw new Error("no WebGPU in Node");
const program = await torch.onnx.load(file, device),
  net = program.module(),
  rows = [
    [1, 2],
    [3, 4],
  ],
  x = torch.tensor(rows, { device, dtype: torch.float32, requires_grad: true }),
  answer = await net(x);
answer.sum().backward();
const results = {},
  see = async (name, got, wanted) => {
    const values = JSON.stringify(got && (await got.tolist()));
    results[name] = values === JSON.stringify(wanted) ? null : `is ${values}, wanted ${JSON.stringify(wanted)}`;
  };
await see("the answer", answer, [[52, 76]]);
await see("the input's", x.grad, [
  [3, 7],
  [9, 21],
]);
await see("the parameter's", [...net.parameters()][0].grad, [
  [10, 10],
  [14, 14],
]);
console.log(JSON.stringify(results));
process.exit(0);
