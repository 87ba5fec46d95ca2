// A setting for tests, imported first: each new tensor grows the CPU's linear memory, which takes its buffer from all arrays that are
// held, and finds garbage in its block; what is given back becomes garbage, too.
import { LinearMemory } from "../../dist/runtime/devices/cpu/linear-memory.js";

const { take, give } = LinearMemory.prototype;
const garbage = (memory, block) =>
  new Uint8Array(memory.memory.buffer, memory.address(block), 16 * block.size).fill(0xff); // a NaN, -1

LinearMemory.prototype.take = function (bytes, sure) {
  this.memory.grow(0); // which is growing, too
  this.renewed();
  const block = take.call(this, bytes, sure);
  if (block) garbage(this, block);
  return block;
};
LinearMemory.prototype.give = function (block) {
  garbage(this, block);
  give.call(this, block);
};
