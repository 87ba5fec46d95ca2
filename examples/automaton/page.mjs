// The page: a rule is learned, and an automaton of it grows beside; where the visitor presses on it, its cells die.
// python3 build.py serve shows where it is; ?steps=40&device=cpu&picture=fish&seed=1 in the address choose.
import * as torch from "../../dist/index.js";
import { asked, by, controlled, frame, guarded, lossChart, offer, offerDevices, paced, show } from "../shared/page.mjs";
import { hurt, learn, seed } from "./automaton.mjs";
import { draw, NAMES, SIZE } from "./pictures.mjs";

const steps = Number(asked("steps", 1500)),
  AGE = 70; // steps that an automaton grows before another begins, while the rule is being learned
let model = null,
  learning = true,
  wounds = [],
  losses = null;

/** The drawn picture as a rule has it: [4, SIZE, SIZE], the colours times how solid each pixel is, and that. */
function pictured(canvas) {
  const { data } = canvas.getContext("2d").getImageData(0, 0, SIZE, SIZE),
    pixels = torch.tensor(data, { shape: [SIZE, SIZE, 4], dtype: torch.float32, device: "cpu" }).div(255),
    solid = pixels.narrow(2, 3, 1);
  return torch
    .cat([pixels.narrow(2, 0, 3).mul(solid), solid], 2)
    .permute(2, 0, 1)
    .contiguous();
}

/** Paints what of the cells can be seen. */
async function paint(canvas, cells) {
  const seen = cells.select(0, 0).narrow(0, 0, 4),
    solid = seen.narrow(0, 3, 1).clamp(0, 1),
    colours = seen.narrow(0, 0, 3).div(solid.clamp(0.02)).clamp(0, 1);
  const pixels = await torch.cat([colours, solid], 0).permute(1, 2, 0).mul(255).round().data();
  canvas.width = canvas.height = SIZE;
  canvas.getContext("2d").putImageData(new ImageData(new Uint8ClampedArray(pixels), SIZE), 0, 0);
}

/** An automaton that grows for as long as the page is open, by the rule as it is now. */
async function grow(canvas) {
  let cells = null,
    age = 0;
  for (;;) {
    await frame();
    if (!model) {
      cells = null;
      continue;
    }
    if (!cells || (learning && age >= AGE)) [cells, age] = [seed(torch, 1, SIZE, by("device").value), 0];
    const now = wounds;
    wounds = [];
    cells = torch.no_grad(() => model(now.reduce((left, [x, y]) => hurt(torch, left, x, y, 4), cells)));
    await paint(canvas, cells);
    show({ age: `${++age}` });
  }
}

async function run(going) {
  const device = by("device").value;
  torch.manual_seed(Number(asked("seed", Math.floor(Math.random() * 1e6))));
  draw(by("wanted"), by("picture").value);
  model = null;
  learning = true;
  losses?.destroy();
  losses = lossChart(by("losses"), steps);
  show({ where: device === "webgpu" ? "WebGPU" : "CPU", step: `0 / ${steps}`, loss: "–" });
  await learn(torch, pictured(by("wanted")), {
    device,
    steps,
    report: paced(steps, losses, 0, going, (_step, loss, _speed, learned) => {
      model = learned;
      show({ loss: loss.toPrecision(3) });
    }),
  });
  learning = false;
}

by("grown").addEventListener("pointerdown", (event) => {
  const box = by("grown").getBoundingClientRect();
  wounds.push([((event.clientX - box.left) / box.width) * SIZE, ((event.clientY - box.top) / box.height) * SIZE]);
});
offer(
  "picture",
  NAMES.map((name) => [name, name]),
);
await guarded(() => offerDevices(torch));
guarded(() => grow(by("grown")));
await controlled(run, ["picture", "device"]);
