// Device memory of a training loop that disposes of nothing: the collector must keep it flat, though it cannot see the
// GPU's memory.
import assert from "node:assert/strict";
import test from "node:test";
import * as torch from "../../dist/index.js";
import { Arena } from "../../dist/runtime/devices/webgpu/arena.js";
import { idleDevice } from "./idle_device.mjs";

const STEPS = 1500;

// The loop comes last: what it leaves to the collector would count in the others.
test("gradients that nobody read are given back when others take their place, within one task too", async () => {
  assert.ok(await torch.initWebGPUAsync({ device: idleDevice() }));
  const weight = torch.randn([512, 512], { device: "webgpu", requires_grad: true }),
    x = torch.randn([512, 512], { device: "webgpu" });
  const step = (look) =>
    torch.tidy(() => {
      weight.grad = null;
      torch.matmul(x, weight).sum().backward();
      if (look) return weight.grad;
    });
  for (let i = 0; i < 3; i++) step(false);
  const bytes = torch.memory().webgpu.bytes;
  for (let i = 0; i < 50; i++) step(false);
  assert.ok(torch.memory().webgpu.bytes <= bytes);
  const seen = step(true);
  step(false);
  assert.equal((await seen.data()).length, 512 * 512); // what a program has read stays
  // The collector may find things of the first steps meanwhile: weight, x and two gradients are left at least.
  const now = torch.memory().webgpu.bytes;
  assert.ok(4 * seen.numel() * 4 <= now && now <= bytes + seen.numel() * 4, `${now} bytes`);
});

test("places side by side are one buffer, which goes back once nothing will be in them", async () => {
  assert.ok(await torch.initWebGPUAsync({ device: idleDevice() }));
  const { device } = torch.zeros([1], { device: "webgpu" }).storage,
    { pool } = device;
  for (const early of [true, false]) {
    const arena = new Arena(device, [256, 512], "test"),
      [a, b] = [64, 128].map((n, i) => {
        const storage = arena.hold(i, "float32", n, "test");
        return new torch.Tensor(storage, "float32", [n], [1], 0);
      }),
      free = () => {
        const taken = Array.from({ length: 8 }, () => pool.take(arena.whole.size, "test"));
        for (const buffer of taken) pool.give(buffer);
        return taken.includes(arena.whole);
      };
    // As one tensor they have as many elements as their bytes hold, and are not counted again.
    const before = torch.memory().webgpu;
    for (const [dtype, bytes] of Object.entries({ float32: 4, bfloat16: 4, float16: 2, int64: 4, uint8: 4 }))
      for (const [first, count, size] of [
        [0, 1, 256],
        [1, 1, 512],
        [0, 2, 768],
      ])
        assert.deepEqual([...arena.run(first, count, dtype).shape], [size / bytes], dtype);
    assert.deepEqual(torch.memory().webgpu, before);
    if (early) arena.drop();
    a.dispose();
    assert.equal(free(), false);
    b.dispose();
    assert.equal(free(), early);
    if (!early) arena.drop();
    assert.equal(free(), true);
  }
});

test("a tensor may be as large as what a GPU binds, of every type, and no larger", async () => {
  const device = idleDevice(),
    most = 4096;
  device.features.add("shader-f16");
  for (const limit of ["maxBufferSize", "maxStorageBufferBindingSize"]) {
    device.limits = { ...idleDevice().limits, [limit]: most };
    assert.ok(await torch.initWebGPUAsync({ device }));
    for (const dtype of ["float32", "bfloat16", "float16", "int64", "int32", "int16", "int8", "uint8", "bool"]) {
      const bytes = dtype === "float16" ? 2 : 4,
        made = (n) => torch.empty([n], { dtype, device: "webgpu" }).dispose();
      made(most / bytes);
      assert.throws(
        () => made(most / bytes + 1),
        /^DeviceError: empty: a tensor of 4100 bytes is larger than the 4096 that this GPU can bind$/,
      );
    }
  }
});

test("GC pressure comes once between two tasks: within one the collector cannot give anything back", async () => {
  assert.ok(await torch.initWebGPUAsync({ device: idleDevice() }));
  const { ArrayBuffer } = globalThis;
  let made = 0;
  globalThis.ArrayBuffer = class extends ArrayBuffer {
    constructor(bytes) {
      super(bytes);
      if (bytes >= 2 ** 23) made++;
    }
  };
  try {
    const tensors = [];
    for (let i = 0; i < 8; i++) tensors.push(torch.zeros([2 ** 22], { device: "webgpu" }));
    assert.equal(made, 1);
    await new Promise((done) => setImmediate(() => setImmediate(done)));
    tensors.push(torch.zeros([2 ** 22], { device: "webgpu" }));
    assert.equal(made, 2);
    for (const x of tensors) x.dispose();
  } finally {
    globalThis.ArrayBuffer = ArrayBuffer;
  }
});

test("a training loop without dispose keeps its device memory", async () => {
  assert.ok(await torch.initWebGPUAsync({ device: idleDevice() }));
  const { nn, optim } = torch,
    F = nn.functional;
  const net = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10));
  const optimizer = optim.Adam(net.to("webgpu").parameters(), { lr: 1e-3 });
  const x = torch.randn([512, 256], { device: "webgpu" }),
    y = torch.zeros([512], { dtype: torch.int32, device: "webgpu" });
  const top = [0, 0, 0];
  for (let i = 0; i < STEPS; i++) {
    optimizer.zero_grad();
    F.cross_entropy(net(x), y).backward();
    await optimizer.step();
    const third = Math.floor((3 * i) / STEPS);
    top[third] = Math.max(top[third], torch.memory().webgpu.deviceBytes / 2 ** 20);
  }
  const [, warm, last] = top;
  console.log(
    `figure: device memory of ${STEPS} steps without dispose: at most ${top.map((t) => t.toFixed(0)).join(", ")} MiB in each third`,
  );
  // Without collection a step leaves about 2 MiB behind; two hundred lie about where the collector is late.
  assert.ok(last < 1.5 * Math.max(warm, 200), `${warm} MiB, then ${last} MiB`);
  assert.ok(last < STEPS / 2, `${last} MiB`);
});
