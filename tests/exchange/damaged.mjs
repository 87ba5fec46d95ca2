// Damaged archives end in an error of the package's own or in an answer: node damaged.mjs FOLDER SEED COUNT
// COUNT copies have other bytes, COUNT other graphs, which are run as well.  Prints {name: failure or null}.
import { readFileSync } from "node:fs";
import { zip } from "./zip.mjs";

const [folder, seed, count] = process.argv.slice(2);
const torch = await import("../../dist/in-node/index.js");
torch.set_slow_warnings(false);
const PATIENCE = 5000; // ms
/** What a value of a graph becomes. */
const WILD = [0, -1, 1e9, 2 ** 40, 0.5, "", "x", "__proto__", "constructor", null, true, [], {}, [1e9, 1e9], [-1]];

let state = Number(seed);
const random = (n) => ((state = (Math.imul(state, 1664525) + 1013904223) >>> 0) >>> 8) % n;
const read = (name) => new Uint8Array(readFileSync(`${folder}/${name}.pt2`));

function otherBytes(name) {
  const original = read(name),
    length = random(4) === 0 ? random(original.length) : original.length,
    copy = original.slice(0, length);
  for (let k = random(8); k >= 0; k--) if (length > 0) copy[random(length)] = random(256);
  return copy;
}

/** Every place of a JSON value: its container and key. */
function* places(value) {
  if (typeof value !== "object" || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    yield [value, key];
    yield* places(inner);
  }
}

const otherGraph = (name) =>
  zip(read(name), (path, content) => {
    if (!path.endsWith("models/model.json")) return content;
    const json = JSON.parse(new TextDecoder().decode(content)),
      all = [...places(json.graph_module)],
      any = () => all[random(all.length)];
    for (let k = random(3); k >= 0; k--) {
      const [owner, key] = any(),
        [other, its] = any(),
        kind = random(3);
      if (kind === 0) delete owner[key];
      else owner[key] = kind === 1 ? structuredClone(other[its] ?? null) : WILD[random(WILD.length)];
    }
    return new TextEncoder().encode(JSON.stringify(json));
  });

async function inputsOf(name) {
  const recorded = await torch.load(`${folder}/${name}.safetensors`);
  return Object.keys(recorded)
    .filter((key) => /^in\d+$/.test(key))
    .map((key) => recorded[key]);
}

const results = {};
async function damaged(what, names, make) {
  const failures = [];
  for (let i = 0; i < Number(count); i++) {
    const name = names[i % names.length],
      copy = make(name),
      began = performance.now();
    try {
      const module = (await torch.export.load(copy)).module();
      torch.no_grad(() => module(...inputs[name]));
    } catch (error) {
      if (!(error instanceof torch.OpError)) failures.push(`copy ${i} of ${name}: ${error.stack}`);
    }
    const took = performance.now() - began;
    if (took > PATIENCE) failures.push(`copy ${i} of ${name} took ${took} ms`);
  }
  results[what] = failures.slice(0, 3).join("\n") || null;
}

const names = ["vit", "lstm_tagger", "batch_norm_training_decomposed", "detector_head", "scanned", "experts"],
  inputs = Object.fromEntries(await Promise.all(names.map(async (name) => [name, await inputsOf(name)])));
await damaged("other bytes", ["vit", "lstm_tagger"], otherBytes);
await damaged("another graph", names, otherGraph);
console.log(JSON.stringify(results));
process.exit(0);
