// A kernel in a call as a WebAssembly kernel: made once for all kernels of its structure, then told where tensors lie.

import type { Call, Op } from "../../../host/model.js";
import { kernel_bytes, wasm_kernel } from "../../../wasm/module.js";
import type { WasmLaunch } from "../../../wasm/kernel_plan.js";
import { kernel_parameters, rewordable } from "../../../wasm/parameters.js";
import type { Elements } from "../../program/compiled-op.js";
import { IndexError, OpError } from "../../base/errors.js";
import { type DType, cpuBytes } from "../../elements/dtype.js";
import { type Cell, Storage } from "../../tensor/storage.js";
import type { RandomWords } from "../device.js";
import type { Block } from "./blocks.js";
import type { LinearMemory } from "./linear-memory.js";
import { FUNCTIONS, type Scalar } from "./functions.js";
import { type SharedCode, inParts, isEverywhere, partsOf, sharedCode } from "./threads.js";

/** Elements that a kernel works on: a storage, or what lives during a run. */
export interface SlotMemory {
  readonly dtype: DType;
  readonly length: number;
  readonly cell: Pick<Cell, "buffer">;
  readonly elements: Elements;
  /** The elements in the type that a call has for them. */
  as(dtype: DType): Elements;
}

interface Module {
  /** The memory that it works in. */
  memory: WebAssembly.Memory | null;
  /** Null while the engine still compiles the module, which it wants to do beside the program. */
  run: ((block: number) => number) | null;
  /** Its bytes, where workers may make it too, until they know them. */
  bytes: Uint8Array | null;
  code: SharedCode | null;
}

const modules = new WeakMap<Op, Map<string, Module | null>>();

let relaxedFound: boolean | undefined;

/** A module with `f32x4.relaxed_madd` of zeros. */
// biome-ignore format: bytes
const RELAXED = [
  0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 10, 20, 1, 18, 0,
  65, 0, 253, 17, 65, 0, 253, 17, 65, 0, 253, 17, 253, 133, 2, 26, 11,
];

/** Whether the engine has relaxed SIMD. */
const relaxed = (): boolean => (relaxedFound ??= WebAssembly.validate(Uint8Array.from(RELAXED)));

/** 32-bit words of a fault, and of each parameter of a launch. */
const FAULT = 4,
  WORD = 2;

/** The module of a launch; null where there is none, since it needs functions that are not at hand. */
function moduleOf(
  op: Op,
  launch: WasmLaunch,
  memory: LinearMemory,
  functions: Readonly<Record<string, Scalar>>,
): Module | null {
  let known = modules.get(op);
  if (!known) modules.set(op, (known = new Map()));
  let found = known.get(launch.key);
  if (found === undefined) {
    const made: Module = { memory: null, run: null, bytes: null, code: null };
    known.set(launch.key, (found = compile(made, launch, memory, functions) ? made : null));
  }
  return found;
}

/** Makes a module for the memory as it is now; false where there is none. */
function compile(
  made: Module,
  launch: WasmLaunch,
  { memory, shared }: LinearMemory,
  functions: Readonly<Record<string, Scalar>>,
): boolean {
  const kernel = wasm_kernel(launch, relaxed()),
    kernels: Record<string, WebAssembly.ImportValue> = { memory };
  for (const { name } of kernel.given) {
    const f = functions[name] ?? FUNCTIONS[name];
    if (!f) return false;
    kernels[name] = f;
  }
  const bytes = new Uint8Array(kernel_bytes(kernel, shared));
  made.memory = memory;
  made.run = null;
  // A worker has few functions to give, and which fault is the first is not known there.
  made.bytes =
    shared && launch.begin >= 0 && !kernel.tells && kernel.given.every(({ name }) => isEverywhere(name, kernels[name]))
      ? bytes
      : null;
  const take = ({ exports }: WebAssembly.Instance): void => {
    if (made.memory === memory) made.run = exports["run"] as Module["run"];
  };
  try {
    take(new WebAssembly.Instance(new WebAssembly.Module(bytes), { kernels }));
  } catch (error) {
    // Not an engine for such a kernel; or one that does not compile so large a module while a page waits.
    if (!(error instanceof RangeError)) return false;
    WebAssembly.instantiate(bytes, { kernels }).then(
      ({ instance }) => take(instance),
      () => undefined,
    );
  }
  return true;
}

export class WasmRun {
  /** The parameters of a call, as they lie in memory, after those of a fault. */
  private readonly parameters: Int32Array;

  constructor(
    private readonly op: string,
    private readonly memory: LinearMemory,
    private readonly launch: WasmLaunch,
    private readonly module: Module,
    private readonly written: readonly boolean[],
    values: readonly number[],
    private readonly more: readonly WasmRun[],
    private readonly functions: Readonly<Record<string, Scalar>>,
  ) {
    const { kinds } = launch,
      parameters = new Int32Array(FAULT + WORD * kinds.length),
      floats = new DataView(parameters.buffer);
    values.forEach((value, n) => {
      if (kinds[n] === "f") floats.setFloat64(4 * (FAULT + WORD * n), value, true);
      else parameters[FAULT + WORD * n] = value;
    });
    this.parameters = parameters;
  }

  /** The same for another call of the same structure; null where strides are made of what changed. */
  reworded(before: Pick<Call, "env">, call: Pick<Call, "env">): WasmRun | null {
    const { env } = call;
    if (!rewordable(this.launch, before.env, env)) return null;
    const { op, memory, launch, module, written, functions } = this,
      more: WasmRun[] = [];
    for (const other of this.more) {
      const again = other.reworded(before, call);
      if (!again) return null;
      more.push(again);
    }
    return new WasmRun(op, memory, launch, module, written, kernel_parameters(launch, env), more, functions);
  }

