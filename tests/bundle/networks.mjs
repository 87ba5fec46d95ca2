// Networks of torch.export's archives, bundled, give PyTorch's outputs: node networks.mjs FOLDER OUT cpu|webgpu
// FOLDER holds NAME.pt2 and NAME.safetensors; OUT gets a folder for each.  Prints {name: failure or null} as JSON.
import { readdirSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, out, device] = process.argv.slice(2);
const torch = await import("../../dist/index.js"),
  { bundle } = await import("../../dist/runtime/bundle/index.js");
const gpu = device === "webgpu" && (await torch.initWebGPUAsync()) ? torch.gpuDevice() : null;
if (device === "webgpu" && !gpu) throw new Error("no WebGPU in Node");
torch.set_default_device("cpu");
const NEAR = 2e-5;

const numbered = (data, prefix) =>
  Object.keys(data)
    .filter((key) => new RegExp(`^${prefix}\\d*$`).test(key))
    .sort((a, b) => Number(a.slice(prefix.length)) - Number(b.slice(prefix.length)))
    .map((key) => data[key]);

/** The inputs as the program's arguments nest. */
function argumentsOf({ args, kwargs }, inputs) {
  const build = ({ parts, keys }) =>
    !parts ? inputs.shift() : keys ? Object.fromEntries(keys.map((k, i) => [k, build(parts[i])])) : parts.map(build);
  const given = build(args);
  return kwargs.parts.length > 0 ? [...given, build(kwargs)] : given;
}

async function compare(name) {
  const program = await torch.export.load(`${folder}/${name}.pt2`),
    recorded = await torch.load(`${folder}/${name}.safetensors`),
    inputs = numbered(recorded, "in"),
    made = await bundle(program, argumentsOf(program.graph_signature, [...inputs]), { name });
  await made.save(`${out}/${name}`);
  const { load, outputs } = await import(`${pathToFileURL(`${out}/${name}`)}/model.mjs`),
    model = await load(gpu ? { gpu } : { device: "cpu" }),
    given = await Promise.all(inputs.map((x) => x.data())),
    wrong = [];
  if (model.device !== device) return `it runs on ${model.device}`;
  // memory is shared by what follows each other: a second call finds what the first left
  for (let turn = 0; turn < 2; turn++) {
    const answers = await model.run(given);
    for (const [i, wanted] of numbered(recorded, "out").entries()) {
      const got = answers[outputs[i].name],
        numbers = Array.from(await wanted.data(), Number),
        most = numbers.reduce((n, x) => Math.max(n, Math.abs(x)), 1e-2),
        far = numbers.reduce((n, x, k) => Math.max(n, Math.abs(x - Number(got[k]))), 0) / most;
      if (!(far < NEAR) || got.length !== numbers.length || String(outputs[i].shape) !== String(wanted.shape))
        wrong.push(`output ${i} is ${far} from PyTorch's`);
    }
  }
  model.dispose();
  return wrong.join("; ") || null;
}

const results = {};
for (const file of readdirSync(folder).filter((f) => f.endsWith(".pt2"))) {
  const name = file.slice(0, -".pt2".length);
  try {
    results[name] = await compare(name);
  } catch (error) {
    results[name] = String(error.message);
  }
}
process.stdout.write(`${JSON.stringify(results)}\n`, () => process.exit(0));
