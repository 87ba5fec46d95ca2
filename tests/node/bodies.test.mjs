// What stands under `with` in Python is a function here.  It is the last argument, with options before it by place or by
// name, as PyTorch has them; it may stand before options as well; and who forgets it is told so.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as torch from "../../dist/in-node/index.js";

const product = () => torch.mm(torch.ones(2, 2), torch.ones(2, 2)).dtype;
const { autocast } = torch,
  { detect_anomaly } = torch.autograd;

test("torch.autocast as it is written in PyTorch", () => {
  for (const [wanted, args] of [
    ["bfloat16", ["cpu", product]],
    ["float16", ["cpu", { dtype: torch.float16 }, product]],
    ["float16", ["cpu", product, { dtype: torch.float16 }]],
    ["float16", ["cpu", torch.float16, product]],
    ["bfloat16", ["cpu", null, true, product]],
    ["float32", ["cpu", torch.float16, false, product]],
    ["float16", ["cpu", torch.float16, true, false, product]],
    ["float32", ["cpu", torch.float16, { enabled: false }, product]],
    ["float32", ["cpu", { enabled: false, cache_enabled: false }, product]],
    ["float32", ["cpu", { enabled: false, cacheEnabled: true }, product]],
    ["float16", [{ device_type: "cpu", dtype: torch.float16 }, product]],
    ["bfloat16", [{ device_type: "cpu", body: product }]],
    ["bfloat16", ["cpu", { body: product }]],
  ])
    for (const call of [autocast, torch.amp.autocast]) assert.equal(call(...args), wanted, String(args));
  assert.equal(product(), "float32");
});

test("other functions with a body take it behind their options", async () => {
  const recording = () => torch.is_grad_enabled(),
    drawn = () => torch.rand(1).item();
  torch.manual_seed(0);
  const first = await drawn();
  for (const args of [
    [drawn],
    [[], drawn],
    [[], true, drawn],
    [{ enabled: true }, drawn],
    [drawn, { enabled: true }],
  ]) {
    torch.manual_seed(0);
    await torch.random.fork_rng(...args);
    assert.equal(await drawn(), first, String(args));
  }
  for (const args of [[recording], [true, recording], [{ mode: true }, recording]])
    assert.equal(torch.inference_mode(...args), false, String(args));
  assert.equal(torch.inference_mode({ mode: false }, recording), true);
  const checks = () => torch.is_anomaly_check_nan_enabled();
  for (const args of [[checks], [true, checks], [{ check_nan: true }, checks], [checks, true]])
    assert.equal(detect_anomaly(...args), true, String(args));
  for (const args of [
    [false, checks],
    [{ check_nan: false }, checks],
    [checks, { check_nan: false }],
  ])
    assert.equal(detect_anomaly(...args), false, String(args));
});

test("a body that is missing is asked for in words of Python", () => {
  for (const [name, call] of Object.entries({
    autocast: () => autocast("cpu"),
    "autocast ": () => autocast("cpu", { dtype: torch.bfloat16 }),
    no_grad: () => torch.no_grad(),
    enable_grad: () => torch.enable_grad(),
    inference_mode: () => torch.inference_mode(),
    fork_rng: () => torch.random.fork_rng(),
    detect_anomaly: () => torch.autograd.detect_anomaly(),
    record_function: () => torch.profiler.record_function("a"),
  }))
    assert.throws(call, (error) => {
      assert.ok(error instanceof torch.TypeMismatchError);
      assert.match(error.message, new RegExp(`^${name.trim()}: missing required argument 'body'.*\`with\``));
      return true;
    });
  for (const wrong of ["a", NaN, null, Symbol("s"), 1])
    for (const call of [torch.inference_mode, detect_anomaly, torch.set_grad_enabled])
      assert.throws(
        () => call(wrong, product),
        /^\w+Error: \w+: argument '(mode|check_nan)' must be true or false, got/,
      );
  assert.throws(() => autocast("cpu", { dtyp: torch.bfloat16 }, product), /did you mean 'dtype'/);
  assert.throws(() => autocast("cpu", torch.float32, product), /'dtype' must be "float16" or "bfloat16"/);
  assert.throws(() => autocast("cuda", product), /"cpu" and "webgpu"/);
});
