// Which parts of a growing memory are taken: blocks, side by side, every free one in the list of its class of sizes.
// Taking and giving cost the same however many there are; free neighbours are one block.  Knows no bytes: places and
// sizes count units.

/** Classes: each size below STEPS is one, and from there on each power of two has STEPS. */
const STEPS = 16,
  BITS = 4;
const CLASSES = STEPS * 26;
/** How many of its own class are looked at, which need not be large enough, before one of a larger class is cut. */
const LOOKS = 4;

export interface Block {
  at: number;
  size: number;
  free: boolean;
  /** Its neighbours in memory. */
  before: Block | null;
  after: Block | null;
  /** The others of its class, while it is free. */
  last: Block | null;
  next: Block | null;
}

function classOf(size: number): number {
  if (size < STEPS) return size;
  const power = 31 - Math.clz32(size);
  return ((power - BITS + 1) << BITS) + ((size >>> (power - BITS)) & (STEPS - 1));
}

export class Blocks {
  /** The size of all, and of what is taken. */
  size = 0;
  taken = 0;
  private readonly lists = new Array<Block | null>(CLASSES).fill(null);
  /** A bit for each class that has a free block. */
  private readonly some = new Int32Array(CLASSES / 32);
  private end: Block | null = null;

  /** A block of `size` units, at least one; null where none is free. */
  take(size: number): Block | null {
    const found = this.find(size);
    if (!found) return null;
    this.taken += size;
    const rest = found.size - size;
    if (rest === 0) {
      this.unlist(found);
      return found;
    }
    // The front is taken; what is left mostly stays in its list.
    const moves = classOf(rest) !== classOf(found.size),
      { before, at } = found;
    if (moves) this.unlist(found);
    const block: Block = { at, size, free: false, before, after: found, last: null, next: null };
    if (before) before.after = block;
    found.before = block;
    found.at = at + size;
    found.size = rest;
    if (moves) this.list(found);
    return block;
  }

  give(block: Block): void {
    const { before, after } = block;
    this.taken -= block.size;
    if (after?.free) {
      this.unlist(after);
      this.join(block, after);
    }
    if (before?.free) {
      this.unlist(before);
      this.join(before, block);
      this.list(before);
    } else this.list(block);
  }

  /** So many units more, behind all others. */
  extend(size: number): void {
    const block: Block = { at: this.size, size, free: false, before: this.end, after: null, last: null, next: null };
    if (this.end) this.end.after = block;
    this.end = block;
    this.size += size;
    this.taken += size;
    this.give(block);
  }

  private find(size: number): Block | null {
    const own = classOf(size);
    let block: Block | null = this.lists[own] ?? null;
    for (let looks = 0; block && looks < LOOKS; looks++, block = block.next) if (block.size >= size) return block;
    // All of a larger class are large enough.
    const first = own + 1;
    for (let word = first >> 5, mask = -1 << first; word < this.some.length; word++, mask = -1) {
      const bits = this.some[word]! & mask;
      if (bits) return this.lists[32 * word + 31 - Math.clz32(bits & -bits)]!;
    }
    return null;
  }

  /** `b`, which lies behind `a`, becomes part of it. */
  private join(a: Block, b: Block): void {
    a.size += b.size;
    a.after = b.after;
    if (b.after) b.after.before = a;
    else this.end = a;
  }

  private list(block: Block): void {
    const n = classOf(block.size),
      next = this.lists[n]!;
    block.free = true;
    block.next = next;
    if (next) next.last = block;
    this.lists[n] = block;
    this.some[n >> 5]! |= 1 << n;
  }

  private unlist(block: Block): void {
    const { last, next } = block;
    block.free = false;
    block.last = block.next = null;
    if (next) next.last = last;
    if (last) last.next = next;
    else {
      const n = classOf(block.size);
      this.lists[n] = next;
      if (!next) this.some[n >> 5]! &= ~(1 << n);
    }
  }
}
