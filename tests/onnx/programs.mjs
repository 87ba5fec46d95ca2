// Models that PyTorch exported give its outputs, and gradients of the parameters that kept their names:
// node programs.mjs FOLDER ANSWERS cpu|webgpu [compiled]
// FOLDER has NAME.onnx, ANSWERS the recordings NAME.safetensors.  Prints {name: failure or null} as JSON.
import { existsSync, readdirSync } from "node:fs";
import { distance, leaves } from "../exchange/values.mjs";

const [folder, answers, device, compiled] = process.argv.slice(2);
const torch = await import("../../dist/in-node/index.js");
if (device === "webgpu" && !(await torch.initWebGPUAsync())) throw new Error("no WebGPU in Node");
torch.set_slow_warnings(false);
const NEAR = 2e-5;
/** Their parameters are others than the network's. */
const OPTIMISED = new Set(["resnet", "llama"]);

const numbered = (data, prefix) =>
  Object.keys(data)
    .filter((key) => new RegExp(`^${prefix}\\d*$`).test(key))
    .sort((a, b) => Number(a.slice(prefix.length)) - Number(b.slice(prefix.length)))
    .map((key) => [Number(key.slice(prefix.length)), data[key]]);

async function compare(name) {
  const program = await torch.onnx.load(`${folder}/${name}.onnx`, device),
    recorded = await torch.load(`${answers}/${name}.safetensors`, device),
    module = program.module(),
    call = compiled ? torch.compile(module) : module,
    inputs = numbered(recorded, "in").map(([, x]) => x),
    wrong = [];
  let outputs;
  for (let n = 0; n < (compiled ? 3 : 1); n++) outputs = leaves(torch, await call(...inputs));
  const see = async (what, got, wanted, scale) => {
    const far = await distance(torch, got, wanted, scale);
    if (!(far < NEAR)) wrong.push(`${what} is ${far} from PyTorch's`);
  };
  for (const [n, wanted] of numbered(recorded, "out")) await see(`output ${n}`, outputs[n], wanted);
  const cotangents = numbered(recorded, "cot").filter(([n]) => outputs[n].requires_grad);
  if (cotangents.length > 0)
    torch.autograd.backward(
      cotangents.map(([n]) => outputs[n]),
      cotangents.map(([, c]) => c),
    );
  let compared = 0;
  // gradients that are zero but for rounding have no scale of their own
  const most = await Promise.all(
      Object.entries(recorded)
        .filter(([key]) => key.startsWith("g."))
        .map(async ([, g]) => Number(await torch.abs(g).max().item())),
    ),
    scale = Math.max(1e-2, ...most) / 10;
  for (const [key, parameter] of module.named_parameters()) {
    const wanted = recorded[`g.${key}`];
    if (OPTIMISED.has(name) || !wanted || String(wanted.shape) !== String(parameter.shape)) continue;
    compared++;
    await see(
      `the gradient of ${key}`,
      parameter.grad ?? torch.zeros_like(wanted),
      wanted,
      Math.max(scale, Number(await torch.abs(wanted).max().item())),
    );
  }
  if (process.env.COUNTS) console.error(name, `${compared} gradients of ${[...module.parameters()].length} parameters`);
  return wrong.join("; ") || null;
}

const results = {};
for (const file of readdirSync(folder).filter((f) => f.endsWith(".onnx"))) {
  const name = file.slice(0, -".onnx".length);
  if (!existsSync(`${answers}/${name}.safetensors`)) continue;
  try {
    results[name] = await compare(name);
  } catch (error) {
    results[name] = String(error.stack);
  }
}
// a pipe takes long texts piece by piece
process.stdout.write(`${JSON.stringify(results)}\n`, () => process.exit(0));
