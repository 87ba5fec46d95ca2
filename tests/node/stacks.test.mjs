// The stack of an error of the package begins at the line of the program that called it.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import * as modules from "../../dist/in-node/index.js";

const script = createRequire(import.meta.url)("../../dist/index.cjs");
const first = (error) => error.stack.split("\n").find((line) => /^\s+at /.test(line));

for (const [name, torch] of Object.entries({ modules, script })) {
  const a = torch.ones([2, 3]),
    net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Linear(4, 3));
  const CALLS = {
    "a method": () => a.matmul(a),
    "a function": () => torch.matmul(a, a),
    "an overloaded function": () => torch.sum(a, { dims: 1 }),
    "a function by hand": () => torch.cat([a, 7]),
    "a view": () => a.view(5),
    "a constructor": () => torch.nn.Linear(2),
    "a module in a module": () => net(torch.ones([1, 2])),
    "the way back": () => a.backward(),
    "an optimizer": () => torch.optim.SGD(net.parameters(), { lr: -1 }),
    "a hook of one's own": () => {
      net[0].register_forward_hook(() => a.matmul(a));
      net[0](torch.ones([1, 2]));
    },
    "an async function": () => torch.allclose(a, torch.ones([5])),
  };
  for (const [what, call] of Object.entries(CALLS)) {
    test(`${name}: ${what}`, async () => {
      const limit = Error.stackTraceLimit;
      let error = null;
      try {
        await call();
      } catch (e) {
        error = e;
      }
      assert.ok(error instanceof torch.OpError, String(error));
      assert.match(first(error), /stacks\.test\.mjs/);
      assert.ok(error.stack.startsWith(`${error.name}: ${error.message}\n`), error.stack);
      assert.equal(Error.stackTraceLimit, limit);
      assert.ok(error.stack.split("\n    at ").length <= limit + 1);
    });
  }
}

for (const [name, torch] of Object.entries({ modules, script }))
  test(`${name}: detect_anomaly names the program's line that made a NaN's function`, () => {
    const detected = () =>
      torch.autograd.detect_anomaly(() => torch.zeros([1], { requires_grad: true }).sqrt().mul(0).sum().backward());
    assert.throws(detected, (error) => {
      const [, trace] = error.message.split("Traceback of the forward call that caused the error:\n");
      assert.match(trace.split("\n")[0], /^\s+at .*stacks\.test\.mjs/);
      return error instanceof torch.AutogradError;
    });
  });

test("a stack may be set, as anybody's", () => {
  const error = new modules.OpError("message");
  error.stack = "another";
  assert.equal(error.stack, "another");
  assert.match(first(new modules.OpError("made by a program")), /stacks\.test\.mjs/);
});
