// Every operator of ATen that was found here when its name was recorded (aten_names.txt) is found: node found.mjs
// Prints {name: failure or null} as JSON.
import { readFileSync } from "node:fs";

const { findOperator } = await import("../../dist/runtime/exchange/operators.js");
const names = readFileSync(new URL("aten_names.txt", import.meta.url), "utf8")
  .trim()
  .split(/\s+/);
const failureOf = (name) => (findOperator(`torch.ops.aten.${name}`) ? null : "no operator of this name");
process.stdout.write(`${JSON.stringify(Object.fromEntries(names.map((name) => [name, failureOf(name)])))}\n`, () =>
  process.exit(0),
);
