// Plans calls with the built package: reads [{file, op, args, program, wanted, facts, scheduled}] from the second
// of three paths, the package, calls, answers, and writes the launches of each as JSON.  For
// tests/test_same_kernels.py, which plans them in Python.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, calls, answers] = process.argv.slice(2);
const dist = (path) => import(pathToFileURL(join(folder, path)));
const { bind } = await dist("host/bind.js");
const { plan } = await dist("host/plan.js");
const { schedules } = await dist("ops/data/schedules.js");
const { compiled } = await dist("ops/data/complete.js");
const { withFormulas } = await dist("runtime/program/notation-formulas.js");
const { programOf } = await dist("runtime/program/programs.js");
(await dist("runtime/dispatch/derive.js")).deriving();

const out = [];
for (const { file, op: name, args, program, wanted, facts, scheduled } of JSON.parse(await readFile(calls, "utf8"))) {
  const made = compiled((await dist(`ops/data/${file}.js`))[name]),
    { op } = made;
  // Every order before: tensors of gradients that are derived are slots of the op.
  for (let order = 0; order < 3; order++) programOf(made, order)?.kernels.forEach(withFormulas);
  try {
    const launches = plan(op, program, bind(op, args), wanted, facts, scheduled ? schedules : []);
    out.push(launches.map((x) => ({ ...x, uniforms: x.uniforms.map(String) })));
  } catch (error) {
    if (error.name !== "OpError") throw error;
    out.push(error.message);
  }
}
await writeFile(answers, JSON.stringify(out));
