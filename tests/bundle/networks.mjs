// Networks of torch.export's archives, bundled, give PyTorch's outputs: node networks.mjs FOLDER OUT cpu|webgpu
// FOLDER holds NAME.pt2 and NAME.safetensors; OUT gets a folder for each.  Prints {name: failure or null} as JSON.
import { pathToFileURL } from "node:url";
import { NEAR, argumentsOf, numbered, printResults } from "../exchange/recorded.mjs";

const [folder, out, device] = process.argv.slice(2);
const torch = await import("../../dist/in-node/index.js"),
  { bundle } = await import("../../dist/in-node/runtime/bundle/index.js");
const gpu = device === "webgpu" && (await torch.initWebGPUAsync()) ? torch.gpuDevice() : null;
if (device === "webgpu" && !gpu) throw new Error("no WebGPU in Node");
torch.set_default_device("cpu");

async function compare(name) {
  const program = await torch.export.load(`${folder}/${name}.pt2`),
    recorded = await torch.load(`${folder}/${name}.safetensors`),
    inputs = numbered(recorded, "in").map(([, x]) => x),
    made = await bundle(program, argumentsOf(program.graph_signature, inputs), { name });
  await made.save(`${out}/${name}`);
  const { load, outputs } = await import(`${pathToFileURL(`${out}/${name}`)}/model.mjs`),
    model = await load(gpu ? { gpu } : { device: "cpu" }),
    given = await Promise.all(inputs.map((x) => x.data())),
    wrong = [];
  if (model.device !== device) return `it runs on ${model.device}`;
  // memory is shared by what follows each other: a second call finds what the first left
  for (let turn = 0; turn < 2; turn++) {
    const answers = await model.run(given);
    for (const [i, [, wanted]] of numbered(recorded, "out").entries()) {
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

await printResults(folder, compare);
