// torch.set_debug: who makes a NaN or an infinity, and whether a GPU computes what the CPU computes.  Every program is
// looked at, gradients' too.  What concerns a GPU is known when something is read the next time, and thrown there.

import { settleLater } from "./anomaly.js";
import type { Elements } from "../program/compiled-op.js";
import { cpu } from "../devices/cpu/cpu-device.js";
import { type DType, isFloat } from "../elements/dtype.js";
import { OpError } from "../base/errors.js";
import { flag } from "../base/argument-kinds.js";
import { taken } from "../base/named-arguments.js";
import { type Observer, type Run, inputsOf, nameOf, observe, outputsOf, stopObserving } from "../devices/observers.js";
import { extent, showShape } from "../base/shape.js";
import { titled } from "../base/class-name.js";

export interface DebugOptions {
  /** Look for NaN and infinities that an op makes of finite numbers. */
  check_finite?: boolean;
  /** Repeat what a GPU does on the CPU, and compare. */
  replay?: boolean;
  /** How far results may differ: |gpu - cpu| <= rtol * |cpu| + atol * (the largest |cpu|). */
  rtol?: number;
  atol?: number;
}

/**
 * What an op made is not finite, or not what the CPU makes.
 *
 * @example
 * const { DebugError, set_debug } = torch;
 * set_debug(true);
 * let caught;
 * try {
 *   torch.tensor([0]).log();
 * } catch (error) {
 *   caught = error instanceof DebugError;
 * }
 * set_debug(false);
 * caught  // true
 */
export class DebugError extends OpError {}
titled(DebugError, "DebugError");

/** A tensor of a program with its elements, which begin with the first of its memory. */
interface Seen {
  readonly slot: number;
  readonly elements: Elements;
}

class Checks implements Observer {
  readonly each = true;
  readonly options: Required<DebugOptions>;

  constructor(options: Required<DebugOptions>) {
    this.options = options;
  }

  around(run: Run, execute: () => void): void {
    const { check_finite, replay } = this.options,
      outputs = outputsOf(run),
      inputs = [...new Set([...inputsOf(run), ...run.prepared.changes])];
    if (run.device.type === "cpu") {
      if (!check_finite) return execute();
      const copies = new Map(run.prepared.changes.map((slot) => [slot, elementsOf(run, slot).slice()]));
      execute();
      const error = notFinite(
        run,
        inputs.map((slot) => ({ slot, elements: copies.get(slot) ?? elementsOf(run, slot) })),
        outputs.map((slot) => ({ slot, elements: elementsOf(run, slot) })),
      );
      if (error) throw error;
      return;
    }
    // Copies are queued here, before and after the work, and come later, when the list of storages may serve another run.
    const seen: Run = { ...run, storages: run.storages.slice() },
      before = Promise.all(inputs.map((slot) => downloaded(run, slot)));
    execute();
    const after = Promise.all(outputs.map((slot) => downloaded(run, slot)));
    settleLater(
      Promise.all([before, after]).then(
        ([given, made]) =>
          (check_finite ? notFinite(seen, given, made) : null) ?? (replay ? this.different(seen, given, made) : null),
      ),
    );
  }

  /** The error that says where the CPU makes something else of the same inputs. */
  private different(run: Run, given: readonly Seen[], made: readonly Seen[]): DebugError | null {
    const { op, program, call } = run.prepared,
      { rtol, atol } = this.options;
    const storages = run.storages.map((storage, slot) => {
      if (!storage) return null;
      const known = given.find((seen) => seen.slot === slot),
        own = cpu.allocate(storage.dtype, storage.length, "set_debug");
      if (known) own.elements.set(known.elements);
      return own;
    });
    cpu.execute(
      cpu.prepare(
        op,
        program,
        call,
        made.map(({ slot }) => slot),
      ),
      storages,
      run.random,
    );
    for (const { slot, elements } of made) {
      const wanted = storages[slot]!.elements,
        at = placeOf(run, slot, wanted, elements, rtol, atol);
      if (at < 0) continue;
      return new DebugError(
        `set_debug: ${nameOf(run)} differs between webgpu and the cpu: ${slotName(run, slot)} at ${where(run, slot, at)} is ` +
          `${elements[at]} on webgpu and ${wanted[at]} on the cpu; the largest difference is ${Math.abs(Number(elements[at]) - Number(wanted[at]))}.${inputsShown(run, given)}`,
      );
    }
    return null;
  }
}

const elementsOf = ({ storages }: Run, slot: number): Elements => storages[slot]!.elements;

async function downloaded({ device, storages }: Run, slot: number): Promise<Seen> {
  const storage = storages[slot]!;
  return { slot, elements: storage.length ? await device.download(storage, 0, storage.length) : new Float32Array(0) };
}

/** The part of the memory that a tensor lies in. */
function part({ prepared: { call } }: Run, slot: number, elements: Elements): Elements {
  const { shape, strides, offset } = call.slots[slot]!;
  return elements.subarray(offset, offset + extent(shape, strides)) as Elements;
}

function firstNotFinite(elements: Elements): number {
  for (let i = 0; i < elements.length; i++) if (!Number.isFinite(elements[i])) return i;
  return -1;
}

