// What PyTorch warns of is said on the console, in its words, once; and the call goes on.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as torch from "../../dist/index.js";

const { nn } = torch,
  F = nn.functional;

function said(call) {
  const { warn } = console,
    lines = [];
  console.warn = (line) => lines.push(line);
  try {
    call();
  } finally {
    console.warn = warn;
  }
  return lines;
}

test("an axis that is not given", () => {
  for (const [name, module] of [
    ["softmax", "Softmax"],
    ["log_softmax", "LogSoftmax"],
    ["softmin", "Softmin"],
  ]) {
    const wanted = `Implicit dimension choice for ${name} has been deprecated. Change the call to include dim=X as an argument.`;
    assert.deepEqual(
      said(() => F[name](torch.ones(2, 3), 1)),
      [],
    );
    assert.deepEqual(
      said(() => nn[module](0)(torch.ones(2, 3))),
      [],
    );
    assert.deepEqual(
      said(() => nn[module]()(torch.ones(2, 3))),
      [wanted],
    );
    assert.deepEqual(
      said(() => F[name](torch.ones(4, 3))),
      [],
      "said once",
    );
  }
});

test("a target that broadcasts", () => {
  const x = torch.ones(3, 1),
    kinds = [F.mse_loss, F.l1_loss, F.huber_loss, F.smooth_l1_loss];
  for (const loss of kinds)
    assert.deepEqual(
      said(() => loss(x, torch.zeros(3, 1))),
      [],
    );
  const [line, ...rest] = said(() => kinds.forEach((loss) => loss(x, torch.zeros(3))));
  assert.match(line, /^Using a target size that is different to the input size\. .* broadcasting/);
  assert.deepEqual(rest, []);
});
