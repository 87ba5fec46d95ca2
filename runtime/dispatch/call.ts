// A call of an op: arguments to a plan (cached), memory for the results, the work on the device, the tape.

import { is_rounded } from "../../dsl/dtypes.js";
import { bind_with } from "../../host/binding.js";
import { fitting, holds } from "../../host/dtypes.js";
import type { Call, Meta } from "../../host/model.js";
import { capturing } from "../base/capturing.js";
import { casting } from "./casting.js";
import { arrange } from "./op-arguments.js";
import type { CompiledOp } from "../program/compiled-op.js";
import { cast } from "../tensor/copy.js";
import { filledOn, scalar } from "../tensor/allocate.js";
import { type Device, type RandomWords, defaultDevice } from "../devices/device.js";
import { Complex } from "../elements/complex-number.js";
import { type DType, dtypeNumber, isFloat } from "../elements/dtype.js";
import { OpError, TypeMismatchError, describe } from "../base/errors.js";
import { argumentsOf } from "./on-webgpu.js";
import { ProgramNode, runProgram } from "./program-run.js";
import { Plan } from "./plan.js";
import { type RandomSource, nextCall } from "../elements/random.js";
import { Results } from "../tensor/results.js";
import { Tensor } from "../tensor/tensor.js";

/** A tensor as the host code sees it. */
export function metaOf(x: Tensor): Meta {
  return { dtype: x.dtype, shape: [...x.shape], strides: [...x.strides], offset: x.offset, weak: x.weak };
}

const WEAK: Record<string, Meta> = Object.fromEntries(
  (["bool", "int32", "float32"] as const).map((dtype) => [
    dtype,
    { dtype, shape: [], strides: [], offset: 0, weak: true },
  ]),
);

const weakType = (value: number | boolean): "bool" | "int32" | "float32" =>
  typeof value === "boolean" ? "bool" : value === (value | 0) || isLong(value) ? "int32" : "float32";

/** Whether a number is a whole one in PyTorch, but not one of 32 bits: beside whole numbers there is no room for it. */
const isLong = (value: unknown): value is number =>
  typeof value === "number" && value !== (value | 0) && Math.abs(value) < 2 ** 63 && Number.isInteger(value);

/** Whether the numbers beside this one are of a type with room for it there. */
const holdsLong = (dtype: string, value: unknown, device: Device): boolean =>
  (dtype === "uint32" || (dtype === "int64" && device.type === "cpu")) && isLong(value) && holds(dtype, value);

// --- The cache of plans ---------------------------------------------------------------------------

const MOST_PLANS = 1024;
const plans = new Map<CompiledOp, Map<number, Plan[]>>();

/** What a plan depends on, as a flat list of numbers (and texts of choices); reused between calls. */
const key: unknown[] = [];
let size = 0,
  hash = 0;
/** The call's numbers: options that only change kernels' uniforms. */
const numbers: number[] = [];
let count = 0;
/** Plans of one structure with different numbers that are kept. */
const MOST_VARIANTS = 4;

function put(value: number): void {
  key[size++] = value;
  hash = (Math.imul(hash, 31) + (value | 0)) | 0;
}

function putValue(value: unknown): void {
  switch (typeof value) {
    case "number":
    case "boolean":
      return put(+value);
    case "string":
      key[size++] = value;
      hash = (Math.imul(hash, 31) + value.length) | 0;
      return;
    default:
      if (value === null || value === undefined) put(-1e300);
      else if (Array.isArray(value)) {
        put(-0.5 - value.length); // no whole number: else [2, 1], 2 would be 2, [1, 2]
        for (let i = 0; i < value.length; i++) putValue(value[i]);
      } else key[size++] = value;
  }
}

function putTensor(x: Tensor): void {
  const { shape, strides } = x,
    n = shape.length;
  put(dtypeNumber(x.dtype) * 256 + n * 2 + +x.weak);
  for (let i = 0; i < n; i++) {
    put(shape[i]!);
    put(strides[i]!);
  }
  put(x.offset);
}

function sameNumbers(plan: Plan): boolean {
  for (let i = 0; i < count; i++) if (!Object.is(plan.numbers[i], numbers[i])) return false;
  return true;
}

