// Networks of torch.export's archives, exported to ONNX and read again, give PyTorch's outputs:
// node exported.mjs FOLDER OUT cpu|webgpu
// FOLDER holds what tests/exchange/models.tar.xz does; OUT gets NAME.onnx.  Prints {name: failure or null} as JSON.
import { mkdirSync } from "node:fs";
import { NEAR, argumentsOf, numbered, printResults } from "../exchange/recorded.mjs";
import { distance, leaves } from "../exchange/values.mjs";

const [folder, out, device] = process.argv.slice(2);
const torch = await import("../../dist/in-node/index.js"),
  onnx = await import("../../dist/in-node/runtime/onnx/both-ways.js");
if (device === "webgpu" && !(await torch.initWebGPUAsync())) throw new Error("no WebGPU in Node");
torch.set_slow_warnings(false);
mkdirSync(out, { recursive: true });

async function compare(name) {
  const program = await torch.export.load(`${folder}/${name}.pt2`, device),
    recorded = await torch.load(`${folder}/${name}.safetensors`, device),
    inputs = numbered(recorded, "in").map(([, x]) => x),
    given = argumentsOf(program.graph_signature, inputs);
  await onnx.export(program, given, `${out}/${name}.onnx`);
  const again = (await torch.onnx.load(`${out}/${name}.onnx`, device)).module(),
    outputs = leaves(torch, await torch.no_grad(() => again(...inputs))),
    wrong = [];
  for (const [i, [n, wanted]] of numbered(recorded, "out").entries()) {
    const far = await distance(torch, outputs[i], wanted);
    if (!(far < NEAR)) wrong.push(`output ${n} is ${far} from PyTorch's`);
  }
  return wrong.join("; ") || null;
}

await printResults(folder, compare);
