// Trains a network on handwritten digits in Node: node examples/digits/train.mjs [mlp|cnn] [sgd|adam] [cpu|webgpu]
// [steps] Prints the loss on the way, then the accuracy. Needs dist/ (python3 build.py); webgpu needs the npm package
// `webgpu`.
import { readFile } from "node:fs/promises";
import * as torch from "../../dist/index.js";
import { readDigits, train } from "./digits.mjs";

const [network = "cnn", optimizer = "adam", wanted = "webgpu", count = "100"] = process.argv.slice(2);
const device = wanted === "webgpu" && (await torch.initWebGPUAsync()) ? "webgpu" : "cpu";
const file = (name) => readFile(new URL(name, import.meta.url));
const recording = JSON.parse(await file("recording.json"));

const began = performance.now();
const { accuracy } = await train(torch, `${network} ${optimizer}`, readDigits(await file("digits.bin")), {
  device,
  steps: Number(count),
  weights: recording.weights[network],
  report(step, loss) {
    if (step % 20 === 0 || step === count - 1) console.log(`step ${String(step).padStart(3)}  loss ${loss.toFixed(4)}`);
  },
});
const seconds = (performance.now() - began) / 1000;
console.log(
  `${network} with ${optimizer} on ${device}: ${count} steps in ${seconds.toFixed(1)} s, ` +
    `${(100 * accuracy).toFixed(1)} % of 359 test images right`,
);
process.exit(0); // Dawn keeps the process alive otherwise
