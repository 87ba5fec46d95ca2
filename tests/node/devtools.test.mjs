// In a page, Chrome's console shows a tensor's values, size and device, and none of what is inside.
import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.document = {};
const torch = await import("../../dist/in-node/index.js");

test("a formatter for the console shows tensors, and nothing else", () => {
  assert.equal(globalThis.devtoolsFormatters.length, 1);
  const [{ header, hasBody }] = globalThis.devtoolsFormatters,
    x = torch.tensor([[1, 2]], { requires_grad: true });
  assert.deepEqual(header(x), ["span", {}, "tensor([[1., 2.]], requires_grad=True) [1, 2] cpu"]);
  assert.equal(hasBody(x), false);
  assert.match(header(x.data)[2], /^tensor\(\[\[1\., 2\.\]\]\) \[1, 2\] cpu$/);
  assert.equal(header(new torch.nn.Parameter(x.detach()))[2].startsWith("Parameter containing:"), true);
  for (const other of [1, "text", {}, [], null, undefined, new Float32Array(2), torch.nn.ReLU()])
    assert.equal(header(other), null);
});