function matches(plan: Plan): boolean {
  const other = plan.key;
  if (other.length !== size) return false;
  for (let i = 0; i < size; i++) if (!Object.is(other[i], key[i])) return false;
  return true;
}

export function planFor(compiled: CompiledOp, values: readonly unknown[], device: Device): Plan {
  const { op } = compiled,
    params = op.params;
  size = hash = count = 0;
  put(device.number);
  for (let i = 0; i < params.length; i++) {
    const value = values[i];
    if (params[i]!.slot < 0) {
      const { kind } = params[i]!;
      if (typeof value === "number" && (kind === "real" || kind === "num")) {
        numbers[count++] = value;
        put(-3e300);
      } else putValue(value);
    } else if (value instanceof Tensor) putTensor(value);
    else if (typeof value === "number" || typeof value === "boolean")
      put(isLong(value) ? -20 : -2 - dtypeNumber(weakType(value)));
    else put(-1);
  }
  let known = plans.get(compiled);
  if (!known) plans.set(compiled, (known = new Map<number, Plan[]>()));
  const near = known.get(hash);
  let sibling: Plan | null = null,
    variants = 0;
  if (near) {
    for (const plan of near) {
      if (!matches(plan)) continue;
      if (sameNumbers(plan)) return plan;
      sibling ??= plan;
      variants++;
    }
  }
  const at = hash,
    plan = makePlan(compiled, values, device, sibling);
  if (known.size >= MOST_PLANS) known.clear();
  const list = known.get(at);
  if (!list) known.set(at, [plan]);
  else {
    if (variants >= MOST_VARIANTS) list.splice(list.indexOf(sibling!), 1);
    list.push(plan);
  }
  return plan;
}

function makePlan(compiled: CompiledOp, values: readonly unknown[], device: Device, sibling: Plan | null): Plan {
  const { op } = compiled,
    mine = sibling?.key ?? key.slice(0, size),
    amounts = numbers.slice(0, count);
  const bound = (long: "int32" | "float32"): Call =>
    bind_with(
      op,
      op.params.map((param, i) => {
        const value = values[i];
        if (param.slot < 0) return value === undefined ? null : value;
        if (value instanceof Tensor) return metaOf(value);
        if (typeof value === "number" || typeof value === "boolean")
          return WEAK[isLong(value) ? long : weakType(value)]!;
        if (value === null || value === undefined) return null;
        throw new TypeMismatchError(`${op.name}: argument '${param.name}' must be a tensor, got ${describe(value)}`);
      }) as never,
      compiled.parts,
    );
  let call = bound("int32"),
    beyond = false;
  const long = op.params.findIndex(({ slot }, i) => slot >= 0 && isLong(values[i]));
  if (long >= 0 && !isFloat(call.dtype) && !holdsLong(call.dtype, values[long], device)) {
    // Compared with whole numbers it is beyond all of them, as an infinity is.
    beyond = op.outputs.every((slot) => call.slots[slot]!.dtype === "bool");
    if (!beyond) fitting(op.name, "int32", values[long] as number);
    call = bound("float32");
  }
  for (const value of values)
    if (value instanceof Tensor && value.weak && !isFloat(call.dtype) && call.dtype !== "int64")
      throw new OpError(`${op.name}: a number beyond 2**53 does not fit into ${call.dtype}`);
  if (call.dtype === "int64" && device.type !== "cpu")
    op.params.forEach(({ kind }, i) => kind === "num" && isLong(values[i]) && fitting(op.name, "int32", values[i]));
  // A number takes the type of the tensors beside it, so that one kernel serves whole numbers and fractions; but where
  // PyTorch's kernel computes with it in float32, it keeps the digits that 16 bits have no room for.
  const scalarTypes = op.params.map(({ slot, precise }, i): DType | undefined => {
    const value = values[i];
    if (slot < 0 || (typeof value !== "number" && typeof value !== "boolean")) return undefined;
    const dtype = (
      op.promoted.includes(slot) && (isFloat(call.dtype) || call.dtype === "uint32" || call.dtype === "int64")
        ? precise && is_rounded(call.dtype)
          ? "float32"
          : call.dtype
        : isLong(value)
          ? "float32"
          : weakType(value)
    ) as DType;
    call.slots[slot]!.dtype = dtype;
    return dtype;
  });
  // Results are laid out as their slots are, call after call.
  for (const { shape, strides } of call.slots) {
    Object.freeze(shape);
    Object.freeze(strides);
  }
  return new Plan(compiled, call, device, mine, amounts, scalarTypes, sibling, beyond);
}

