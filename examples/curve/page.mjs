// The page: trains as soon as it is open, and draws the curve and the loss while it does.
// python3 build.py serve shows where it is; ?steps=60&device=cpu&function=waves in the address choose.
import * as torch from "../../dist/index.js";
import {
  asked,
  by,
  chart,
  colour,
  controlled,
  guarded,
  lossChart,
  offer,
  offerDevices,
  paced,
  show,
} from "../shared/page.mjs";
import { FUNCTIONS, sampled, train } from "./curve.mjs";

const steps = Number(asked("steps", 400));
offer(
  "function",
  Object.keys(FUNCTIONS).map((name) => [name, name]),
);
let curve = null,
  losses = null;

const twoDigits = (_, value) => value?.toFixed(2) ?? "–";

async function run(going) {
  const device = by("device").value,
    data = sampled(FUNCTIONS[by("function").value]);
  const drawn = (said) => [data.x, data.samples, data.truth, said];
  curve?.destroy();
  losses?.destroy();
  curve = chart(by("curve"), {
    height: 340,
    data: drawn(data.x.map(() => null)),
    y: { range: [-1.4, 1.4] },
    x: { range: [-3, 3] },
    series: [
      { label: "x", value: twoDigits },
      {
        label: "samples",
        stroke: () => colour("dots"),
        paths: () => null,
        points: { show: true, size: 5, fill: () => colour("dots") },
        value: twoDigits,
      },
      {
        label: "the function",
        stroke: () => colour("dots"),
        width: 1.5,
        dash: [6, 5],
        points: { show: false },
        value: twoDigits,
      },
      { label: "the network", stroke: () => colour("series"), width: 2.5, points: { show: false }, value: twoDigits },
    ],
  });
  losses = lossChart(by("losses"), steps);
  show({ where: device === "webgpu" ? "WebGPU" : "CPU", step: `0 / ${steps}`, loss: "–", speed: "–" });
  await train(torch, data, {
    device,
    steps,
    report: paced(steps, losses, 40, going, async (_step, loss, speed, predict) => {
      show({ loss: loss.toPrecision(3), speed: speed ? Math.round(speed) : "–" });
      curve.setData(drawn(await predict()));
    }),
  });
}

await guarded(() => offerDevices(torch));
await controlled(run, ["function", "device"]);
