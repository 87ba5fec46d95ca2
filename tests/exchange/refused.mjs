// Exported programs that cannot be read, or are called wrongly, say why: node refused.mjs FOLDER SEED COUNT
// COUNT damaged copies of archives end in an error of the package's own or in an answer.  Prints {name: failure or null}.
import { readFileSync } from "node:fs";
import { zip } from "./zip.mjs";

const [folder, seed, count] = process.argv.slice(2);
const torch = await import("../../dist/index.js");
const read = (name) => new Uint8Array(readFileSync(`${folder}/${name}.pt2`));
const results = {};

async function refuses(name, act, ...words) {
  try {
    await act();
    results[name] = "it was accepted";
  } catch (error) {
    const missing = words.filter((word) => !error.message.includes(word)),
      typed = ["FileError", "OpError", "TypeMismatchError"].includes(error.name);
    results[name] = typed && missing.length === 0 ? null : `${error.name}: ${error.message} (without ${missing})`;
  }
}

const program = (await torch.export.load(read("dynamic_batch"))).module(),
  ids = torch.zeros([3, 5], { dtype: "int64" }),
  features = torch.zeros([3, 4]);
await refuses("another size", () => program(ids, torch.zeros([3, 5])), "[3, 5]", "axis 1 must be 4");
await refuses("sizes that differ", () => program(ids, torch.zeros([2, 4])), "[2, 4]", "is 3 in an earlier input");
await refuses(
  "a size out of its range",
  () => program(torch.zeros([3, 40], { dtype: "int64" }), features),
  "from 2 to 32",
);
await refuses("another type", () => program(ids.to("float32"), features), "must be of", "got float32");
await refuses("no tensor", () => program(ids, 3), "must be a tensor", "3");
await refuses("too few arguments", () => program(ids), "missing required argument");
await refuses("too many arguments", () => program(ids, features, features), "takes 2 arguments", "got 3");
const nested = (await torch.export.load(read("nested_arguments"))).module(),
  two = torch.zeros([2, 3]);
await refuses("a list that is too short", () => nested([two], { extra: { c: torch.zeros([2]) } }), "list of 2");
await refuses(
  "another key",
  () => nested([two, { b: two }], { extra: { d: torch.zeros([2]) } }),
  "extra must have the keys c",
  "'c' is missing",
);
await refuses("no archive", () => torch.export.load(new Uint8Array(100)), "no zip archive");
await refuses("a checkpoint", () => torch.export.load("tests/files/net.pt"), "torch.load reads it");

/** The archive of a model, with its JSON changed. */
async function changed(name, change) {
  return zip(read(name), (path, content) => {
    if (!path.endsWith("models/model.json")) return content;
    const json = JSON.parse(new TextDecoder().decode(content));
    change(json);
    return new TextEncoder().encode(JSON.stringify(json));
  });
}
const load = async (change) => torch.export.load(await changed("vit", change));
const nodes = (json) => json.graph_module.graph.nodes;
await refuses("another version", () => load((json) => (json.schema_version.major = 9)), "9.", "8.x are read");
await refuses(
  "operators that there are not",
  () =>
    load((json) =>
      nodes(json)
        .slice(0, 2)
        .forEach((node, i) => (node.target = `torch.ops.mine.op${i}.default`)),
    ),
  "torch.ops.mine.op0.default",
  "torch.ops.mine.op1.default",
);
await refuses(
  "a name that nothing makes",
  () => load((json) => nodes(json).splice(0, 1)),
  "which nothing before it makes",
);
await refuses("no graph", () => load((json) => delete json.graph_module), "graph_module");

let state = Number(seed);
const random = (n) => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) % n;
const originals = ["vit", "lstm_tagger", "as_saved_by_2_5", "nested_arguments"].map(read);
results["damaged copies"] = null;
for (let i = 0; i < Number(count); i++) {
  const original = originals[i % originals.length],
    length = random(4) === 0 ? random(original.length) : original.length,
    copy = original.slice(0, length);
  for (let k = random(8); k >= 0; k--) if (length > 0) copy[random(length)] = random(256);
  const began = performance.now();
  try {
    await torch.export.load(copy);
  } catch (error) {
    if (!["FileError", "OpError", "TypeMismatchError"].includes(error.name))
      results["damaged copies"] = `copy ${i}: ${error.stack}`;
  }
  if (performance.now() - began > 5000) results["damaged copies"] = `copy ${i} took ${performance.now() - began} ms`;
}
console.log(JSON.stringify(results));
process.exit(0);
