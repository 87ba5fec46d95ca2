// What the constants of a model decide is known once: a call launches what depends on its inputs.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import * as torch from "../../dist/in-node/index.js";
import * as onnx from "../../dist/in-node/runtime/onnx/both-ways.js";
import { idleDevice } from "./idle_device.mjs";

test("places that a file says are not asked for with each call", async () => {
  const folder = mkdtempSync(join(tmpdir(), "constants-")),
    file = join(folder, "model.onnx"),
    more = torch.tensor([1, 2, 3]),
    at = torch.tensor([2, 0], { dtype: "int64" });
  await onnx.export((x) => torch.cat([x.add(more).index(at), x.mul(more)]), [torch.ones([3])], file);
  assert.ok(await torch.initWebGPUAsync({ device: idleDevice() }));
  const model = (await torch.onnx.load(file, "webgpu")).module(),
    x = torch.ones([3], { device: "webgpu" }),
    made = () => Object.fromEntries(torch.memory().webgpu.origins.map(({ op, buffers }) => [op, buffers])),
    kept = [model(x), model(x)],
    before = made();
  kept.push(model(x));
  const now = made();
  assert.deepEqual(
    Object.keys(now)
      .filter((op) => now[op] !== before[op])
      .sort(),
    ["add", "cat", "index_select", "mul", "to"], // the places are brought to the device
  );
  assert.equal(kept.length, 3);
  rmSync(folder, { recursive: true });
});
