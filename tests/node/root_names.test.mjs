// Functions that torch has beside torch.nn.functional and tensors' methods: PyTorch's recorded answers
// (tests/recorded/root_names.py), and functions in place beside what they are in place of.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as torch from "../../dist/in-node/index.js";

const text = (name) => readFileSync(new URL(name, import.meta.url), "utf8");
const { calls } = JSON.parse(text("../recorded/root_names.json"));

const given = (value) =>
  Array.isArray(value)
    ? value.map(given)
    : value?.t
      ? torch.tensor(value.t, { dtype: value.dtype === "int64" ? torch.long : torch.float32 })
      : value;

function near(found, wanted, where) {
  if (Array.isArray(wanted)) {
    assert.equal(found.length, wanted.length, where);
    wanted.forEach((w, i) => near(found[i], w, where));
  } else if (typeof wanted === "number")
    assert.ok(Math.abs(found - wanted) <= 1e-5 * Math.max(1, Math.abs(wanted)), `${where}: ${found}, not ${wanted}`);
  else assert.equal(found, wanted, where);
}

for (const [name, args, wanted] of calls)
  test(`torch.${name}(${args.length} arguments)`, async () => {
    const answer = torch[name](...args.map(given));
    const found =
      answer instanceof torch.Tensor ? await answer.tolist() : await Promise.all([...answer].map((x) => x.tolist()));
    near(found, wanted, name);
  });

test("a reduction is a number from 0 to 2", () => {
  const x = torch.tensor([1, 2]);
  assert.throws(
    () => torch.hinge_embedding_loss(x, x, 1, 3),
    /hinge_embedding_loss: argument 'reduction' must be 0 \(none\)/,
  );
  assert.throws(() => torch.hinge_embedding_loss(x, x, 1, "mean"), /'reduction' must be a whole number/);
});

test("functions in place change their tensor and answer it", async () => {
  const lines = text("../../ops/in_place.names")
    .split("\n")
    .filter((line) => line && line[0] !== "#");
  let count = 0;
  for (const line of lines) {
    const [space, ...names] = line.split(/ +/),
      holder = space === "torch" ? torch : torch.nn.functional;
    for (const name of names) {
      count++;
      const plain = holder[name.slice(0, -1)],
        whole = /^(gcd|lcm)_/.test(name),
        make = () =>
          name === "addmv_"
            ? torch.tensor([1, 2])
            : torch
                .tensor([[[0.25, 0.75]]])
                .mul(whole ? 8 : 1)
                .to(whole ? torch.long : torch.float32);
      const rest = /^addmv_/.test(name)
        ? [torch.ones(2, 3), torch.ones(3)]
        : /^(gcd|lcm|ldexp|xlogy)_/.test(name)
          ? [torch.tensor([2, 3], { dtype: whole ? torch.long : torch.float32 })]
          : /^threshold_/.test(name)
            ? [0.5, -1]
            : /^(clamp|clip)/.test(name)
              ? [0.5]
              : /dropout/.test(name)
                ? [0.5, false]
                : [];
      const x = make(),
        wanted = await plain(make(), ...rest).tolist(),
        answer = holder[name](x, ...rest);
      assert.equal(answer, x, name);
      assert.deepEqual(await x.tolist(), wanted, name);
      const by = make();
      if (!rest.length) assert.equal(holder[name]({ input: by }), by, `${name} by name`);
    }
  }
  assert.ok(count > 70, `${count} functions`);
});
