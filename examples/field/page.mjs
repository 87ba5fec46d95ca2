// The page: a network learns a picture, and what it has learned is shown as it does.
// python3 build.py serve shows where it is; ?steps=40&device=cpu&picture=discs in the address choose.
import * as torch from "../../dist/index.js";
import { asked, by, controlled, guarded, lossChart, offer, offerDevices, paced, show } from "../shared/page.mjs";
import { learn } from "./field.mjs";
import { draw, NAMES, SIZE } from "./pictures.mjs";

const steps = Number(asked("steps", 600)),
  SHOWN = 2 * SIZE; // the network is asked between the pixels, too
let own = null,
  losses = null;

/** The colours of a canvas: [pixels, 3], from 0 to 1. */
function colours(canvas) {
  const { data, width, height } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return torch
    .tensor(data, { shape: [width * height, 4], dtype: torch.float32, device: "cpu" })
    .narrow(1, 0, 3)
    .div(255);
}

/** Paints colours [side * side, 3] into a canvas. */
async function paint(canvas, side, said) {
  const opaque = torch.cat([said.mul(255).round(), said.new_full([side * side, 1], 255)], 1);
  canvas.width = canvas.height = side;
  canvas.getContext("2d").putImageData(new ImageData(new Uint8ClampedArray(await opaque.data()), side), 0, 0);
}

async function run(going) {
  const device = by("device").value;
  draw(by("wanted"), by("picture").value === "your own" ? own : by("picture").value);
  losses?.destroy();
  losses = lossChart(by("losses"), steps);
  show({ where: device === "webgpu" ? "WebGPU" : "CPU", step: `0 / ${steps}`, noise: "–", speed: "–" });
  await learn(
    torch,
    { colours: colours(by("wanted")), width: SIZE, height: SIZE },
    {
      device,
      steps,
      report: paced(steps, losses, 120, going, async (step, loss, speed, render) => {
        show({ noise: `${(-10 * Math.log10(loss)).toFixed(1)} dB`, speed: speed ? Math.round(speed) : "–" });
        const side = step === steps || !going() ? SHOWN : SIZE;
        await paint(by("learned"), side, render(side, side));
      }),
    },
  );
}

by("file").addEventListener("change", () =>
  guarded(async () => {
    own = await createImageBitmap(by("file").files[0]);
    if (by("picture").options.length === NAMES.length) offer("picture", [["your own", "your own"]]);
    by("picture").value = "your own";
    by("stop").click();
    by("start").click();
  }),
);
offer(
  "picture",
  NAMES.map((name) => [name, name]),
);
await guarded(() => offerDevices(torch));
await controlled(run, ["picture", "device"]);