// --- Running --------------------------------------------------------------------------------------

/** The device of a call's tensors. */
export function deviceOf(compiled: CompiledOp, values: unknown[], wanted: Device | null = null): Device {
  const { params, name } = compiled.op;
  let device: Device | null = wanted,
    exact = -1;
  for (let i = 0; i < params.length; i++) {
    const value = values[i];
    if (typeof value === "bigint" && params[i]!.instead === "num") exact = i;
    if (params[i]!.slot < 0 || !(value instanceof Tensor)) {
      const { slot, keyword, instead } = params[i]!;
      if (compiled.calls && slot >= 0 && (keyword || instead === "ints") && Array.isArray(value)) {
        values[i] = compiled
          .calls()
          .listed(value, params[i]!.name, name, device ?? defaultDevice(), instead === "ints" ? "int32" : "float32");
      }
      continue;
    }
    value.check(name);
    const own = value.storage.device;
    if (device === null || device === own) device = own;
    else device = mixed(values, i, device, own, name);
  }
  device ??= defaultDevice();
  for (let i = 0; i <= exact; i++) {
    if (typeof values[i] !== "bigint") continue;
    const x = filledOn(device, [], values[i] as bigint, "int64", name);
    x.weak = true;
    values[i] = x;
  }
  return device;
}

/** Tensors without axes may be on the CPU beside others on a GPU; anything else must be together. */
function mixed(values: unknown[], at: number, a: Device, b: Device, name: string): Device {
  a.alive(name);
  b.alive(name);
  const gpu = a.type === "cpu" ? b : a;
  for (let i = 0; i <= at; i++) {
    const value = values[i];
    if (!(value instanceof Tensor) || value.storage.device === gpu) continue;
    if (value.ndim > 0 || value.storage.device.type !== "cpu" || value.requires_grad) {
      throw new OpError(
        `${name}: Expected all tensors to be on the same device, but found at least two devices, ${a.type} and ${b.type}`,
      );
    }
    const element = value.storage.as(value.dtype).slice(value.offset, value.offset + 1);
    values[i] = new Tensor(gpu.upload(element, value.dtype, name), value.dtype, value.shape, value.strides, 0);
  }
  return gpu;
}

/** Tensors by slot. */
export function place(plan: Plan, values: readonly unknown[]): (Tensor | null)[] {
  const { op } = plan.compiled,
    tensors = new Array<Tensor | null>(op.slots.length).fill(null);
  for (let i = 0; i < op.params.length; i++) {
    const slot = op.params[i]!.slot;
    if (slot < 0) continue;
    const value = values[i];
    if (value instanceof Tensor) tensors[slot] = plan.tensor(value, slot);
    else if (value !== null && value !== undefined)
      tensors[slot] = scalar(plan.number(value as number, slot), plan.device, plan.scalarTypes[i]);
  }
  return tensors;
}

/**
 * The results of a planned call.  The op looks at the elements of the call and of the results, if it has requirements.
 */
export function forward(
  plan: Plan,
  values: readonly unknown[],
  tensors: (Tensor | null)[],
  random: RandomWords | null,
): Tensor[] {
  const {
      compiled: { op },
      valueChecks,
    } = plan,
    check = (results: Tensor[] | null): Tensor[] => valueChecks.flatMap((one) => one(op, values, results, plan.device));
  if (!valueChecks.length) return runProgram(plan, 0, tensors, plan.makes, random);
  const before = check(null),
    results = runProgram(plan, 0, tensors, plan.makes, random);
  for (const said of [...before, ...check(results)]) {
    const { device } = plan,
      fault = device.faultOf!(said.storage);
    for (const { storage } of results) {
      capturing?.blamed(storage, said.storage);
      device.blame!(storage, fault);
    }
    said.dispose();
  }
  const { node } = results[0]!;
  if (node instanceof ProgramNode) node.remember(results);
  return results;
}

