// What becomes of the CPU's linear memory: where a program never lets go, and where there is no more of it.
import assert from "node:assert/strict";
import test from "node:test";
import * as torch from "../../dist/index.js";
import { linear } from "../../dist/runtime/devices/cpu/linear-memory.js";

const MB = 2 ** 20;

test("nothing is taken before the first tensor", () => {
  assert.equal(linear().bytes, 0);
});

test("a loop that never lets go does not pile up what it drops", async () => {
  const one = torch.ones([MB / 4]);
  let sum = one;
  for (let i = 0; i < 1500; i++) sum = sum.add(one); // 1.5 GiB in one task
  assert.ok(linear().bytes < 600 * MB, `${linear().bytes} bytes of linear memory`);
  assert.ok(process.memoryUsage().rss < 1200 * MB, `${process.memoryUsage().rss} bytes in all`);
  assert.equal((await sum.data())[7], 1501);
  await new Promise((done) => setTimeout(done, 50));
  assert.equal(
    await torch
      .ones([1000])
      .add(sum.narrow(0, 5, 1000))
      .max()
      .item(),
    1502,
  );
});

test("what one task uses again and again is copied in once, and what it drops is not", async () => {
  await new Promise((done) => setTimeout(done, 50));
  const weights = Array.from({ length: 40 }, () => torch.ones([4 * MB])), // 640 MiB, more than a task may take
    inside = () => weights.filter((w) => w.storage.cell.buffer).length,
    begun = inside();
  assert.ok(begun < 40, `${begun} of 40 are there at once`);
  for (let call = 0; call < 10; call++) torch.tidy(() => weights.forEach((w) => w.narrow(0, 5, 1000).max()));
  assert.equal(inside(), 40);
  assert.equal(await weights[39].narrow(0, 7, 2).sum().item(), 2);
  weights.forEach((w) => w.dispose());
});

test("where there is no more of it, tensors and kernels find room elsewhere", async () => {
  const memory = linear(),
    taken = [];
  // The large ones first: what grows memory is slow.
  for (const size of [2 ** 30, 2 ** 26, MB, 2 ** 16])
    for (let block = memory.take(size, true); block; block = memory.take(size, true)) taken.push(block);
  assert.ok(memory.bytes <= 2 ** 32);
  const side = 256,
    x = torch.arange(side ** 2).div(side ** 2),
    y = x.mul(2).reshape([side, side]);
  assert.ok(!x.storage.cell.buffer, "there was room for x");
  assert.equal(await y.matmul(torch.eye(side)).sub(y).abs().max().item(), 0);
  assert.equal(
    await torch
      .arange(side ** 2)
      .max()
      .item(),
    side ** 2 - 1,
  );
  await assert.rejects(
    async () => torch.zeros([2 ** 30], { dtype: torch.float64 }),
    /zeros: 1073741824 elements of float64 are 8.00 GiB: too large for the cpu/,
  );
  for (const block of taken) memory.give(block);
  assert.equal(
    (await x
      .add(y.reshape([-1]))
      .sum()
      .item()) > 0,
    true,
  );
});
