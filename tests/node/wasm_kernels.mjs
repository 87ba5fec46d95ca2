// Prints calls as WebAssembly with the built package: reads [{file, op, args, program, wanted, types}] from the second of
// three paths, the package, calls, answers, and writes the launches of each, with the bytes of their kernels.  For
// tests/test_wasm.py, which prints them in Python.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, calls, answers] = process.argv.slice(2);
const dist = (path) => import(pathToFileURL(join(folder, path)));
const { bind } = await dist("host/bind.js");
const { plan_wasm } = await dist("wasm/plan.js");
const { kernel_bytes, kernel_text, wasm_kernel } = await dist("wasm/module.js");
const { compiled } = await dist("ops/data/complete.js");
const { programOf } = await dist("runtime/program/programs.js");
const { derived } = await dist("runtime/dispatch/derive.js");
const { withFormulas } = await dist("runtime/program/notation-formulas.js");

const out = [];
for (const { file, op: name, args, program, wanted, types } of JSON.parse(await readFile(calls, "utf8"))) {
  const whole = derived(compiled((await dist(`ops/data/${file}.js`))[name]));
  programOf(whole, program).kernels.forEach(withFormulas);
  const { op } = whole;
  const launches = plan_wasm(op, program, bind(op, args), wanted, types);
  out.push(
    launches
      .filter((x) => x !== null)
      .map((x) => {
        const kernel = x.why ? null : wasm_kernel(x, false);
        const bytes = kernel ? kernel_bytes(kernel, false) : [];
        if (kernel) new WebAssembly.Module(Uint8Array.from(bytes));
        return { why: x.why, key: x.key, values: x.values.map(String), bytes, text: kernel ? kernel_text(kernel) : "" };
      }),
  );
}
await writeFile(answers, JSON.stringify(out));
