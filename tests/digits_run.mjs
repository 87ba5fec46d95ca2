// Trains one network of examples/digits from PyTorch's weights in Node: node digits_run.mjs "cnn adam" cpu|webgpu
// STEPS. Prints {device, losses, accuracy} as JSON.
import { readFile } from "node:fs/promises";
import * as torch from "../dist/in-node/index.js";
import { readDigits, train } from "../examples/digits/digits.mjs";

const [how, device, steps] = process.argv.slice(2);
if (device === "webgpu" && !(await torch.initWebGPUAsync())) throw new Error("no WebGPU in Node");
const file = (name) => readFile(new URL(`../examples/digits/${name}`, import.meta.url));
const { weights } = JSON.parse(await file("recording.json"));
const { losses, accuracy, model } = await train(torch, how, readDigits(await file("digits.bin")), {
  device,
  weights: weights[how.split(" ")[0]],
  steps: Number(steps),
});
console.log(JSON.stringify({ device: String(model.parameters()[0].device), losses, accuracy }));
process.exit(0);
