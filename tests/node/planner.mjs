// The package's host code by itself, for tests that ask what a call of an op launches and run nothing.
console.warn = () => {}; // of requirements that warn: what such tests print is JSON
const from = (path) => import(`../../dist/${path}`);
const { bind } = await from("host/bind.js"),
  { plan, plan_cpu } = await from("host/plan.js"),
  { OpError } = await from("runtime/base/errors.js"),
  { compiled } = await from("ops/data/complete.js"),
  { withFormulas } = await from("runtime/program/notation-formulas.js"),
  { programOf } = await from("runtime/program/programs.js"),
  { deriving } = await from("runtime/dispatch/derive.js");

export { bind, OpError, plan, plan_cpu };

/** The schedules that all ops share. */
export const rules = Object.values(await from("ops/data/schedules.js"))
  .map((value) => (typeof value === "function" ? value() : value))
  .find(Array.isArray);

deriving();

/** The ops of files of ops/, by the names of their bindings, with their gradients and those of these, which are derived
 * where the package does not carry them. */
export async function opsOf(files) {
  const ops = {};
  for (const file of files)
    for (const [name, data] of Object.entries(await from(`ops/data/${file}.js`))) {
      const made = compiled(data);
      programOf(made, 2);
      for (const program of made.op.programs) program.kernels.forEach(withFormulas);
      ops[name] = made.op;
    }
  return ops;
}
