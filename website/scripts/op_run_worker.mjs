// Runs a visitor's op with the package: what the compiler made of it, its tests, a call, and the call's gradient.  The
// page ends this worker to stop it.
import { choose } from "./playground/device.mjs";
import { numbers, runTest } from "./playground/op_tests.mjs";
import { tensorPart, told } from "./playground/parts.mjs";
import { opsOf } from "./playground-package/op.js";
import * as torch from "./playground-package/torch.js";

const FLOATS = ["float64", "float32", "float16", "bfloat16"];

/** An argument of the call: what the visitor wrote, or random numbers, the same each time. */
function argument({ value, tensor, shape, dtype }, differentiable) {
  if (shape === undefined) return value;
  const made =
    tensor !== null
      ? torch.tensor(numbers(tensor), { dtype })
      : dtype === "bool"
        ? torch.rand(shape).gt(0.5)
        : FLOATS.includes(dtype)
          ? torch.randn(shape, { dtype })
          : torch.randint(0, 3, shape, { dtype });
  return differentiable && FLOATS.includes(dtype) ? made.requires_grad_(true) : made;
}

/** The results of the call, and the gradients of the sum of its results, by their names. */
async function call(op, own) {
  torch.manual_seed(1);
  const differentiable = op.derived !== "none",
    names = op.parameters.map(({ name }) => name),
    args = op.arguments.args.map((a) => argument(a, differentiable)),
    options = Object.entries(op.arguments.options).map(([name, a]) => [name, argument(a, differentiable)]),
    given = [...args.map((a, i) => [names[i], a]), ...options];
  const out = own[op.function](...args, ...(options.length ? [Object.fromEntries(options)] : []));
  const results = op.results.length === 1 ? [[op.results[0], out]] : op.results.map((name) => [name, out[name]]),
    changed = op.results.length ? [] : given.filter(([, a]) => torch.is_tensor(a)),
    shown = async ([name, x]) => ({ name, parts: [await tensorPart(x)] });
  const said = { given: await Promise.all(given.filter(([, a]) => torch.is_tensor(a)).map(shown)) };
  said.results = await Promise.all([...results, ...changed].filter(([, x]) => torch.is_tensor(x)).map(shown));
  said.gradients = [];
  const sums = results.filter(([, x]) => torch.is_tensor(x) && x.requires_grad).map(([, x]) => x.sum());
  if (sums.length) {
    sums.reduce((a, b) => a.add(b)).backward();
    const by = given.filter(([, a]) => torch.is_tensor(a) && a.grad);
    said.gradients = await Promise.all(by.map(([name, a]) => shown([name, a.grad])));
  }
  return said;
}

let where = null;
self.onmessage = async ({ data: { id, made, op, tests, device } }) => {
  try {
    where ??= await choose(torch, device);
    const own = opsOf(made),
      usual = torch.defaultDevice();
    // Tests count in doubles, as where the definition is checked, and a GPU has none.
    torch.setDefaultDevice("cpu");
    const found = [];
    for (const test of tests) found.push(await runTest(test, torch, own));
    torch.setDefaultDevice(usual);
    postMessage({ id, tests: found });
    if (op.problem) return postMessage({ id, over: true, failed: op.problem });
    const began = performance.now(),
      said = await call(op, own);
    postMessage({
      id,
      over: true,
      ...said,
      state: `ran ${where} in ${((performance.now() - began) / 1000).toFixed(2)} s`,
    });
  } catch (error) {
    postMessage({ id, over: true, failed: told(error) });
  }
};
postMessage({ ready: true });
