// The page: trains as soon as it is open, draws the loss on the way and shows what the network says of test images.
// python3 build.py serve shows where it is; ?steps=30&how=mlp adam&device=cpu in the address choose.
import * as torch from "../../dist/index.js";
import { asked, by, controlled, frame, guarded, lossChart, offer, offerDevices, show } from "../shared/page.mjs";
import { readDigits, train } from "./digits.mjs";

const SHOWN = 44;
const steps = Number(asked("steps", 100));
offer("how", [
  ["cnn adam", "convolutions, Adam"],
  ["cnn sgd", "convolutions, SGD"],
  ["mlp adam", "three layers, Adam"],
  ["mlp sgd", "three layers, SGD"],
]);
let losses = null;

async function run(data, going) {
  const device = by("device").value,
    seen = [];
  losses?.destroy();
  losses = lossChart(by("losses"), steps);
  show({ where: device === "webgpu" ? "WebGPU" : "CPU", step: `0 / ${steps}`, loss: "–", accuracy: "–" });
  by("digits").replaceChildren(...data.test.images.slice(0, SHOWN).map((image) => figure(image)));
  const { accuracy, model } = await train(torch, by("how").value, data, {
    device,
    steps,
    async report(step, loss) {
      seen.push(loss);
      show({ step: `${step + 1} / ${steps}`, loss: loss.toPrecision(3) });
      losses.setData([seen.map((_, i) => i + 1), seen]);
      await frame();
      return going();
    },
  });
  show({ accuracy: `${(100 * accuracy).toFixed(1)} %` });
  const { images, labels } = data.test,
    some = torch.tensor(images.slice(0, SHOWN), { device });
  const { values, indices } = torch.no_grad(() => model(some).softmax(1).max(1));
  const sure = await values.tolist(),
    said = await indices.tolist();
  by("digits").replaceChildren(
    ...said.map((digit, i) => figure(images[i], { digit, truth: labels[i], sure: sure[i] })),
  );
}

/** A digit, and what was said of it if anything was. */
function figure(image, { digit, truth, sure } = {}) {
  const canvas = Object.assign(document.createElement("canvas"), { width: 8, height: 8 });
  const pixels = new ImageData(8, 8);
  image.forEach((ink, i) => pixels.data.set([28, 36, 48, ((ink + 1.25) / 4) * 255], 4 * i));
  canvas.getContext("2d").putImageData(pixels, 0, 0);
  const caption = document.createElement("figcaption"),
    note = document.createElement("small"),
    element = document.createElement("figure");
  caption.textContent = digit ?? "?";
  note.textContent = digit === undefined ? "\u00a0" : digit === truth ? `${Math.round(100 * sure)} %` : `is ${truth}`;
  caption.append(note);
  element.className = digit === truth ? "" : "wrong";
  element.append(canvas, caption);
  return element;
}

await guarded(() => offerDevices(torch));
const data = await guarded(async () => readDigits(new Uint8Array(await (await fetch("digits.bin")).arrayBuffer())));
await controlled((going) => run(data, going), ["how", "device"]);
