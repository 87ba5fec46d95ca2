// What torch.onnx.export refuses, and what it says then: node not_exported.mjs FOLDER, which has
// sizes_by_values.pt2 of tests/exchange/rare.tar.xz.  Prints {name: failure or null} as JSON.
const torch = await import("../../dist/in-node/index.js"),
  onnx = await import("../../dist/in-node/runtime/onnx/both-ways.js");
const { nn } = torch,
  x = torch.ones([3, 3]);

/** By name: the arguments of export, and what the error says. */
const CASES = {
  random: [[(a) => torch.add(a, torch.rand([3, 3])), [x]], /rand_like draws random numbers/],
  dropout: [[nn.Dropout(0.5), [x]], /dropout draws random numbers/],
  body: [[(a) => torch.linalg.inv(a), [x]], /inv is computed step by step, and has no counterpart in ONNX/],
  value: [[(a) => (a.tolist().catch(() => null), a), [x]], /onnx.export: .*promise|a value is read/],
  nothing: [[() => null, []], /gives no tensor/],
  constant: [[() => 3, []], /a result is not computed from the arguments.*: got number 3/],
  model: [[3, [x]], /argument 'model' must be a module, a function or an exported program, got number 3/],
  args: [[nn.ReLU(), 3], /argument 'args' must be a list of arguments/],
  version: [[nn.ReLU(), [x], null, { opset_version: 12 }], /opset_version must be 18 to 24, got number 12/],
  file: [[nn.ReLU(), [x], 7], /argument 'f' must be a path, a stream or a handle, got number 7/],
  option: [[nn.ReLU(), [x], null, { opset: 18 }], /opset/],
};

const results = {};
for (const [name, [args, wanted]] of Object.entries(CASES)) {
  let said = "nothing";
  try {
    await onnx.export(...args);
  } catch (error) {
    said = error.message;
  }
  results[name] = wanted.test(said) ? null : `says ${said}`;
}
// nothing is left of what is rehearsed: neither statistics, nor random numbers drawn, nor gradients
const norm = nn.BatchNorm1d(3);
torch.manual_seed(3);
await onnx.export(norm, [x]);
const fresh = (await norm.running_mean.sum().item()) === 0 && Number(await norm.num_batches_tracked.item()) === 0;
results.state = fresh ? null : "batch norm's statistics changed";
const drawn = await torch.rand([1]).item();
torch.manual_seed(3);
results.seed = drawn === (await torch.rand([1]).item()) ? null : "random numbers were drawn";
// the operator that reads a value is named, wherever it runs
const FIRST = /^index \(torch\.ops\.aten\.index\.Tensor\): onnx.export: a value is read/,
  places = ["cpu", ...((await torch.initWebGPUAsync()) ? ["webgpu"] : [])];
for (const device of places) {
  const file = `${process.argv[2]}/sizes_by_values`,
    program = await torch.export.load(`${file}.pt2`, device),
    { in0, in1, in2 } = await torch.load(`${file}.safetensors`, device);
  const said = await onnx.export(program, [in0, in1, in2]).catch(({ message }) => message);
  results[`a value of ${device}`] = FIRST.test(said) ? null : `says ${said}`;
}
console.log(JSON.stringify(results));
process.exit(0);
