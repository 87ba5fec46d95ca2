// The page: trains as soon as it is open, and draws the curve and the loss while it does.
// python3 build.py serve shows where it is; ?steps=60&device=cpu&function=waves in the address choose.
import * as torch from "../../dist/index.js";
import { asked, by, chart, frame, guarded, lossChart, offer, offerDevices, show } from "../shared/page.mjs";
import { FUNCTIONS, sampled, train } from "./curve.mjs";

const steps = Number(asked("steps", 400));
offer(
  "function",
  Object.keys(FUNCTIONS).map((name) => [name, name]),
);
let running = false,
  curve = null,
  losses = null;

const twoDigits = (_, value) => value?.toFixed(2) ?? "–";

async function run() {
  const device = by("device").value,
    data = sampled(torch, FUNCTIONS[by("function").value]);
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
        stroke: "#98a2b3",
        paths: () => null,
        points: { show: true, size: 5, fill: "#98a2b3" },
        value: twoDigits,
      },
      { label: "the function", stroke: "#98a2b3", width: 1.5, dash: [6, 5], points: { show: false }, value: twoDigits },
      { label: "the network", stroke: "#2f5fde", width: 2.5, points: { show: false }, value: twoDigits },
    ],
  });
  losses = lossChart(by("losses"), steps);
  show({ where: device === "webgpu" ? "WebGPU" : "CPU", step: `0 / ${steps}`, loss: "–", speed: "–" });
  let began = performance.now(),
    painted = -Infinity;
  const seen = [[], []];
  await train(torch, data, {
    device,
    steps,
    async report(step, read, predict) {
      if (step > 1 && step < steps && running && performance.now() - painted < 40) return true;
      const loss = await read(),
        said = await predict();
      if (step === 1) began = performance.now(); // the first step compiles
      seen[0].push(step);
      seen[1].push(loss);
      show({
        step: `${step} / ${steps}`,
        loss: loss.toPrecision(3),
        speed: step > 1 ? Math.round((1000 * (step - 1)) / (performance.now() - began)) : "–",
      });
      curve.setData(drawn(said));
      losses.setData(seen);
      await frame();
      painted = performance.now();
      return running;
    },
  });
}

async function start() {
  running = true;
  document.body.dataset.state = "training";
  for (const id of ["start", "function", "device"]) by(id).disabled = true;
  by("stop").disabled = false;
  try {
    await guarded(run);
    document.body.dataset.state = "done";
  } finally {
    running = false;
    for (const id of ["start", "function", "device"]) by(id).disabled = false;
    by("stop").disabled = true;
  }
}

by("start").addEventListener("click", start);
by("stop").addEventListener("click", () => {
  running = false;
});
by("function").addEventListener("change", start);
await guarded(() => offerDevices(torch));
start();
