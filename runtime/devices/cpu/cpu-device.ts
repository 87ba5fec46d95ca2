// The CPU device: tensors in linear memory, or in typed arrays where there is none, and kernels run kernel by kernel.

import type { Call } from "../../../host/model.js";
import { LARGE, temporary_dtype } from "../../../host/dtypes.js";
import { plan_cpu, zeroed } from "../../../host/plan.js";
import { raw_uniforms } from "../../../host/raw.js";
import type { CompiledOp, Elements, Kernel } from "../../program/compiled-op.js";
import { PROCEDURES, type RunBody } from "../../program/procedures.js";
import { FUNCTIONS } from "./functions.js";
import { Interpreter } from "./interpreter.js";
import type { Device, Prepared, RandomWords, Strided } from "../device.js";
import { is_rounded } from "../../../dsl/dtypes.js";
import { type DType, converter, cpuBytes, newElements, rounder } from "../../elements/dtype.js";
import { copyStrided } from "../../elements/strided-copy.js";
import { unwatch } from "../../tensor/memory.js";
import { numelOf } from "../../base/shape.js";
import { passes, sameCourse } from "../../program/structure.js";
import { type Cell, Storage } from "../../tensor/storage.js";
import { GcPressure } from "../gc-pressure.js";
import type { Block } from "./blocks.js";
import { inNumbers } from "./long-elements.js";
import { compilerForKernels, linear } from "./compiler.js";
import type { KernelCall, Environment } from "./kernel-evaluator.js";
import type { SlotMemory, WasmRun } from "./wasm-run.js";
import { withFormulas } from "../../program/notation-formulas.js";

/** A slot that lives only during a call. */
interface Temp {
  readonly slot: number;
  readonly dtype: DType;
  readonly length: number;
}

export interface CpuPrepared extends Prepared {
  /** Each kernel, without WebAssembly and, where it can be had, with. */
  readonly runs: readonly { readonly plain: Plain; readonly wasm: WasmRun | null }[];
  readonly temps: readonly Temp[];
  /** Slots that hold zeros before. */
  readonly zeros: readonly number[];
}

const NOTHING: Elements = new Float32Array(0);

/** How a kernel runs without WebAssembly. */
interface Plain {
  readonly kernel: Kernel;
  /** @param arrays for each access its tensor's elements; empty where it was not given */
  run(arrays: readonly Elements[], env: Environment): void;
}

/** Formulas, which are read when they are first asked for. */
class Formulas implements Plain {
  private made: Interpreter | null = null;

  constructor(private readonly call: KernelCall) {}

  get kernel(): Kernel {
    return this.call.kernel;
  }

  run(arrays: readonly Elements[], env: Environment): void {
    if (!this.made?.fits(env)) this.made = new Interpreter(this.call, env);
    this.made.run(arrays, env);
  }
}

/** A body. */
class Body implements Plain {
  constructor(
    readonly kernel: Kernel,
    private readonly types: readonly DType[],
    private readonly body: RunBody,
  ) {}

  run(arrays: readonly Elements[], env: Environment): void {
    this.body(arrays, raw_uniforms(this.kernel, env as Record<string, number>));
    for (const { target } of this.kernel.steps) {
      const array = arrays[target];
      const type = this.types[target]!;
      if (array && is_rounded(type)) for (let i = 0; i < array.length; i++) array[i] = rounder(type)(array[i]!);
    }
  }
}

/** The memory of a slot that lives only during a call. */
class Temporary implements SlotMemory {
  readonly cell: { readonly buffer: Block | null };
  private readonly array: Elements | null;

  constructor(
    readonly dtype: DType,
    readonly length: number,
  ) {
    const buffer = length ? (linear()?.take(cpuBytes(dtype, length), true) ?? null) : null;
    this.cell = { buffer };
    this.array = buffer ? null : newElements(dtype, length);
  }

  get elements(): Elements {
    return this.array ?? linear()!.elements(this.dtype, this.cell.buffer!, this.length);
  }

  /** In its own type, which may be wider than the one that the call gives the slot. */
  as(): Elements {
    return this.elements;
  }
}

class CpuDevice implements Device {
  readonly type = "cpu";
  readonly number = 0;
  private readonly pressure = new GcPressure(1 << 10);

  allocate(dtype: DType, length: number, op: string): Storage {
    const bytes = cpuBytes(dtype, length),
      block = length ? linear()?.take(bytes) : null;
    if (block) return this.hold(dtype, length, null, block, bytes, op);
    return this.hold(dtype, length, newElements(dtype, length, op), null, bytes, op);
  }

  private hold(
    dtype: DType,
    length: number,
    elements: Elements | null,
    block: Block | null,
    bytes: number,
    op: string,
  ): Storage {
    this.pressure.add(bytes);
    return new Storage(this, dtype, length, elements, block, bytes, op);
  }

  upload(elements: Elements, dtype: DType, op: string): Storage {
    const { length, byteLength } = elements,
      memory = length ? linear() : null,
      given = elements.buffer === memory?.memory.buffer ? elements.slice() : elements,
      block = memory?.take(byteLength);
    if (!block) return this.hold(dtype, length, given, null, byteLength, op);
    const storage = this.hold(dtype, length, null, block, byteLength, op);
    storage.elements.set(given);
    return storage;
  }

  view({ dtype, length, cell: { buffer } }: Storage): Elements {
    // No elements need no memory: an array on it that growth empties would look like those.
    if (!length) return newElements(dtype, 0);
    return buffer ? linear()!.elements(dtype, buffer as Block, length) : NOTHING;
  }

