// The page: a GPT learns a text, and writes as it learns.
// python3 build.py serve shows where it is; ?steps=60&device=cpu&seed=1 in the address choose.
import * as torch from "../../dist/index.js";
import { text } from "../alice/text.mjs";
import { asked, by, controlled, frame, guarded, lossChart, offerDevices, show } from "../shared/page.mjs";
import { writer } from "./writer.mjs";

const steps = Number(asked("steps", 600)),
  OFTEN = Math.min(50, steps), // steps between two samples of its writing
  LETTERS = 160,
  KEPT = 6, // samples that are shown, the last one first
  plot = lossChart(by("losses"), steps);

/** Shows a sample letter by letter, above the earlier ones; answers how many letters it wrote in a second. */
async function sample(author, step, going) {
  const row = document.createElement("li"),
    start = by("prompt").value,
    began = performance.now();
  row.append(Object.assign(document.createElement("small"), { textContent: `after step ${step}` }), start);
  by("written").prepend(row);
  for (const old of [...by("written").children].slice(KEPT)) old.remove();
  let count = 0;
  for await (const letter of author.write(start, LETTERS, Number(by("temperature").value))) {
    row.append(letter);
    if (++count % 8 === 0) await frame();
    if (!going()) break;
  }
  show({ rate: `${Math.round((1000 * count) / (performance.now() - began))}` });
}

async function run(going) {
  const device = by("device").value;
  by("written").replaceChildren();
  show({ where: device === "webgpu" ? "WebGPU" : "CPU", step: `0 / ${steps}`, loss: "–", rate: "–" });
  torch.manual_seed(Number(asked("seed", Math.floor(Math.random() * 1e6))));
  const author = writer(by("text").value, device),
    losses = [];
  show({ parameters: author.parameters.toLocaleString("en") });
  await author.ready();
  await sample(author, 0, going);
  for (let n = 1; n <= steps && going(); n++) {
    losses.push(await author.train());
    show({ loss: losses.at(-1).toFixed(3), step: `${n} / ${steps}` });
    if (n % 5 === 0 || n === steps) plot.setData([losses.map((_, i) => i + 1), losses]);
    await frame();
    if (n % OFTEN === 0) await sample(author, n, going);
  }
}

by("text").value = text;
await guarded(() => offerDevices(torch));
await controlled(run, ["device"]);
