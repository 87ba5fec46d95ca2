// Every export is fed with what a program gives by mistake.  Each call answers, or throws one of the package's own
// errors: no TypeError or RangeError from inside, no call that lasts; and an argument that a call cannot do without is
// refused where it is of no kind it takes.  Errors name functions that users know.
import assert from "node:assert/strict";
import { test } from "node:test";
import { feed } from "./garbage/watch.mjs";

const SEED = 20261122;

/** Accepted though strange, and rightly: what goes through these is kept or handed on, as in PyTorch. */
const TAKES_ANYTHING =
  /^(torch\.(is_tensor|sym_ite|utils\.(_pytree\.tree_\w+|data\.(default_convert|SequentialSampler)))|StepLR\.load_state_dict)$/;

const told = (list) =>
  list
    .slice(0, 40)
    .map(({ name, args, wrong, silent }) => `${name}(${args}): ${wrong ?? `accepts argument ${silent}`}`)
    .join("\n");

test("garbage ends in an answer or in an error of the package", { timeout: 300_000 }, async () => {
  const began = Date.now(),
    { found, total } = await feed({ device: "cpu", calls: 12, seed: SEED });
  console.log(`figure: garbage: ${total} exports in ${((Date.now() - began) / 1000).toFixed(0)} s`);
  assert.ok(total > 2000, `${total} exports`);
  assert.equal(told(found.filter(({ wrong }) => wrong)), "");
  assert.equal(told(found.filter(({ silent, name }) => silent && !TAKES_ANYTHING.test(name))), "");
});

test("the same on a GPU, for some exports", { timeout: 300_000 }, async () => {
  const { found } = await feed({ device: "webgpu", calls: 2, seed: SEED + 1, every: 23 });
  assert.equal(told(found.filter(({ wrong }) => wrong)), "");
});
