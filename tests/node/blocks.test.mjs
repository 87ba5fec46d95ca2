// The allocator of the CPU's linear memory against a random trace: no two blocks overlap, none lies outside, what is
// given back can be had again, and all of it is one block once all is given back.
import assert from "node:assert/strict";
import test from "node:test";
import { Blocks } from "../../dist/runtime/devices/cpu/blocks.js";
import { linear } from "../../dist/runtime/devices/cpu/linear-memory.js";

/** Numbers from 0 up to `n`, the same in each run. */
function numbers(seed) {
  let state = seed;
  return (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

/** Mostly small blocks, some large ones, and many of a few sizes, as programs ask for. */
function sizeBy(random) {
  const kind = random(10);
  if (kind < 5) return 1 + random(40);
  if (kind < 8) return [16, 100, 256, 4096, 65536][random(5)];
  return 1 + random(2 ** random(18));
}

/** `steps` of taking and giving back, more of the one, then more of the other. */
function trace(blocks, steps, random, check) {
  const taken = [];
  let live = 0,
    peak = 0;
  for (let step = 0; step < steps; step++) {
    const filling = random(100) < (Math.floor(step / 500) % 2 ? 40 : 60);
    if (filling || !taken.length) {
      const size = sizeBy(random);
      let block = blocks.take(size);
      if (!block) {
        blocks.extend(Math.max(size, 4096));
        block = blocks.take(size);
      }
      assert.equal(block.size, size);
      taken.push(block);
      live += size;
      peak = Math.max(peak, live);
    } else {
      const at = random(taken.length),
        block = taken[at];
      taken[at] = taken.at(-1);
      taken.pop();
      live -= block.size;
      blocks.give(block);
    }
    assert.equal(blocks.taken, live);
    if (step % 100 === 0) check(taken);
  }
  return { taken, peak };
}

/** Blocks lie within the memory, none on another one. */
function apart(blocks, taken) {
  let end = 0;
  for (const { at, size } of [...taken].sort((a, b) => a.at - b.at)) {
    assert.ok(at >= end, `a block at ${at}, the one before ends at ${end}`);
    end = at + size;
  }
  assert.ok(end <= blocks.size);
}

for (const seed of [1, 2, 3]) {
  test(`blocks neither overlap nor get lost (${seed})`, () => {
    const blocks = new Blocks(),
      random = numbers(seed);
    const { taken, peak } = trace(blocks, 20_000, random, (list) => apart(blocks, list));
    assert.ok(blocks.size < 1.35 * peak, `${blocks.size} units for ${peak} at most at a time`);
    while (taken.length) blocks.give(taken.splice(random(taken.length), 1)[0]);
    assert.equal(blocks.taken, 0);
    const all = blocks.take(blocks.size); // free neighbours are one block, whatever the order
    assert.deepEqual([all?.at, all?.size], [0, blocks.size]);
    assert.equal(blocks.take(1), null);
  });
}

test("a size asked for again and again takes one block", () => {
  const blocks = new Blocks();
  blocks.extend(10_000);
  const first = blocks.take(1001),
    place = first.at;
  blocks.give(first);
  for (let n = 0; n < 100; n++) {
    const block = blocks.take(1001);
    assert.equal(block.at, place);
    blocks.give(block);
  }
});

test("taking and giving back take some tens of nanoseconds, also among many free blocks", () => {
  const blocks = new Blocks(),
    random = numbers(4),
    held = [];
  blocks.extend(2 ** 24);
  for (let n = 0; n < 20_000; n++) held.push(blocks.take(1 + random(64)));
  for (let n = 0; n < held.length; n += 2) blocks.give(held[n]);
  let best = Infinity;
  for (let round = 0; round < 20; round++) {
    const began = performance.now();
    for (let n = 0; n < 10_000; n++) blocks.give(blocks.take(1 + (n & 63)));
    best = Math.min(best, performance.now() - began);
  }
  const ns = (best * 1e6) / 10_000;
  console.log(`figure: a block is taken and given back in ${ns.toFixed(0)} ns`);
  assert.ok(ns < 2000, `${ns} ns`);
});

test("elements lie at multiples of 16 bytes, and what is too much is no block", () => {
  const memory = linear();
  for (const bytes of [1, 3, 16, 17, 1000]) {
    const block = memory.take(bytes);
    assert.equal(memory.address(block) % 16, 0);
    assert.equal(memory.elements("uint8", block, bytes).length, bytes);
  }
  assert.equal(memory.take(2 ** 33), null);
});
