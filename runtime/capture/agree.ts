// Whether two recordings of a function say the same: what a program is replayed for only once two calls one after another
// have.  So a number, a branch or a tensor that changes from call to call without being an argument is found.  Of a program
// that is known to do so, a call with tensors of other sizes need say the same but for sizes.

import { entry } from "../../host/parts.js";
import type { Numbers } from "../base/capturing.js";
import type { Call } from "../../host/model.js";
import type { Prepared } from "../devices/device.js";
import type { Program, Result, Step, Value, View } from "./program.js";

const sameList = (a: readonly unknown[], b: readonly unknown[]): boolean =>
  a === b || (a.length === b.length && a.every((x, i) => Object.is(x, b[i])));

/** `sized`: wherever they are, and whatever their sizes. */
const sameView = (a: View | null, b: View | null, sized: boolean): boolean =>
  a === b ||
  (a !== null &&
    b !== null &&
    a.value === b.value &&
    a.dtype === b.dtype &&
    a.shape.length === b.shape.length &&
    (sized || (a.offset === b.offset && sameList(a.shape, b.shape) && sameList(a.strides, b.strides))));

function sameEnv(a: Readonly<Record<string, unknown>>, b: Readonly<Record<string, unknown>>): boolean {
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => {
      const x = a[name],
        y = b[name];
      return Object.is(x, y) || (Array.isArray(x) && Array.isArray(y) && sameList(x, y));
    })
  );
}

/** Whether two calls are laid out alike, and, unless they are `fed`, have the same numbers. */
function sameCall(a: Call, b: Call, fed: boolean): boolean {
  return (
    a === b ||
    ((fed || sameEnv(a.env, b.env)) &&
      a.slots.length === b.slots.length &&
      a.slots.every((slot, i) => {
        const other = b.slots[i]!;
        return (
          slot.dtype === other.dtype &&
          slot.offset === other.offset &&
          sameList(slot.shape, other.shape) &&
          sameList(slot.strides, other.strides)
        );
      }))
  );
}

/** Whether two calls of an op have the same options and the same kinds of tensors, whatever the sizes of these. */
function sameOptions({ op: { op }, call: a }: Prepared, b: Call, fed: boolean): boolean {
  const same = (name: string): boolean => Object.is(a.env[name], b.env[name]);
  return (
    (fed ||
      op.params.every((param) => {
        const name = entry(param.name);
        if (param.slot >= 0 || !same(name)) return param.slot >= 0;
        for (let i = 0; Object.hasOwn(a.env, `${name}${i}`) || Object.hasOwn(b.env, `${name}${i}`); i++)
          if (!same(`${name}${i}`)) return false;
        return true;
      })) &&
    a.slots.length === b.slots.length &&
    a.slots.every(({ dtype, shape }, i) => dtype === b.slots[i]!.dtype && shape.length === b.slots[i]!.shape.length)
  );
}

function sameValue(a: Value, b: Value, sized: boolean): boolean {
  if (a.device !== b.device || a.dtype !== b.dtype || (!sized && a.length !== b.length)) return false;
  const x = a.source,
    y = b.source;
  if (x.kind === "constant" && y.kind === "captured") return x.storage === y.storage; // a number that is kept
  switch (x.kind) {
    case "input":
    case "cotangent":
      return x.kind === y.kind && x.index === y.index;
    case "captured":
      return y.kind === "captured" && x.storage === y.storage;
    case "gradient":
      return y.kind === "gradient" && x.of === y.of;
    case "constant":
      return y.kind === "constant" && sameList(Array.from(x.elements), Array.from(y.elements));
    default:
      return y.kind === "made";
  }
}

/** What a step is called in messages. */
export function nameOf(step: Step): string {
  if (step.kind !== "run") return step.kind;
  const { joined, prepared } = step;
  if (!joined) return `${prepared.op.op.name}${" backward".repeat(prepared.program)}`;
  const order = joined.work.parts.map(({ step: at }, i) => [at, nameOf(joined.parts[i]!)] as const);
  return `(${order
    .sort(([a], [b]) => a - b)
    .map(([, name]) => name)
    .join(" > ")})`;
}

function sameStep(a: Step, b: Step, sized: boolean): boolean {
  if (a.kind === "run" && b.kind === "run")
    return (
      a.prepared.op === b.prepared.op &&
      a.prepared.program === b.prepared.program &&
      sameList(a.slots, b.slots) &&
      a.draw === b.draw &&
      a.fed?.host === b.fed?.host &&
      a.fed?.list === b.fed?.list &&
      (sized
        ? sameOptions(a.prepared, b.prepared.call, a.fed !== null)
        : sameCall(a.prepared.call, b.prepared.call, a.fed !== null))
    );
  if (a.kind === "copy" && b.kind === "copy")
    return sameView(a.target, b.target, sized) && sameView(a.source, b.source, sized);
  return sameEnv(a as never, b as never);
}

function sameResult(a: Result, b: Result, sized: boolean): boolean {
  if (a.kind === "tensor" && b.kind === "tensor") return sameView(a.view, b.view, sized) && a.number === b.number;
  if (a.kind === "list" && b.kind === "list")
    return a.items.length === b.items.length && a.items.every((item, i) => sameResult(item, b.items[i]!, sized));
  if (a.kind === "named" && b.kind === "named") {
    const names = Object.keys(a.items);
    return (
      sameList(names, Object.keys(b.items)) && names.every((name) => sameResult(a.items[name]!, b.items[name]!, sized))
    );
  }
  return sameEnv(a as never, b as never);
}

/** The first thing in which two programs differ; null where they are the same.  `sized`: but for sizes. */
export function difference(a: Program, b: Program, sized = false): string | null {
  const steps = Math.min(a.steps.length, b.steps.length);
  for (let i = 0; i < steps; i++) {
    const x = a.steps[i]!,
      y = b.steps[i]!;
    if (!sameStep(x, y, sized))
      return nameOf(x) === nameOf(y)
        ? `${nameOf(x)} (step ${i}) gets other numbers or tensors`
        : `step ${i} is ${nameOf(x)} once and ${nameOf(y)} then`;
  }
  if (a.steps.length !== b.steps.length) return `it takes ${a.steps.length} steps once and ${b.steps.length} then`;
  if (a.ahead !== b.ahead) return "it makes another number of tensors";
  for (let i = 0; i < a.ahead; i++)
    if (!sameValue(a.values[i]!, b.values[i]!, sized)) {
      const at = a.steps.findIndex((step) => step.kind === "run" && step.slots.includes(i));
      return `${at < 0 ? "it" : nameOf(a.steps[at]!)} uses another tensor, or other numbers, that are no arguments`;
    }
  if (!sameResult(a.result, b.result, sized)) return "its results are other ones";
  if (!sameList(a.draws, b.draws)) return "it draws random numbers elsewhere";
  if (
    a.gradients.length !== b.gradients.length ||
    a.gradients.some(({ of, view }, i) => of !== b.gradients[i]!.of || !sameView(view, b.gradients[i]!.view, sized))
  )
    return "it leaves other gradients";
  return null;
}

/** Whether numbers of launches are the same. */
export const sameNumbers = (a: Numbers, b: Numbers): boolean => sameEnv(a, b);
