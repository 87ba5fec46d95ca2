// Files that are no models of ONNX, or name what there is not, say why: node refused.mjs FOLDER SEED COUNT
// COUNT damaged copies of the models in FOLDER end in an error of the package's own or in an answer.
// Prints {name: failure or null}.
import { readFileSync, readdirSync } from "node:fs";
import { refusing } from "../exchange/refusals.mjs";
import { message } from "./message.mjs";

const [folder, seed, count] = process.argv.slice(2);
const torch = await import("../../dist/in-node/index.js");
const names = readdirSync(folder).filter((f) => f.endsWith(".onnx")),
  read = (name) => new Uint8Array(readFileSync(`${folder}/${name}`));
const results = {};
const refuses = refusing(results);
const node = (op, inputs, outputs, ...more) =>
    message(...inputs.map((n) => [1, n]), ...outputs.map((n) => [2, n]), [4, op], [3, `the ${op}`], ...more),
  float = (name, dims = [1], values = [1]) =>
    message(...dims.map((n) => [1, n]), [2, 1], [8, name], [9, new Uint8Array(Float32Array.from(values).buffer)]),
  named = (name) => message([1, name]),
  model = (graph, version = 20, ...more) =>
    message([1, 10], [8, message([1, ""], [2, version])], [7, message(...graph)], ...more),
  load = (...given) => torch.onnx.load(model(...given));

