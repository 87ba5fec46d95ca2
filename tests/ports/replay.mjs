// Replays the programs of this folder: node replay.mjs cpu|webgpu [NAME...], which prints {name: {error, ms}} as JSON.
import { readFileSync } from "node:fs";
import * as torch from "../../dist/in-node/index.js";
import { numbers } from "./given.mjs";

const [device, ...only] = process.argv.slice(2);
if (device === "webgpu" && !(await torch.initWebGPUAsync())) throw new Error("no WebGPU in Node");
if (device === "cpu") torch.setDefaultDevice("cpu");
const recorded = JSON.parse(readFileSync(new URL("recorded.json", import.meta.url), "utf8"));
const NEAR = device === "cpu" ? 1e-4 : 5e-4;

/** What differs from PyTorch's answers, as text; empty where nothing does. */
async function differences(name, program) {
  const wanted = recorded[name],
    wrong = [];
  const same = (what, got, want, size) => {
    if (!(Math.abs(got - want) <= NEAR * size)) wrong.push(`${what}: ${got}, PyTorch: ${want}`);
  };
  /** Compares record.py's `summary` of tensors by name, at the scale of the largest. */
  const summaries = async (what, tensors, wants) => {
    if (String(Object.keys(tensors)) !== String(Object.keys(wants)))
      wrong.push(`${what}: ${Object.keys(tensors)}, PyTorch: ${Object.keys(wants)}`);
    const largest = Math.max(...Object.values(wants).map(([norm]) => norm));
    for (const [key, [norm, product]] of Object.entries(wants)) {
      if (!tensors[key]) continue;
      const flat = tensors[key].detach().flatten().float(),
        size = Math.max(norm, largest / 10); // what is nearly nothing is rounding
      same(`norm of ${what} ${key}`, await flat.norm().item(), norm, size);
      same(`${what} ${key}`, await flat.dot(numbers([flat.numel()], 31)).item(), product, size);
    }
  };

  const [model, step] = program();
  for (const [i, { loss, out }] of wanted.steps.entries()) {
    const [gotLoss, gotOut] = await step(i);
    same(`loss ${i}`, await gotLoss.item(), loss, Math.abs(loss) + 1e-3);
    await summaries(`output ${i}`, { [gotOut.shape]: gotOut }, { [out.shape]: out.all });
    const flat = await gotOut.detach().flatten().tolist();
    const size = Math.max(...out.first.map(Math.abs), 1e-3);
    out.first.forEach((x, j) => same(`output ${i}[${j}]`, Number(flat[j]), x, size));
    if (i > 0) continue;
    const given = [...model.named_parameters()].filter(([, p]) => p.grad);
    await summaries("gradient", Object.fromEntries(given.map(([key, p]) => [key, p.grad])), wanted.gradients);
  }
  await summaries("state", Object.fromEntries(Object.entries(model.state_dict())), wanted.state);
  return wrong.slice(0, 12).join("\n");
}

const results = {};
for (const name of Object.keys(recorded)) {
  if (only.length > 0 && !only.includes(name)) continue;
  const [file, program] = name.split(" ");
  const begin = performance.now();
  let error;
  try {
    error = await differences(name, (await import(`./${file}.mjs`))[program]);
  } catch (thrown) {
    error = String(thrown.stack);
  }
  results[name] = { error, ms: Math.round(performance.now() - begin) };
}
process.stdout.write(`${JSON.stringify(results)}\n`, () => process.exit(0)); // devices keep the process alive otherwise
