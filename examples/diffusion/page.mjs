// The page: digits come out of noise, with weights that are there or while a network learns.
// python3 build.py serve shows where it is; ?weights=none&steps=60&digit=7&device=cpu&seed=1 in the address choose.
import * as torch from "../../dist/index.js";
import { readDigits } from "../digits/digits.mjs";
import { asked, by, controlled, frame, guarded, lossChart, offer, offerDevices, show } from "../shared/page.mjs";
import { Denoiser, SIDE, draw, trainer } from "./diffusion.mjs";

const steps = Number(asked("steps", 1500)),
  OFTEN = Math.min(100, steps), // steps of learning between two drawings
  COLUMNS = 10,
  COUNT = 40,
  CELL = SIDE + 2, // a digit and the paper around it
  plot = lossChart(by("losses"), steps),
  paint = by("pictures").getContext("2d");
let data = null;

/** Draws COUNT digits, one of each in turn or all the same, and shows them as they appear. */
async function sample(model, device, going) {
  const digit = by("digit").value,
    digits = Array.from({ length: COUNT }, (_, n) => (digit === "all" ? n % COLUMNS : Number(digit))),
    drawing = draw(model, digits, device);
  let n = 0;
  for await (const pictures of drawing) {
    paintAll(await pictures.tolist());
    show({ drawn: `${++n} steps` });
    await frame();
    if (!going()) break;
  }
}

function paintAll(pictures) {
  const shown = new ImageData(COLUMNS * CELL, (COUNT / COLUMNS) * CELL);
  shown.data.fill(255);
  pictures.forEach((picture, n) =>
    picture.flat().forEach((ink, i) => {
      const x = (n % COLUMNS) * CELL + (i % SIDE) + 1,
        y = Math.floor(n / COLUMNS) * CELL + Math.floor(i / SIDE) + 1,
        light = Math.round(255 - ((ink + 1) / 2) * 220);
      shown.data.set([light, light, Math.min(255, light + 8), 255], 4 * (y * shown.width + x));
    }),
  );
  paint.putImageData(shown, 0, 0);
}

async function run(going) {
  const device = by("device").value,
    learning = by("weights").value === "none",
    model = new Denoiser();
  by("learning").hidden = !learning;
  show({ where: device === "webgpu" ? "WebGPU" : "CPU", drawn: "–", step: "–", loss: "–" });
  torch.manual_seed(Number(asked("seed", Math.floor(Math.random() * 1e6))));
  if (!learning) await model.load_state_dict(new URL("weights.safetensors", location.href));
  await model.to(device);
  if (learning) await learn(model, device, going);
  if (going()) await sample(model, device, going);
}

async function learn(model, device, going) {
  const { train } = trainer(model, data, device),
    losses = [];
  for (let n = 1; n <= steps && going(); n++) {
    losses.push(await train());
    show({ loss: losses.at(-1).toFixed(3), step: `${n} / ${steps}` });
    if (n % 5 === 0 || n === steps) plot.setData([losses.map((_, i) => i + 1), losses]);
    await frame();
    if (n % OFTEN === 0 && n < steps) await sample(model, device, going);
  }
}

offer("weights", [
  ["kept", "learned before"],
  ["none", "from nothing"],
]);
offer("digit", [["all", "every digit"], ...Array.from({ length: 10 }, (_, digit) => [`${digit}`, `only ${digit}`])]);
await guarded(async () => {
  await offerDevices(torch);
  data = readDigits(new Uint8Array(await (await fetch("../digits/digits.bin")).arrayBuffer())).train;
});
await controlled(run, ["device", "weights", "digit"]);
