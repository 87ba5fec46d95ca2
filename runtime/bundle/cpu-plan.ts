// The launches of a bundled model on the CPU: WebAssembly kernels in one memory.

import { zeroed } from "../../host/plan.js";
import { LARGE, temporary_dtype } from "../../host/dtypes.js";
import { kernel_bytes, wasm_kernel } from "../../wasm/module.js";
import type { WasmLaunch } from "../../wasm/kernel_plan.js";
import { plan_wasm } from "../../wasm/plan.js";
import { OpError } from "../base/errors.js";
import { numelOf } from "../base/shape.js";
import { type DType, cpuBytes } from "../elements/dtype.js";
import { passes } from "../program/structure.js";
import type { CpuClear, CpuLaunch, CpuPlan } from "./plan.js";
import { GIVEN } from "./player-functions.js";
import type { Runs, Unnamed } from "./runs.js";

/** 32-bit words of a fault, and of each parameter of a launch; see devices/cpu/wasm-run.ts. */
const FAULT = 4,
  WORD = 2;
/** Bytes at address 0 that a kernel may read instead of off an axis; elements of every type may begin at the others. */
const FIRST = 4096,
  ALIGN = 16;

/** Kernels, one behind the other. */
class Modules {
  readonly list: (readonly [number, readonly string[]])[] = [];
  private readonly parts: Uint8Array[] = [];
  private readonly known = new Map<string, number>();

  add(bytes: Uint8Array, given: readonly string[]): number {
    const key = bytes.join();
    let number = this.known.get(key);
    if (number === undefined) {
      this.known.set(key, (number = this.list.push([bytes.length, given]) - 1));
      this.parts.push(bytes);
    }
    return number;
  }

  /** Deflated, in base64. */
  async text(): Promise<string> {
    const packed = new Blob(this.parts as Uint8Array<ArrayBuffer>[])
      .stream()
      .pipeThrough(new CompressionStream("deflate"));
    let text = "";
    for (const byte of new Uint8Array(await new Response(packed).arrayBuffer())) text += String.fromCharCode(byte);
    return btoa(text);
  }
}

export async function cpuPlan({ values, found, runs, slots, inputs, results }: Runs): Promise<Unnamed<CpuPlan>> {
  const addresses = new Map<number, number>(),
    modules = new Modules(),
    steps: (CpuLaunch | CpuClear)[] = [],
    weights: [number, number][] = [];
  let end = FIRST;
  const take = (bytes: number): number => {
    const at = end;
    end += Math.max(1, Math.ceil(bytes / ALIGN)) * ALIGN;
    return at;
  };
  for (const { bytes, lives } of slots) {
    const at = take(bytes);
    for (const { value } of lives) addresses.set(value, at);
  }
  const of = (value: number): number => {
    let at = addresses.get(value);
    if (at === undefined) {
      const { dtype, length } = values[value]!;
      addresses.set(value, (at = take(cpuBytes(dtype, length))));
      if (found.has(value)) weights.push([at, value]);
    }
    return at;
  };
  const places = runs.map((run) => {
    const { compiled, op, program, call, wanted, values: own } = run,
      temps = new Map<number, { at: number; bytes: number }>();
    let bytes = 0;
    op.slots.forEach((_, slot) => {
      if (own[slot]! >= 0 || !call.slots[slot]!.fresh || !passes(compiled, slot, wanted)) return;
      const { dtype, shape } = call.slots[slot]!,
        length = numelOf(shape),
        size = Math.ceil(cpuBytes(temporary_dtype(dtype, length, LARGE) as DType, length) / ALIGN) * ALIGN;
      temps.set(slot, { at: bytes, bytes: size });
      bytes += Math.max(size, ALIGN);
    });
    const types = call.slots.map(({ dtype, shape }, slot) =>
        temps.has(slot) ? temporary_dtype(dtype, numelOf(shape), LARGE) : dtype,
      ),
      launches = plan_wasm(op, program, call, [...wanted], types).flatMap((l) => (l ? [l, ...l.more] : []));
    const scratch = Math.max(0, ...launches.map((l) => l.scratch));
    return { run, temps, bytes, launches, scratch, zeros: zeroed(op, program, call, [...wanted]) };
  });
  // what lives during a run only, and what launches are told, is one place for all
  const shared = take(Math.max(0, ...places.map(({ bytes, scratch }) => bytes + scratch + ALIGN))),
    block = take(
      Math.max(0, ...places.flatMap(({ launches }) => launches.map((l) => 4 * (FAULT + WORD * l.kinds.length)))),
    );
  for (const { run, temps, bytes, launches, zeros } of places) {
    const { op, values: own } = run;
    const address = (slot: number): number => {
      if (slot === -1) return shared + bytes;
      if (own[slot]! >= 0) return of(own[slot]!);
      return temps.has(slot) ? shared + temps.get(slot)!.at : 0;
    };
    for (const slot of zeros) {
      const value = own[slot]!,
        size = value >= 0 ? cpuBytes(values[value]!.dtype, values[value]!.length) : (temps.get(slot)?.bytes ?? 0);
      if (size) steps.push([address(slot), size, true]);
    }
    for (const launch of launches) {
      steps.push([moduleOf(op.name, launch, modules), words(launch, address)]);
    }
  }
  const at = (value: number): number => (value < 0 ? -1 : of(value)),
    [ins, outs] = [inputs.map(at), results.map(({ value }) => of(value))];
  return {
    bytes: end,
    weights,
    inputs: ins,
    outputs: outs,
    code: await modules.text(),
    modules: modules.list,
    steps,
    block,
  };
}

function moduleOf(op: string, launch: WasmLaunch, modules: Modules): number {
  if (launch.why) throw new OpError(`bundle: ${op}: ${launch.why}`);
  if (launch.seeds >= 0) throw new OpError(`bundle: ${op} draws random numbers, which a bundle does not`);
  const kernel = wasm_kernel(launch, false),
    other = kernel.given.find(({ name }) => !GIVEN.includes(name));
  if (other) throw new OpError(`bundle: ${op} calls ${other.name}, which a bundle has not`);
  return modules.add(
    new Uint8Array(kernel_bytes(kernel, false)),
    kernel.given.map(({ name }) => name),
  );
}

/** What a launch is told, after the words of a fault. */
function words({ slots, shifts, kinds, values }: WasmLaunch, address: (slot: number) => number): number[] {
  const out = new Int32Array(WORD * kinds.length),
    view = new DataView(out.buffer);
  values.forEach((value, n) => {
    if (kinds[n] === "f") view.setFloat64(4 * WORD * n, value, true);
    else out[WORD * n] = value;
  });
  slots.forEach((slot, n) => {
    const at = address(slot);
    out[WORD * n] = at === 0 || slot === -1 ? at : at + shifts[n]!;
  });
  return [...out];
}
