// Device memory of a training loop that disposes of nothing: the collector must keep it flat, though it cannot see the GPU's memory.
import assert from "node:assert/strict";
import test from "node:test";
import * as torch from "../../dist/index.js";
import { idleDevice } from "./idle_device.mjs";

const STEPS = 1500;

test("a training loop without dispose keeps its device memory", async () => {
  assert.ok(await torch.initWebGPUAsync({ device: idleDevice() }));
  const { nn, optim } = torch, F = nn.functional;
  const net = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10));
  const optimizer = optim.Adam(net.to("webgpu").parameters(), { lr: 1e-3 });
  const x = torch.randn([512, 256], { device: "webgpu" }), y = torch.zeros([512], { dtype: torch.int32, device: "webgpu" });
  const top = [0, 0, 0];
  for (let i = 0; i < STEPS; i++) {
    optimizer.zero_grad();
    F.cross_entropy(net(x), y).backward();
    await optimizer.step();
    const third = Math.floor((3 * i) / STEPS);
    top[third] = Math.max(top[third], torch.memory().webgpu.deviceBytes / 2 ** 20);
  }
  const [, warm, last] = top;
  console.log(`figure: device memory of ${STEPS} steps without dispose: at most ${top.map((t) => t.toFixed(0)).join(", ")} MiB in each third`);
  // Without collection a step leaves about 2 MiB behind.
  assert.ok(last < 1.25 * warm, `${warm} MiB, then ${last} MiB`);
  assert.ok(last < STEPS / 2, `${last} MiB`);
});
