// A GPU whose memory is full: the error says what asked for how much, what could not be made is not used again, and the
// program goes on.
import assert from "node:assert/strict";
import test from "node:test";
import * as torch from "../../dist/in-node/index.js";
import { idleDevice } from "./idle_device.mjs";

const MB = 2 ** 20;

/**
 * An idle device with so much memory.  As Dawn does, it hands out dead buffers where there is none, and says so later.
 */
function smallDevice(room) {
  const device = idleDevice(),
    { createBuffer } = device,
    listeners = [],
    scopes = [];
  let used = 0;
  Object.assign(device, {
    sizes: [],
    used: () => used,
    addEventListener: (_, listener) => {
      listeners.push(listener);
    },
    pushErrorScope: (kind) => {
      scopes.push({ kind, error: null });
    },
    popErrorScope: async () => scopes.pop().error,
    createBuffer(wanted) {
      const buffer = createBuffer(wanted),
        { size } = wanted;
      buffer.mapAsync = async function () {
        if (this.dead) throw new Error("Buffer is invalid");
      };
      device.sizes.push(size);
      if (used + size > room) {
        scopes.findLast(({ kind }) => kind === "out-of-memory").error = { message: "vkAllocateMemory failed" };
        return { ...buffer, dead: true };
      }
      used += size;
      return {
        ...buffer,
        destroy() {
          used -= size;
        },
      };
    },
    createBindGroup({ entries }) {
      if (entries.some(({ resource }) => resource.buffer.dead))
        for (const listener of listeners) listener({ error: { message: "[Invalid Buffer (unlabeled)] is invalid." } });
      return {};
    },
  });
  return device;
}

async function fresh(room) {
  const device = smallDevice(room);
  assert.ok(await torch.initWebGPUAsync({ device }));
  return device;
}
const full = (n) => torch.empty([(n * MB) / 4], { device: "webgpu" });

test("the error names the op and the bytes; what was not there is dropped, free buffers are given up, and the program goes on", async () => {
  const device = await fresh(100 * MB),
    wrong = /empty: out of memory on the GPU: 67108864 bytes asked for, where tensors hold 4\d{7} and \d+ were free$/;
  const held = full(40),
    spare = full(20),
    small = torch.tensor([1, 2], { device: "webgpu" });
  spare.dispose();
  const large = full(64),
    sum = large.add(1); // nobody knows yet
  const readings = await Promise.allSettled([small.data(), sum.data()]);
  for (const { reason } of readings)
    assert.ok(reason instanceof torch.DeviceError && wrong.test(reason.message), String(reason));
  assert.equal(device.used() <= 42 * MB, true, "what was free was given up");
  await assert.rejects(large.data(), wrong); // each time
  assert.throws(() => large.mul(2), wrong);
  assert.equal((await small.data()).length, 2); // others are as they were
  assert.ok(Math.abs(torch.memory().webgpu.deviceBytes - device.used()) < 2 * MB, "what was not made does not count");
  for (const x of [large, sum, held]) x.dispose();
  const again = full(64); // in the place of `held`, which is free
  assert.equal(device.sizes.at(-1), 64 * MB, "a new buffer, not the dead one");
  assert.equal((await again.narrow(0, 0, 9).data()).length, 9);
  again.dispose();
  small.dispose();
});

test("what has been free for a while makes room for a large buffer before any has failed; what was freed just now stays, to be used again", async () => {
  const device = await fresh(130 * MB),
    held = full(20),
    spare = [full(40), full(30)];
  for (const x of spare) x.dispose();
  await new Promise((done) => setTimeout(done, 600));
  const large = full(64); // beside those that are free there is no room
  const part = large.narrow(0, 0, 4);
  assert.equal((await part.data()).length, 4);
  assert.ok(device.used() < 90 * MB, `${device.used()} bytes`);
  for (const x of [part, large]) x.dispose();
  const made = device.sizes.length;
  full(32).dispose();
  full(64).dispose();
  assert.equal(device.sizes.length, made + 1, "the 64 MB are used again");
  assert.equal((await held.narrow(0, 0, 4).data()).length, 4);
});

test("a tensor that was disposed of before it is known leaves no dead buffer behind", async () => {
  const device = await fresh(30 * MB);
  full(40).dispose();
  await assert.rejects(torch.tensor([1], { device: "webgpu" }).item(), /empty: out of memory/);
  const count = device.sizes.length;
  full(40).dispose();
  assert.equal(device.sizes.length, count + 1);
  await assert.rejects(torch.tensor([1], { device: "webgpu" }).item(), /empty: out of memory/);
  assert.equal(await torch.tensor([1], { device: "webgpu" }).add(1).item(), 0);
});

test("a reading that finds no memory says so", async () => {
  await fresh(30 * MB);
  const x = full(20);
  await assert.rejects(x.data(), /^DeviceError: reading: out of memory on the GPU: 20971520 bytes asked for/);
  assert.equal((await x.narrow(0, 0, 4).data()).length, 4);
});

test("what kernels told is read again where a reading failed", async () => {
  const device = await fresh(30 * MB),
    x = full(20),
    index = torch.zeros([2], { device: "webgpu", dtype: torch.int32 });
  const { createCommandEncoder } = device,
    picked = x.index_select(0, index),
    copied = [];
  device.createCommandEncoder = () => ({
    ...createCommandEncoder(),
    copyBufferToBuffer(_, __, to, ___, size) {
      copied.push([size, !!to.dead]);
    },
  });
  await assert.rejects(x.data(), /DeviceError: reading: out of memory/);
  assert.deepEqual(copied, [
    [20 * MB, true],
    [16, true],
    [16, false],
  ]);
  assert.equal((await picked.data()).length, 2);
});
