// Folders of exported networks beside what PyTorch answered (record_models.py): NAME.pt2 and NAME.safetensors.
import { readdirSync } from "node:fs";

/** How far an element may be from PyTorch's, as a share of the largest. */
export const NEAR = 2e-5;
/** Of 16 bits: four of what such a number can tell from 1. */
const NEAR_OF_HALVES = { float16: 2 ** -8, bfloat16: 2 ** -5 };

/** As NEAR, of a program with tensors of these types. */
export const nearOf = (...dtypes) => Math.max(NEAR, ...dtypes.map((dtype) => NEAR_OF_HALVES[dtype] ?? 0));

/** The tensors PREFIX0, PREFIX1, ... of a file, with their numbers; a PREFIX alone is the first. */
export const numbered = (data, prefix) =>
  Object.keys(data)
    .filter((key) => new RegExp(`^${prefix}\\d*$`).test(key))
    .map((key) => [Number(key.slice(prefix.length)), data[key]])
    .sort(([a], [b]) => a - b);

/** The inputs as the program's arguments nest, and what it was exported with that is no tensor. */
export function argumentsOf({ inputs: specs, args, kwargs }, given) {
  const tensors = [...given],
    inputs = specs.flatMap(({ kind, value, given: asked }) =>
      kind === "user" ? [tensors.shift()] : kind === "value" && asked ? [value] : [],
    ),
    build = ({ parts, keys }) =>
      !parts ? inputs.shift() : keys ? Object.fromEntries(keys.map((k, i) => [k, build(parts[i])])) : parts.map(build);
  const placed = build(args);
  return kwargs.parts.length > 0 ? [...placed, build(kwargs)] : placed;
}

/** Prints {name: what `compare` says of the folder's network, null where it is right} as JSON, and ends the process. */
export async function printResults(folder, compare) {
  const results = {};
  for (const file of readdirSync(folder).filter((f) => f.endsWith(".pt2"))) {
    const name = file.slice(0, -".pt2".length);
    try {
      results[name] = await compare(name);
    } catch (error) {
      results[name] = String(error.stack);
    }
  }
  process.stdout.write(`${JSON.stringify(results)}\n`, () => process.exit(0)); // devices keep the process alive otherwise
}