/** How ops run with complex numbers: runtime/complex/calls.ts, which programs that make those import. */
export interface ComplexCalls {
  run(compiled: CompiledOp, values: readonly unknown[], wanted: Device | null): Tensor[];
  runInPlace(compiled: CompiledOp, values: readonly unknown[]): Tensor;
  /** The conjugates of complex numbers; real ones as they are. */
  conj(x: Tensor): Tensor;
  /** Lets shapes decide between ops of one name: `by` gets the values with real numbers in the place of complex ones. */
  decide(compiled: CompiledOp, values: readonly unknown[], by: (real: unknown[]) => void): void;
}
let complexCalls: ComplexCalls | null = null;

export function useComplexCalls(calls: ComplexCalls): void {
  complexCalls = calls;
}

/** The conjugates of complex numbers; real ones as they are. */
export const conjugate = (x: Tensor): Tensor => complexCalls?.conj(x) ?? x;

const isComplex = (x: unknown): boolean => (x instanceof Tensor ? x.dtype : x) === "complex64" || x instanceof Complex;

/** What runs a call with complex numbers; null where there are none among its values and its op is not of such. */
export function complexOnes(compiled: CompiledOp, values: readonly unknown[]): ComplexCalls | null {
  if (!compiled.pairs && !values.some(isComplex)) return null;
  if (complexCalls) return complexCalls;
  throw new OpError(`${compiled.op.name}: complex numbers need all of the package: import "tensorloom"`);
}

const uncast = <T>(body: () => T): T => (casting ? casting.without(body) : body());

/** Runs an op with one value for each of its parameters. */
export function runValues(compiled: CompiledOp, values: unknown[], wanted: Device | null = null): Tensor[] {
  if (casting) values = [...casting.cast(compiled.op, values)];
  const complex = complexOnes(compiled, values);
  if (complex) return uncast(() => complex.run(compiled, values, wanted));
  const calls = compiled.calls?.();
  if (calls)
    compiled.op.params.forEach((p, i) => {
      if (p.flat && values[i] instanceof Tensor) values[i] = calls.row(values[i] as Tensor);
    });
  const device = deviceOf(compiled, values, wanted),
    { op } = compiled;
  let plan = planFor(compiled, values, device);
  const { turns } = plan;
  if (turns) {
    const { dtype, slots } = plan.call;
    values = values.map((x) => (x instanceof Tensor && isFloat(x.dtype) ? cast(x, turns, op.name) : x));
    if (turns !== dtype)
      return uncast(() => runValues(compiled, values, device)).map((x, i) =>
        slots[op.outputs[i]!]!.dtype === dtype ? cast(x, dtype as DType, op.name) : x,
      );
    plan = planFor(compiled, values, device);
  }
  if (compiled.itself?.(plan.call.env)) return [values[0] as Tensor];
  const { env } = plan.call,
    other = device.type === "webgpu" && compiled.onWebGPU;
  if (other && other.when(env)) return runValues(other.op(), argumentsOf(other, values, env), device);
  return forward(
    plan,
    values,
    place(plan, values),
    op.random ? nextCall(values[op.params.length] as RandomSource | undefined) : null,
  );
}

/** Whether an op takes these arguments: their types, shapes and options. */
export function binds(compiled: CompiledOp, args: readonly unknown[]): boolean {
  try {
    const values = arrange(compiled.op, args, undefined, "try"),
      complex = complexOnes(compiled, values),
      plan = (given: unknown[]): void =>
        void planFor(compiled.pairs?.[0] ?? compiled, given, deviceOf(compiled, given));
    if (complex) complex.decide(compiled, values, plan);
    else plan(values);
    return true;
  } catch (e) {
    if (e instanceof OpError) return false;
    throw e;
  }
}

/**
 * Runs an op.  `args`: positional ones in PyTorch's order, then perhaps a plain object of options.
 * Answers its tensor, `Results` for several outputs, nothing for an op that only changes its arguments.
 */
export function run(compiled: CompiledOp, args: readonly unknown[]): Tensor | Results | undefined {
  const { op } = compiled,
    creation = compiled.calls?.().creationOf(args, op.name),
    results = op.outputs.length;
  const out = creation
    ? runValues(compiled, arrange(op, creation.args), creation.device)
    : runValues(compiled, arrange(op, args));
  if (creation?.requiresGrad) out.forEach((x) => x.requires_grad_());
  return results === 1 ? out[0]! : results ? new Results(op.output_names, out, op.name) : undefined;
}