/** The error that names an op which makes a NaN or an infinity of finite numbers. */
function notFinite(run: Run, given: readonly Seen[], made: readonly Seen[]): DebugError | null {
  const { call } = run.prepared,
    floating = ({ slot }: Seen): boolean => isFloat(call.slots[slot]!.dtype as DType);
  if (given.some((seen) => floating(seen) && firstNotFinite(part(run, seen.slot, seen.elements)) >= 0)) return null;
  if (Object.values(call.env).some((value) => typeof value === "number" && !Number.isFinite(value))) return null;
  for (const seen of made) {
    if (!floating(seen)) continue;
    const { offset } = call.slots[seen.slot]!,
      at = firstNotFinite(part(run, seen.slot, seen.elements));
    if (at < 0) continue;
    return new DebugError(
      `set_debug: ${nameOf(run)} made ${seen.elements[offset + at]} of finite numbers: ${slotName(run, seen.slot)} at ` +
        `${where(run, seen.slot, offset + at)}.${inputsShown(run, given)}`,
    );
  }
  return null;
}

/** The place of the largest difference that is too large; -1 where there is none. */
function placeOf(run: Run, slot: number, wanted: Elements, got: Elements, rtol: number, atol: number): number {
  const { offset } = run.prepared.call.slots[slot]!,
    n = part(run, slot, wanted).length;
  let scale = 0,
    worst = 0,
    at = -1;
  for (let i = offset; i < offset + n; i++)
    if (Number.isFinite(wanted[i])) scale = Math.max(scale, Math.abs(wanted[i]!));
  for (let i = offset; i < offset + n; i++) {
    const a = Number(got[i]),
      b = Number(wanted[i]);
    if (Object.is(a, b) || a === b || (Number.isNaN(a) && Number.isNaN(b))) continue;
    const difference = Math.abs(a - b),
      far = Number.isNaN(difference) ? Infinity : difference;
    if (far > rtol * Math.abs(b) + atol * scale && far > worst) [worst, at] = [far, i];
  }
  return at;
}

/** The index of an element in a tensor, as [i, j]. */
function where({ prepared: { call } }: Run, slot: number, at: number): string {
  const { shape, strides, offset } = call.slots[slot]!,
    index = shape.map(() => 0);
  let rest = at - offset;
  for (const axis of shape.map((_, i) => i).sort((a, b) => strides[b]! - strides[a]!)) {
    if (strides[axis]! <= 0) continue;
    index[axis] = Math.min(Math.floor(rest / strides[axis]!), shape[axis]! - 1);
    rest -= index[axis]! * strides[axis]!;
  }
  return `[${index.join(", ")}]`;
}

const slotName = (
  {
    prepared: {
      op: { op },
      program,
    },
  }: Run,
  slot: number,
): string => {
  const { name, like } = op.slots[slot]!;
  return program > 0 && like >= 0 ? `the gradient of '${op.slots[like]!.name}'` : `'${name}'`;
};

/** The inputs with their types, shapes and ranges. */
function inputsShown(run: Run, given: readonly Seen[]): string {
  const lines = given.map(({ slot, elements }) => {
    const { dtype, shape } = run.prepared.call.slots[slot]!,
      values = part(run, slot, elements);
    let low = Infinity,
      high = -Infinity;
    for (let i = 0; i < values.length; i++) [low, high] = [Math.min(low, values[i]!), Math.max(high, values[i]!)];
    return `\n  ${run.prepared.op.op.slots[slot]!.name}: ${dtype} ${showShape(shape)}${values.length ? `, from ${low} to ${high}` : ""}`;
  });
  return lines.length ? ` Its inputs:${lines.join("")}` : "";
}

let checks: Checks | null = null;

/**
 * Whether torch.set_debug is on.
 *
 * @example
 * torch.is_debug_enabled()  // false
 */
export const is_debug_enabled = (): boolean => checks !== null;

/**
 * From now on (or no longer) every op, those of gradients included, is checked: an op that makes NaN or an infinity of
 * finite numbers is an error that names it and its inputs, and what a GPU computes is computed by the CPU as well and
 * compared.  For a GPU the error comes with the next read.  Very slow: for looking for mistakes.
 *
 * @param mode true from now on, or false
 * @param atol how far they may differ beside that, as a share of the largest
 *
 * @example
 * torch.set_debug(true);
 * let message;
 * try {
 *   torch.tensor([1]).div(0);
 * } catch (error) {
 *   message = error.message.split(": ")[1].slice(0, 17);
 * }
 * torch.set_debug(false);
 * message  // "div made Infinity"
 */
export function set_debug(mode: boolean, options: DebugOptions = {}): void {
  [mode, options] = taken("set_debug mode | check_finite replay rtol atol", arguments);
  const { check_finite = true, replay = true, rtol = 1e-3, atol = 1e-5 } = options;
  flag(mode, "set_debug", "mode");
  if (checks) stopObserving(checks);
  checks = mode ? new Checks({ check_finite, replay, rtol, atol }) : null;
  if (checks) observe(checks);
}
