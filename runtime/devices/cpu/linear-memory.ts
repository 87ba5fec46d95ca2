// The memory that WebAssembly kernels work in: made when the first tensor is, it grows and never shrinks.  Growing takes
// the buffer from all arrays on it, so they are made anew then (tensor/storage.ts).

import type { Elements } from "../../program/compiled-op.js";
import { type DType, elementsAt } from "../../elements/dtype.js";
import { DeviceError } from "../../base/errors.js";
import { afterTask } from "../../base/tasks.js";
import { advise } from "../slow-warnings.js";
import { type Block, Blocks } from "./blocks.js";

/** Bytes of a unit of blocks, which elements of every type may begin at, and units of a page. */
const UNIT = 16,
  PAGE = 65536 / UNIT;
/** Units of the block at address 0. */
const FIRST = 4096 / UNIT;
/** It grows by at least so many units, and by so large a part of what there is. */
const LEAST = 16 * PAGE,
  PART = 4;
/**
 * Units that one task may take, or twice as many as were taken when it began.  Only between two tasks does what the
 * collector found come back; what a task takes beyond it lies in arrays of the engine's, which go earlier.
 */
const ROOM = 2 ** 28 / UNIT;

let only: LinearMemory | null | undefined;

/** The memory of this program; null where a page's policy, or the engine, has no WebAssembly. */
export function linear(): LinearMemory | null {
  if (only === undefined) {
    try {
      new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0)); // the least there is: a policy refuses all alike
      only = new LinearMemory();
    } catch {
      only = null;
      advise("WebAssembly", "the CPU computes without WebAssembly, which the engine or the page's policy refuses");
    }
  }
  return only;
}

export class LinearMemory {
  memory = new WebAssembly.Memory({ initial: 0 });
  /** Whether workers can see it. */
  shared = false;
  readonly blocks = new Blocks();
  private buffer = this.memory.buffer;
  private words = new Int32Array(this.buffer);
  /** Where kernels find what they are told; the first is at address 0, where they read instead of off an axis. */
  private parameters: Block | null = null;
  private room = ROOM;
  private waits = false;

  /** The bytes of all there is. */
  get bytes(): number {
    return this.blocks.size * UNIT;
  }

  /** A block of at least so many bytes; null where there is no room.  `sure`: for a moment, whatever a task took. */
  take(bytes: number, sure = false): Block | null {
    if (bytes > 2 ** 32) return null;
    const { blocks } = this,
      size = Math.max(Math.ceil(bytes / UNIT), 1);
    if (blocks.taken + size > this.room && !sure) {
      this.renew();
      return null;
    }
    return blocks.take(size) ?? (this.grow(size + FIRST) ? blocks.take(size) : null);
  }

  give(block: Block): void {
    this.blocks.give(block);
  }

  /** Where a block begins, in bytes. */
  address(block: Block): number {
    return block.at * UNIT;
  }

  elements(dtype: DType, block: Block, length: number): Elements {
    return elementsAt(dtype, this.buffer, block.at * UNIT, length);
  }

  /** Writes what a kernel is told: its address. */
  pass(words: Int32Array): number {
    if (words.byteLength > (this.parameters?.size ?? 0) * UNIT) {
      this.parameters = this.take(words.byteLength, true);
      if (!this.parameters) throw new DeviceError("out of memory: the 4 GiB of a program's WebAssembly are full");
    }
    const at = this.parameters!.at * UNIT;
    for (let n = 0, to = at / 4; n < words.length; n++, to++) this.words[to] = words[n]!;
    return at;
  }

  /** What a kernel noted of a fault. */
  faultWords(at: number): Int32Array {
    return this.words.slice(at / 4, at / 4 + 3);
  }

  /**
   * From now on workers can see it: all that lies there is where it was, in another memory.  False where there is none.
   */
  share(): boolean {
    const { memory, blocks } = this;
    if (this.shared) return true;
    try {
      this.memory = new WebAssembly.Memory({ initial: blocks.size / PAGE, maximum: 65536, shared: true });
    } catch {
      return false;
    }
    this.shared = true;
    new Uint8Array(this.memory.buffer).set(new Uint8Array(memory.buffer));
    memory.grow(0); // takes the buffer from its arrays
    this.renewed();
    return true;
  }

  private renewed(): void {
    this.buffer = this.memory.buffer;
    this.words = new Int32Array(this.buffer);
  }

  /** After this task there is room again. */
  private renew(): void {
    if (this.waits) return;
    this.waits = true;
    afterTask(() =>
      afterTask(() => {
        this.waits = false;
        this.room = Math.max(ROOM, 2 * this.blocks.taken);
      }),
    );
  }

  /** Whether there are `size` units more, at least, in one block. */
  private grow(size: number): boolean {
    for (const wanted of [Math.max(size, LEAST, this.blocks.size / PART), size]) {
      const pages = Math.ceil(wanted / PAGE);
      try {
        this.memory.grow(pages);
      } catch {
        continue; // the limit, 4 GiB, or what the engine can give
      }
      this.renewed();
      this.blocks.extend(pages * PAGE);
      this.parameters ??= this.blocks.take(FIRST);
      return true;
    }
    return false;
  }
}
