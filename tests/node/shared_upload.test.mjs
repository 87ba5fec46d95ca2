// Tensors of the CPU that lie in shared memory, as they do once it has threads, go to a GPU.
import assert from "node:assert/strict";
import test from "node:test";
import * as torch from "../../dist/index.js";
import { sharing } from "../../dist/runtime/devices/cpu/threads.js";

if (!process.getBuiltinModule) {
  console.log("Node before 20.16 has no threads here");
  process.exit(0);
}

test("what threads share is uploaded", async () => {
  assert.ok(await torch.initWebGPUAsync(), "no WebGPU in Node");
  torch.set_num_threads(2);
  const x = torch.ones([256, 256], { device: "cpu" });
  for (let tries = 0; sharing.kernels === 0; tries++) {
    assert.ok(tries < 500, "no thread began");
    x.matmul(x).dispose();
    await new Promise((done) => setTimeout(done, 10));
  }
  const product = x.matmul(x);
  assert.ok((await x.data()) instanceof Float32Array);
  assert.equal(await product.to("webgpu").sum().item(), 256 ** 3);
});
