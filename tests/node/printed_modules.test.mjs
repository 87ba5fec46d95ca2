// Modules print as PyTorch's do (tests/recorded/printed.py).
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as torch from "../../dist/in-node/index.js";

const { modules } = JSON.parse(readFileSync(new URL("../recorded/printed.json", import.meta.url), "utf8"));

test("modules print as PyTorch's do", () => {
  assert.ok(modules.length > 250);
  const other = [];
  for (const [name, args, options, wanted] of modules) {
    const printed = String(torch.nn[name](...args, ...(Object.keys(options).length ? [options] : [])));
    if (printed !== wanted)
      other.push(`${name}(${JSON.stringify(args)}, ${JSON.stringify(options)}): ${printed}, not ${wanted}`);
  }
  assert.deepEqual(other, []);
});

test("a module with a parametrization says so before its name, until that is removed", () => {
  const { weight_norm } = torch.nn.utils.parametrizations,
    { remove_parametrizations } = torch.nn.utils.parametrize,
    module = weight_norm(torch.nn.Linear(3, 4));
  assert.equal(
    String(module),
    `ParametrizedLinear(
  in_features=3, out_features=4, bias=True
  (parametrizations): ModuleDict(
    (weight): ParametrizationList(
      (0): _WeightNorm()
    )
  )
)`,
  );
  assert.match(String(torch.nn.Sequential(module)), /\(0\): ParametrizedLinear\(/);
  assert.equal(String(remove_parametrizations(module, "weight")), "Linear(in_features=3, out_features=4, bias=True)");
});

test("what a lazy module learns later has no values to print", () => {
  for (const [lazy, input, names] of [
    [torch.nn.LazyLinear(3), [2, 4], ["weight", "bias"]],
    [torch.nn.LazyConv2d(3, 1), [2, 4, 1, 1], ["weight", "bias"]],
    [torch.nn.LazyConvTranspose1d(3, 1), [2, 4, 1], ["weight", "bias"]],
    [torch.nn.LazyBatchNorm1d(), [2, 4], ["weight", "bias", "running_mean", "running_var"]],
  ]) {
    const texts = () => names.map((name) => String(lazy[name]).replace(/\n.*/s, ""));
    const kind = (name) => (/running/.test(name) ? "Buffer" : "Parameter");
    assert.deepEqual(
      texts(),
      names.map((name) => `<Uninitialized${kind(name)}>`),
    );
    lazy(torch.ones(...input));
    assert.deepEqual(
      texts().map((text) => text.replace(/\(.*/, "")),
      names.map((name) => (kind(name) === "Buffer" ? "tensor" : "Parameter containing:")),
    );
  }
});
