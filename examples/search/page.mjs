// The page: sentences ordered by how near their meaning is to what is asked for.
// python3 build.py serve shows where it is, and brings the weights; ?device=cpu&asked=words in the address choose.
import * as torch from "../../dist/index.js";
import { asked, by, controlled, frame, guarded, offerDevices, published, show } from "../shared/page.mjs";
import { load } from "./minilm.mjs";

const SHOWN = 10,
  BATCH = 16, // sentences that are embedded at once, between two frames
  networks = new Map(); // by device
let network = null,
  sentences = [], // those that are embedded
  points = null,
  answering = false;

/** The network on a device, brought once. */
async function networkOn(device) {
  if (!networks.has(device)) {
    const loaded = ({ loaded, total }) =>
      show({ loaded: `${Math.round(loaded / 1e6)} of ${Math.round(total / 1e6)} MB` });
    networks.set(device, await load(await published("search/minilm"), device, loaded));
  }
  return networks.get(device);
}

/** Embeds the sentences of the page, as far as it is going on, then answers from those. */
async function run(going) {
  const device = by("device").value,
    lines = by("text")
      .value.split("\n")
      .map((line) => line.trim())
      .filter(Boolean),
    rows = [];
  [points, sentences] = [null, []];
  show({ where: device === "webgpu" ? "WebGPU" : "CPU", took: "–", count: `0 / ${lines.length}` });
  network = await networkOn(device);
  for (let n = 0; n < lines.length && going(); n += BATCH) {
    rows.push(network.embed(lines.slice(n, n + BATCH)));
    show({ count: `${Math.min(n + BATCH, lines.length)} / ${lines.length}` });
    await frame();
  }
  if (!rows.length) return by("found").replaceChildren();
  points = torch.cat(rows);
  sentences = lines.slice(0, points.size(0));
  await answer();
}

/** Orders what was read; while it does, only the last of the questions that follow is kept. */
async function answer() {
  if (answering || !points) return;
  answering = true;
  document.body.dataset.state = "running";
  for (let question = null, read = null; points && (question !== by("asked").value || read !== points); ) {
    question = by("asked").value;
    read = points;
    const began = performance.now(),
      alike = points.matmul(network.embed([question]).flatten()),
      best = torch.topk(alike, Math.min(SHOWN, sentences.length)),
      [values, places] = [await best.values.tolist(), await best.indices.tolist()];
    show({ took: `${Math.round(performance.now() - began)} ms` });
    by("found").replaceChildren(...places.map((place, n) => row(sentences[place], values[n])));
    await frame();
  }
  answering = false;
  document.body.dataset.state = "done";
}

function row(sentence, alike) {
  const item = document.createElement("li"),
    bar = document.createElement("span");
  bar.style.width = `${100 * Math.max(alike, 0)}%`;
  item.append(sentence, Object.assign(document.createElement("small"), { textContent: alike.toFixed(2) }), bar);
  return item;
}

by("asked").value = asked("asked", by("asked").value);
by("asked").addEventListener("input", () => guarded(answer));
await guarded(async () => {
  by("text").value = await (await fetch("sentences.txt")).text();
  await offerDevices(torch);
});
await controlled(run, ["device", "text"]);