  /** `held[slot]`: what is there of each slot.  False, with nothing done, where the kernel cannot run now. */
  run(held: readonly (SlotMemory | null | undefined)[], random: RandomWords | null): boolean {
    const { launch, parameters, memory, module } = this,
      { slots, shifts, seeds } = launch,
      parts = partsOf(launch, memory);
    if (module.memory !== memory.memory) compile(module, launch, memory, this.functions);
    if (!module.run || this.more.some((other) => !other.module.run)) return false;
    let strays: Stray[] | null = null;
    const scratch = launch.scratch ? memory.take(launch.scratch, true) : null;
    if (launch.scratch && !scratch) return false;
    for (let n = 0; n < slots.length; n++) {
      if (slots[n] === -1) {
        parameters[FAULT + WORD * n] = memory.address(scratch!);
        continue;
      }
      const one = held[slots[n]!];
      let block = (one?.cell.buffer ?? null) as Block | null;
      if (!block && one?.length && !(block = settled(memory, one))) {
        const stray = lent(memory, one, this.written[n]!);
        if (!stray) {
          strays?.forEach((s) => memory.give(s.block));
          if (scratch) memory.give(scratch);
          return false;
        }
        (strays ??= []).push(stray);
        block = stray.block;
      }
      parameters[FAULT + WORD * n] = block ? memory.address(block) + shifts[n]! : 0;
    }
    if (random && seeds >= 0) {
      parameters[FAULT + WORD * seeds] = random.seedLow;
      parameters[FAULT + WORD * (seeds + 1)] = random.seedHigh;
      parameters[FAULT + WORD * (seeds + 2)] = random.call;
    }
    const done = this.inParts(parts, held),
      at = done ? 0 : memory.pass(parameters),
      fault = done ? 0 : module.run(at);
    if (scratch) memory.give(scratch);
    for (const { block, from, written } of strays ?? []) {
      if (written) from.elements.set(memory.elements(from.dtype, block, from.length));
      memory.give(block);
    }
    if (fault) this.refuse(fault, memory.faultWords(at));
    return this.more.every((other) => other.run(held, random));
  }

  /** Whether threads have computed it. */
  private inParts(parts: number, held: readonly (SlotMemory | null | undefined)[]): boolean {
    const { launch, module, memory } = this;
    if (parts === 1) return false;
    if (module.bytes) {
      module.code = sharedCode(memory, module.bytes);
      module.bytes = null;
    }
    const place = launch.slots.indexOf(-1);
    return (
      module.code !== null &&
      inParts(
        memory,
        module.code,
        module.run!,
        this.parameters,
        launch,
        parts,
        FAULT,
        place < 0 ? -1 : FAULT + WORD * place,
        () => this.repeats(held),
      )
    );
  }

  /** Whether it comes to the same once more, since it stores into nothing that it reads. */
  private repeats(held: readonly (SlotMemory | null | undefined)[]): boolean {
    const { reads, stores } = this.launch,
      buffer = (slot: number): unknown => held[slot]?.cell.buffer ?? slot,
      into = new Set(stores.map(buffer));
    return reads.every((slot) => !into.has(buffer(slot)));
  }

  private refuse(fault: number, [, index, length]: Int32Array): never {
    if (fault === 1)
      throw new IndexError(`${this.op}: index ${index} is out of bounds for an axis of length ${length}`);
    throw new OpError(`${this.op}: the result does not fit into int32`);
  }
}

/** How often storages were copied for a kernel; what was so as often as weights are, and no intermediate result is. */
const lentBefore = new WeakMap<Storage, number>(),
  OFTEN = 8;

/** The block that a storage moves to, if there is room for it by now, or it is needed again and again. */
function settled(memory: LinearMemory, one: SlotMemory): Block | null {
  if (!(one instanceof Storage)) return null;
  const times = lentBefore.get(one) ?? 0,
    block = memory.take(cpuBytes(one.dtype, one.length), times >= OFTEN);
  if (block) {
    const elements = memory.elements(one.dtype, block, one.length);
    elements.set(one.elements);
    one.elements = elements;
    one.cell.buffer = block;
  } else lentBefore.set(one, times + 1);
  return block;
}

/** Elements in an array of the engine's, copied to where a kernel sees them. */
interface Stray {
  readonly block: Block;
  readonly from: SlotMemory;
  readonly written: boolean;
}

function lent(memory: LinearMemory, from: SlotMemory, written: boolean): Stray | null {
  const block = memory.take(cpuBytes(from.dtype, from.length), true);
  if (!block) return null;
  memory.elements(from.dtype, block, from.length).set(from.elements);
  return { block, from, written };
}

/** How a launch runs; null where it has no kernel that can. */
export function wasmRun(
  op: Op,
  launch: WasmLaunch,
  memory: LinearMemory,
  functions: Readonly<Record<string, Scalar>>,
  changed: ReadonlySet<number>,
): WasmRun | null {
  const module = launch.why ? null : moduleOf(op, launch, memory, functions);
  if (!module) return null;
  const more: WasmRun[] = [];
  for (const other of launch.more) {
    const run = wasmRun(op, other, memory, functions, changed);
    if (!run) return null;
    more.push(run);
  }
  return new WasmRun(
    op.name,
    memory,
    launch,
    module,
    launch.slots.map((slot) => changed.has(slot)),
    launch.values,
    more,
    functions,
  );
}
