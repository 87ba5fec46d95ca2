// Exported programs that cannot be read, or are called wrongly, say why: node refused.mjs FOLDER
// Prints {name: failure or null}.
import { readFileSync } from "node:fs";
import { refusing } from "./refusals.mjs";
import { zip } from "./zip.mjs";

const { bundle } = await import("../../dist/in-node/runtime/bundle/index.js");
const [folder] = process.argv.slice(2);
const torch = await import("../../dist/in-node/index.js");
const read = (name) => new Uint8Array(readFileSync(`${folder}/${name}.pt2`));
const results = {};
const refuses = refusing(results);

/** The archive of a model, with its JSON changed. */
async function changed(name, change) {
  return zip(read(name), (path, content) => {
    if (!path.endsWith("models/model.json")) return content;
    const json = JSON.parse(new TextDecoder().decode(content));
    change(json);
    return new TextEncoder().encode(JSON.stringify(json));
  });
}

const program = (await torch.export.load(read("dynamic_batch"))).module(),
  ids = torch.zeros([3, 5], { dtype: "int64" }),
  features = torch.zeros([3, 4]);
await refuses("another size", () => program(ids, torch.zeros([3, 5])), "[3, 5]", "axis 1 must be 4");
await refuses("sizes that differ", () => program(ids, torch.zeros([2, 4])), "[2, 4]", "is 3 in an earlier input");
await refuses(
  "a size out of its range",
  () => program(torch.zeros([3, 40], { dtype: "int64" }), features),
  "from 0 to 32",
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
const counted = (await torch.export.load(read("numbers_that_vary"))).module(),
  row = torch.zeros([2, 4]);
for (const [what, number, ...words] of [
  ["a fraction", 2.5, "'args_1' must be a whole number", "2.5"],
  ["a tensor for a number", torch.tensor(3), "'args_1' must be a whole number", "Tensor"],
  ["a number that is too large", 10, "'args_1' is 10", "from 0 to 9"],
])
  await refuses(what, () => counted(row, number), ...words);
const paired = (await torch.export.load(read("dataclasses_of_tensors"))).module(),
  first = { first: row, second: torch.zeros([2, 3]), times: 3 },
  alone = { first: torch.zeros([3, 4]), times: 3 };
results["a field that was None may be left out, or null"] =
  String(Object.keys(paired(first, alone).one)) ===
    String(Object.keys(paired(first, { ...alone, second: null }).one)) && paired(first, alone).one.second === null
    ? null
    : "it may not";
await refuses("a field that was None", () => paired(first, { ...alone, second: row }), "second was None", "Tensor");
await refuses("a field that is missing", () => paired({ first: row, times: 3 }, alone), "'second' is missing");

{
  const open = (x, y, z, v, w) => [torch.zeros([x, 4]), torch.zeros([y, 4]), sized(z, v, w)],
    sized = (...sizes) => Object.fromEntries(["z", "v", "w"].map((name, i) => [name, torch.zeros([sizes[i]])])),
    follows = (await torch.export.load(read("sizes_of_sizes"))).module(),
    compiled = torch.compile(follows);
  for (const [what, sizes, ...words] of [
    ["an odd size that is twice another", [13, 7, 18, 5, 7], "[2*s40, 4]: axis 0", "13, which is 2*s40 of no whole"],
    ["twice what is too small", [2, 2, 3, 5, 7], "2*s40 goes from 4 to 40"],
    ["twice what is too large", [42, 22, 63, 5, 7], "2*s40 goes from 4 to 40"],
    ["one more than another", [12, 8, 18, 5, 7], "axis 0 is 8, which is s40 + 1, and s40 is 6 in an earlier input"],
    ["three times another", [12, 7, 21, 5, 7], "[3*s40]: axis 0 is 21", "s40 is 6"],
    ["a guard", [12, 7, 18, 7, 7], "1 <= args_2_w.shape[0] - args_2_v.shape[0]", "args_2_v.shape[0] is 7"],
    ["the least of a size", [12, 7, 18, 1, 3], "at least 5"],
  ])
    for (const [how, call] of [
      ["called", follows],
      ["compiled", compiled],
    ])
      await refuses(`${what}, ${how}`, () => call(...open(...sizes)), "forward", ...words);
  results["sizes that follow are taken"] = follows(...open(4, 3, 6, 2, 8))[0].shape[0] === 2 ? null : "another shape";
  const whole = await torch.export.load(read("sizes_of_sizes"));
  await refuses("a size that is not said", () => bundle(whole, null, { sizes: { s82: 5 } }), "{s40: 1}");
  const deep = `${"(".repeat(1e5)}1`,
    odd = [
      deep,
      "f(1) > 2",
      "L['args'][0].size()[0] >",
      "L['other'] > 9",
      "1 >",
      "3 < 2 < 1 ]",
      7,
      "L['args'",
      "L[",
      "L['x'].",
      "x - 1 > 0",
    ];
  const bytes = await changed("sizes_of_sizes", (json) => (json.guards_code = odd));
  results["guards that are none"] =
    (await torch.export.load(bytes)).module()(...open(12, 7, 18, 5, 7)).length === 3 ? null : "another answer";
}
{
  const asserting = (await torch.export.load(read("assertions"))).module(),
    compiled = torch.compile(asserting),
    x = torch.zeros([3, 4]),
    at = (...places) => torch.tensor(places, { dtype: "int64" });
  for (let n = 0; n < 3; n++) await compiled(x, at(0, 1, n));
  for (const [how, call] of [
    ["called", asserting],
    ["replayed", compiled],
  ])
    await refuses(`what does not hold, ${how}`, () => call(x, at(0, -1, 2)), "does not hold", "a negative place");
}

await refuses("no archive", () => torch.export.load(new Uint8Array(100)), "no zip archive");
await refuses("a checkpoint", () => torch.export.load("tests/files/net.pt"), "torch.load reads it");

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
  "docs/exported-programs.md",
);
await refuses(
  "a name that nothing makes",
  () => load((json) => nodes(json).splice(0, 1)),
  "which nothing before it makes",
);
for (const target of [
  "_operator.constructor",
  "math.__proto__",
  "torch.ops.higher_order.constructor",
  "torch.ops.aten.constructor.default",
])
  await refuses(`the operator ${target}`, () => load((json) => (nodes(json)[0].target = target)), target);
{
  const rewritten = (text, other) =>
      zip(read("batch_norm_training"), (path, content) =>
        path.endsWith(".json")
          ? new TextEncoder().encode(new TextDecoder().decode(content).replaceAll(text, other))
          : content,
      ),
    module = async (bytes) => (await torch.export.load(bytes)).module();
  // the names that every object of JavaScript has are names like others
  for (const name of [
    ...Object.getOwnPropertyNames(Object.prototype),
    "__proto__.weight",
    "constructor.prototype.weight",
  ]) {
    const made = await module(rewritten('"0.weight"', JSON.stringify(name))),
      named = [...made.named_parameters()].map(([path]) => path);
    results[`a parameter called ${name}`] = !named.includes(name)
      ? `the parameters are called ${named}`
      : Object.getPrototypeOf(made) !== Object.getPrototypeOf(program)
        ? "the module has another prototype"
        : null;
  }
  await refuses("a parameter called forward", () => module(rewritten('"0.weight"', '"forward"')), "forward");
  await refuses(
    "a type called constructor",
    () => module(rewritten(/"dtype": ?7/g, '"dtype":"constructor"')),
    "constructor",
  );
  if ({}.weight !== undefined || torch.nn.Module.prototype.weight !== undefined)
    results["a parameter called __proto__.weight"] = "prototypes were changed";
}
{
  const double = (await torch.export.load(read("vit"), { dtype: "float64" })).module(),
    y = double(torch.zeros([2, 3, 12, 12], { dtype: "float64" }));
  results["loaded as float64"] = y.dtype === "float64" ? null : `its result is of ${y.dtype}`;
  await refuses("floats for doubles", () => double(torch.zeros([2, 3, 12, 12])), "float64", "float32");
}
const { in0 } = await torch.load(`${folder}/batch_norm_training_decomposed.safetensors`),
  counting = await changed("batch_norm_training_decomposed", ({ graph_module: { graph } }) => {
    graph.outputs[0] = { as_int: 3 };
  });
await refuses(
  "a buffer that becomes no tensor",
  async () => (await torch.export.load(counting)).module()(in0),
  "becomes number 3",
);
await refuses("no graph", () => load((json) => delete json.graph_module), "graph_module");

console.log(JSON.stringify(results));
process.exit(0);
