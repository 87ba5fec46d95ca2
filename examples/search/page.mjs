// The page: sentences ordered by how near their meaning is to what is asked for.
// python3 build.py serve shows where it is, and brings the weights; ?device=cpu&asked=words in the address choose.
import * as torch from "../../dist/index.js";
import { asked, by, frame, guarded, offerDevices, published, show } from "../shared/page.mjs";
import { load } from "./minilm.mjs";

const SHOWN = 10,
  BATCH = 16; // sentences that are embedded at once, between two frames
let network = null,
  sentences = [],
  points = null;

async function begin() {
  const device = by("device").value;
  document.body.dataset.state = "running";
  [network, points] = [null, null];
  show({ where: device === "webgpu" ? "WebGPU" : "CPU", took: "–" });
  network = await load(await published("search/minilm"), device, ({ loaded, total }) =>
    show({ loaded: `${Math.round(loaded / 1e6)} of ${Math.round(total / 1e6)} MB` }),
  );
  await read();
}

/** Embeds the sentences of the page, then answers. */
async function read() {
  document.body.dataset.state = "running";
  sentences = by("text")
    .value.split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  const rows = [];
  for (let n = 0; n < sentences.length; n += BATCH) {
    rows.push(network.embed(sentences.slice(n, n + BATCH)));
    show({ count: `${Math.min(n + BATCH, sentences.length)} / ${sentences.length}` });
    await frame();
  }
  points = rows.length ? torch.cat(rows) : null;
  await answer();
}

let answering = false;

/** Orders the sentences; while it does, only the last of the questions that follow is kept. */
async function answer() {
  if (answering || !points) return;
  answering = true;
  document.body.dataset.state = "running";
  for (let question = null; question !== by("asked").value; ) {
    question = by("asked").value;
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
by("text").addEventListener("change", () => network && guarded(read));
by("device").addEventListener("change", () => guarded(begin));
await guarded(async () => {
  by("text").value = await (await fetch("sentences.txt")).text();
  await offerDevices(torch);
});
await guarded(begin);
