// What a bundle refuses, when it is made and when it runs, and what it says: node refused.mjs OUT
// Prints {name: failure or null} as JSON.
import { pathToFileURL } from "node:url";

const [out] = process.argv.slice(2);
const torch = await import("../../dist/in-node/index.js"),
  { bundle } = await import("../../dist/in-node/runtime/bundle/index.js"),
  { nn } = torch;

const made = await bundle(nn.Embedding(5, 3), [torch.tensor([1, 2], { dtype: "int64" })]);
await made.save(out);
const { inputs, load } = await import(`${pathToFileURL(out)}/model.mjs`),
  model = await load({ device: "cpu" }),
  program = await torch.export.load(new URL("../files/exported.pt2", import.meta.url));

/** By name: what is done, and what the error says. */
const CASES = {
  random: [() => bundle(nn.Dropout(0.5), [torch.ones([3])]), /dropout draws random numbers/],
  type: [() => bundle(nn.ReLU(), [torch.ones([3], { dtype: "bfloat16" })]), /tensors of bfloat16 cannot be bundled/],
  args: [() => bundle(nn.ReLU()), /argument 'args' is missing/],
  model: [() => bundle(7, []), /must be a module, a function or an exported program/],
  size: [() => bundle(program), /say how large s\d+ is/],
  shared: [
    () => {
      const x = torch.ones([4]);
      return bundle((a, b) => a.add(b), [x, x.reshape([2, 2]).index(0, 0)]);
    },
    /two arguments share memory/,
  ],
  missing: [() => model.run({}), /input "input" takes 2 numbers, \[2\] of int64; got nothing/],
  length: [() => model.run([[1, 2, 3]]), /got 3/],
  bounds: [() => model.run([[1, 9]]), /out of bounds/],
  weights: [
    () => load({ device: "cpu", weights: new Uint8Array([2, 0, 0, 0, 0, 0, 0, 0, 123, 125]) }),
    /has no weight/,
  ],
};
const results = {};
for (const [name, [f, wanted]] of Object.entries(CASES)) {
  let said = "nothing";
  try {
    await f();
  } catch (error) {
    said = error.message;
  }
  results[name] = wanted.test(said) ? null : `says ${said}`;
}
results.inputs =
  JSON.stringify(inputs) === '[{"name":"input","dtype":"int64","shape":[2]}]' ? null : JSON.stringify(inputs);
results.sized =
  (await bundle(program, null, { sizes: { [program.input_specs[0].shape[0]]: 2 } })).files.size === 4 ? null : "files";
console.log(JSON.stringify(results));
process.exit(0);
