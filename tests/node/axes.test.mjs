// An axis that a tensor lacks is refused by every function that takes a `dim`: no overload, no shortcut for few elements
// and no default stands in for it.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as torch from "../../dist/in-node/index.js";

const RECORDED = JSON.parse(readFileSync(new URL("../recorded/signatures.json", import.meta.url), "utf8"));
const SPACES = {
  torch,
  "torch.nn.functional": torch.nn.functional,
  "torch.linalg": torch.linalg,
  "torch.special": torch.special,
  "torch.masked": torch.masked,
  "torch.fft": torch.fft,
};
/** What makes a new axis, which may stand one further. */
const LEFT_OUT = /^torch\.(unsqueeze(_copy)?|diag_embed|stack)$/;

/** What an argument may be, by its name, for a tensor of these sizes. */
function given(name, sizes) {
  const floats = () => torch.ones(sizes),
    places = () => torch.zeros(sizes, { dtype: torch.long });
  if (/^(input|self|x|x1|x2|other|src|source|end|y|tensor1|tensor2)$/.test(name)) return floats();
  if (name === "index" || name === "indices") return places();
  if (name === "tensors") return [floats(), floats()];
  if (name === "mask") return torch.ones(sizes, { dtype: torch.bool });
  const numbers = {
    q: 0.5,
    k: 1,
    p: 2,
    maxnorm: 1,
    value: 1,
    start: 0,
    length: 1,
    chunks: 1,
    shifts: 1,
    ord: 2,
    dtype: undefined,
  };
  if (name in numbers) return numbers[name];
  const others = {
    reduce: "sum",
    repeats: 2,
    split_size: 1,
    split_size_or_sections: 1,
    indices_or_sections: 1,
    sizes: [-1],
  };
  return others[name];
}

/** The calls that PyTorch's signatures make, as functions of the axis. */
function calls(sizes) {
  const found = [];
  for (const [full, signatures] of Object.entries(RECORDED)) {
    const [, space, name] = /^(.*)\.(\w+)$/.exec(full),
      f = SPACES[space]?.[name];
    if (typeof f !== "function" || LEFT_OUT.test(full)) continue;
    const takes = signatures.find((s) => /\bdim\b/.test(s));
    if (!takes) continue;
    const options = {};
    for (const part of takes.split(", ").map((p) => p.trim())) {
      const [param, fallback] = part.split("=");
      if (param !== "*" && param !== "dim" && fallback === undefined) options[param] = given(param, sizes);
    }
    found.push([full, (dim) => f({ ...options, dim })]);
  }
  return found;
}

const answered = async (f) => {
  const result = await f();
  for (const x of Array.isArray(result) ? result : [result]) await x?.data?.();
};

for (const sizes of [[3], [2, 3], []])
  test(`of tensors of the size [${sizes}]`, async () => {
    const accepted = [];
    let count = 0;
    for (const [name, call] of calls(sizes)) {
      const legal = await answered(() => call(0)).then(
        () => true,
        () => false,
      );
      if (!legal) continue;
      count++;
      for (const dim of [sizes.length || 1, -1 - (sizes.length || 1), 9]) {
        const error = await answered(() => call(dim)).then(
          () => null,
          (e) => e,
        );
        if (!error) accepted.push(`${name} ${dim}`);
        else assert.ok(error instanceof torch.OpError, `${name} ${dim}: ${error.stack}`);
      }
    }
    assert.deepEqual(accepted, []);
    assert.ok(count > 60, `${count} functions were called`);
  });

/** Those for which an empty list names no axis, as PyTorch answers; for the others it names all. */
const NO_AXIS = /^torch\.(all|any|masked\.prod|squeeze(_copy)?|fft\.i?fft[2n]|nn\.functional\.normalize)$/;

test("an empty list of axes", () => {
  const rank = (call) => {
    try {
      const found = call([]);
      return (found.shape ? found : Object.values(found)[0])?.ndim ?? 0; // `gradient` answers none
    } catch (error) {
      assert.ok(error instanceof torch.OpError, error.stack);
      return null; // only one axis may be named
    }
  };
  const ranks = calls([2, 3]).map(([name, call]) => [name, rank(call)]),
    taken = ranks.filter(([, n]) => n !== null);
  assert.ok(taken.length > 35, `${taken.length} functions take lists of axes`);
  assert.deepEqual(
    taken,
    taken.map(([name]) => [name, NO_AXIS.test(name) ? 2 : 0]),
  );
  assert.equal(taken.filter(([name]) => NO_AXIS.test(name)).length, 10);
});