  async download(storage: Storage, start: number, end: number): Promise<Elements> {
    const found = storage.elements.slice(start, end),
      wait = this.relax();
    if (wait) await wait;
    return found;
  }

  free(storage: Storage): void {
    const { cell } = storage,
      { buffer, bytes } = cell;
    unwatch(cell);
    cell.buffer = null;
    storage.elements = NOTHING;
    if (buffer) linear()!.give(buffer as Block);
    this.pressure.remove(bytes);
  }

  reclaim({ buffer, bytes }: Cell): void {
    if (buffer) linear()!.give(buffer as Block);
    this.pressure.found(bytes);
  }

  fill(storage: Storage, value: number): void {
    storage.elements.fill(storage.dtype === "int64" ? converter("int64")(value) : value);
  }

  copy(target: Strided, source: Strided): void {
    copyStrided(
      { elements: target.storage.as(target.dtype), strides: target.strides, offset: target.offset },
      { elements: source.storage.as(source.dtype), strides: source.strides, offset: source.offset },
      target.shape,
      target.dtype === source.dtype ? null : converter(target.dtype, source.dtype),
    );
  }

  prepare(op: CompiledOp, program: number, call: Call, wanted: readonly number[]): CpuPrepared {
    const { kernels } = op.op.programs[program]!,
      compiler = compilerForKernels(),
      memory = linear(),
      launches = plan_cpu(op.op, program, call, [...wanted]),
      temps = new Map<number, Temp>(),
      written = new Set<number>();
    launches.forEach((launch, n) => {
      if (!launch) return;
      for (const { slot } of kernels[n]!.accesses) {
        const { dtype, shape } = call.slots[slot]!;
        if (passes(op, slot, wanted)) {
          const length = numelOf(shape);
          temps.set(slot, { slot, dtype: temporary_dtype(dtype, length, LARGE) as DType, length });
        }
      }
      for (const { target } of kernels[n]!.steps) if (target >= 0) written.add(kernels[n]!.accesses[target]!.slot);
    });
    const types = call.slots.map(({ dtype }, slot) => temps.get(slot)?.dtype ?? dtype);
    if (memory) kernels.forEach(withFormulas);
    const { evaluator } = PROCEDURES,
      functions = evaluator?.functions(op.op, FUNCTIONS) ?? {};
    const compiled =
      memory && compiler && compiler.prepare(op.op, program, call, wanted, types, memory, functions, written);
    const runs = launches.flatMap((launch, n) => {
      if (!launch) return [];
      const kernel = kernels[n]!,
        types = kernel.accesses.map(({ slot }) => call.slots[slot]!.dtype as DType),
        one = { op: op.op.name, kernel, launch, types, dtype: call.dtype as DType, functions };
      return [
        {
          plain: kernel.raw ? new Body(kernel, types, evaluator!.body(kernel, op.op, FUNCTIONS)) : new Formulas(one),
          wasm: compiled?.[n] ?? null,
        },
      ];
    });
    return {
      op,
      program,
      call,
      runs,
      temps: [...temps.values()],
      zeros: zeroed(op.op, program, call, [...wanted]),
      changes: [...written].filter((slot) => op.op.slots[slot]!.role === "input"),
    };
  }

  reword(prepared: CpuPrepared, call: Call): CpuPrepared | null {
    if (!sameCourse(prepared.op.op, prepared.program, prepared.call, call)) return null;
    const runs: CpuPrepared["runs"][number][] = [];
    for (const { plain, wasm } of prepared.runs) {
      const again = wasm && wasm.reworded(prepared.call, call);
      if (wasm && !again) return null;
      runs.push({ plain, wasm: again });
    }
    return { ...prepared, call, runs };
  }

  execute(prepared: CpuPrepared, storages: readonly (Storage | null)[], random: RandomWords | null): void {
    const { temps } = prepared;
    if (!temps.length) return run(prepared, storages, random);
    const held: (SlotMemory | null)[] = storages.slice(),
      made = temps.map(({ slot, dtype, length }) => (held[slot] = new Temporary(dtype, length)));
    try {
      run(prepared, held, random);
    } finally {
      for (const { cell } of made) if (cell.buffer) linear()!.give(cell.buffer);
    }
  }

  alive(): void {}

  relax(): Promise<void> | null {
    return this.pressure.relax();
  }

  async synchronize(): Promise<void> {}
}

/** Runs a program on what is held for each slot. */
function run(
  {
    op: {
      op: { name },
    },
    call,
    runs,
    zeros,
  }: CpuPrepared,
  held: readonly (SlotMemory | null)[],
  random: RandomWords | null,
): void {
  for (const slot of zeros) {
    const one = held[slot];
    if (one) new Uint8Array(one.elements.buffer, one.elements.byteOffset, one.elements.byteLength).fill(0);
  }
  for (const { plain, wasm } of runs) {
    if (wasm?.run(held, random)) continue;
    const env = random
      ? { ...call.env, seed0_: random.seedLow, seed1_: random.seedHigh, call_: random.call }
      : call.env;
    const { accesses, steps } = plain.kernel,
      arrays = accesses.map(({ slot }) => held[slot]?.as(call.slots[slot]!.dtype as DType) ?? NOTHING);
    if (arrays.some((array) => (array as unknown) instanceof BigInt64Array))
      inNumbers(name, arrays, new Set(steps.map(({ target }) => target)), (made) => plain.run(made, env));
    else plain.run(arrays, env);
  }
}

/** The CPU: always there. */
export const cpu: Device = /* @__PURE__ */ new CpuDevice();