await refuses("no model", () => torch.onnx.load(new Uint8Array(100)), "no model of ONNX");
await refuses(
  "text",
  () => torch.onnx.load(new TextEncoder().encode("this is a text of some length, not a model")),
  "ONNX",
);
await refuses("an old version of operators", () => load([[1, node("Relu", ["x"], ["y"])]], 99), "version 99");
await refuses(
  "operators that there are not",
  () =>
    load([
      [11, named("x")],
      [1, node("Unheard", ["x"], ["y"])],
      [1, node("Of", ["y"], ["z"], [7, "my.own"])],
    ]),
  "Unheard@20 (the Unheard)",
  "my.own.Of@1 (the Of)",
);
// a name for two values: of weights, inputs and nodes, in a graph, in a branch, and what a function gives back
{
  const relu = (input, output, field = 1) => [field, node("Relu", [input], [output])],
    constant = (name) => [1, node("Constant", [], [name], [5, message([1, "value_float"], [20, 1])])],
    branch = (name, ...graph) => [5, message([1, name], [20, 5], [6, message(...graph, [12, named("z")])])],
    twofold = [relu("x", "z"), relu("x", "z")],
    own = message([1, "f"], [10, "my"], [4, "a"], [5, "b"], [9, message([1, ""], [2, 20])], relu("a", "b", 7)),
    called = (output) => [1, node("f", ["x"], [output], [7, "my"])];
  for (const [what, name, ...graph] of [
    ["a weight and a node", "w", [5, float("w")], relu("x", "w"), relu("w", "y")],
    ["two weights", "w", [5, float("w")], [5, float("w")], relu("x", "y")],
    ["an input and a node", "x", relu("x", "x"), relu("x", "y")],
    ["two nodes", "z", ...twofold, relu("z", "y")],
    ["a constant and a node", "z", constant("z"), relu("x", "z"), relu("z", "y")],
    ["a function's call and a node", "z", relu("x", "z"), called("z"), relu("z", "y")],
    [
      "two nodes of a branch",
      "the If/z",
      [1, node("If", ["x"], ["y"], branch("then_branch", ...twofold), branch("else_branch", relu("x", "z")))],
    ],
  ])
    await refuses(
      `one name for ${what}`,
      () =>
        torch.onnx.load(
          model([[11, named("x")], ...graph, [12, named("y")]], 20, [8, message([1, "my"], [2, 1])], [25, own]),
        ),
      `the name ${name} `,
    );
}
for (const name of ["constructor", "__proto__", "toString", "hasOwnProperty"])
  await refuses(
    `the operator ${name}`,
    () =>
      load([
        [11, named("x")],
        [1, node(name, ["x"], ["y"])],
      ]),
    name,
  );
{
  const dropout = (
    await torch.onnx.load(
      model([
        [11, named("x")],
        [11, named("ratio")],
        [11, named("training")],
        [1, node("Dropout", ["x", "ratio", "training"], ["y"])],
        [12, named("y")],
      ]),
    )
  ).module();
  for (const ratio of [1, -0.5, NaN, 2])
    await refuses(
      `a ratio of ${ratio}`,
      async () => dropout.forward(torch.ones([2]), torch.tensor(ratio), torch.tensor(true)),
      "Dropout",
      "expected a ratio from 0 to below 1",
    );
}
await refuses("a name that nothing makes", () => load([[1, node("Relu", ["x"], ["y"])]]), "uses x, which nothing");
await refuses("an output that nothing makes", () => load([[12, named("y")]]), "nothing makes the output y");
await refuses("too few numbers", () => load([[5, float("w", [7], [1, 2])]]), "w has 8 bytes", "[7]");
await refuses("an absurd shape", () => load([[5, float("w", [2 ** 40, 2 ** 40], [1])]]), "w has");
await refuses(
  "weights elsewhere",
  () => load([[5, message([1, 1], [2, 1], [8, "w"], [14, 1], [13, message([1, "location"], [2, "w.bin"])])]]),
  "w.bin",
  "external",
);
await refuses(
  "weights above its folder",
  () =>
    load([[5, message([1, 1], [2, 1], [8, "w"], [14, 1], [13, message([1, "location"], [2, "../../etc/passwd"])])]]),
  "not below its own folder",
);
await refuses(
  "functions that call themselves",
  () =>
    load(
      [
        [11, named("x")],
        [1, node("f", ["x"], ["y"], [7, "my"])],
      ],
      20,
      [25, message([1, "f"], [10, "my"], [4, "x"], [5, "y"], [7, node("f", ["x"], ["y"], [7, "my"])])],
    ),
  "deep",
);
{
  // each calls the one before twice: 2^40 nodes
  const doubling = Array.from({ length: 40 }, (_, i) => [
    25,
    message(
      [1, `f${i}`],
      [10, "my"],
      [4, "x"],
      [5, "y"],
      [7, i === 0 ? node("Relu", ["x"], ["m"]) : node(`f${i - 1}`, ["x"], ["m"], [7, "my"])],
      [7, i === 0 ? node("Relu", ["m"], ["y"]) : node(`f${i - 1}`, ["m"], ["y"], [7, "my"])],
      [9, message([1, ""], [2, 20])],
    ),
  ]);
  await refuses(
    "functions that double",
    () =>
      load(
        [
          [11, named("x")],
          [1, node("f39", ["x"], ["y"], [7, "my"])],
        ],
        20,
        ...doubling,
      ),
    "nodes",
  );
}
{
  const weird = [
      "a",
      "a.b",
      "/layer/Constant_0",
      "__proto__",
      "constructor",
      "forward",
      "",
      "a..b",
      "toString.x",
      "_parameters",
    ],
    program = await load([
      ...weird.map((name, i) => [5, float(name, [1], [i])]),
      ...weird.slice(0, 6).map((name, i) => [1, node("Identity", [name], [`o${i}`])]),
      ...weird.slice(0, 6).map((_, i) => [12, named(`o${i}`)]),
    ]),
    module = program.module(),
    all = await Promise.all([...module.parameters()].map((p) => p.item())),
    out = await Promise.all(module().map((x) => x.item()));
  results["names of any kind"] =
    String(all.sort()) === "0,1,2,3,4,5,6,7,8,9" && String(out) === "0,1,2,3,4,5" && {}.x === undefined
      ? null
      : `${all}; ${out}; ${Object.keys(program.state_dict)}`;
}

let state = Number(seed);
const random = (n) => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) % n;
results["damaged copies"] = null;
for (let i = 0; i < Number(count); i++) {
  const original = read(names[i % names.length]),
    length = random(4) === 0 ? random(original.length) : original.length,
    copy = original.slice(0, length);
  for (let k = random(8); k >= 0; k--) if (length > 0) copy[random(length)] = random(256);
  const began = performance.now();
  try {
    const program = await torch.onnx.load(copy);
    program.module();
  } catch (error) {
    if (!["FileError", "OpError", "TypeMismatchError"].includes(error.name))
      results["damaged copies"] = `copy ${i}: ${error.stack}`;
  }
  if (performance.now() - began > 5000) results["damaged copies"] = `copy ${i} took ${performance.now() - began} ms`;
}
// a pipe takes long texts piece by piece
process.stdout.write(`${JSON.stringify(results)}\n`, () => process.exit(0));
