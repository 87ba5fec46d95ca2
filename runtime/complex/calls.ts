// Calls of ops with complex numbers.  Kernels, plans and the tape know real ones only: an op of complex numbers is one of
// pairs (`complex exp` in ops/complex.op), and what is linear in parameters is made of the real op of their parts.

import { wayBackOf } from "../base/class-name.js";
import { can_cast } from "../../host/dtypes.js";
import { COMPLEX, TERMS } from "../../complex-ops.js";
import {
  complex_absOp,
  complex_conjOp,
  complex_joinedOp,
  complex_neOp,
  complex_of_realOp,
  complex_ofOp,
} from "../../ops/complex.js";
import { OpError, TypeMismatchError } from "../base/errors.js";
import { axesOf, axisOf, frozen, sameShape, showShape } from "../base/shape.js";
import { type Device, defaultDevice } from "../devices/device.js";
import { runValues, useComplexCalls } from "../dispatch/call.js";
import { Complex, inMemory } from "../elements/complex-number.js";
import { type DType, isFloat } from "../elements/dtype.js";
import type { CompiledOp, ComplexOp, Op } from "../program/compiled-op.js";
import { filledOn } from "../tensor/allocate.js";
import { unrecorded } from "../tape/grad-mode.js";
import { recording } from "../tape/node.js";
import { cast, clone, copyInto, useComplexCopy } from "../tensor/copy.js";
import { complexOf, pairsOf } from "../tensor/recorded-pairs.js";
import { beforeInPlace } from "../tensor/in-place-checks.js";
import { tidy } from "../tensor/memory.js";
import { asPairs, asPart } from "../tensor/pairs.js";
import { Tensor } from "../tensor/tensor.js";
import { copy_ } from "../views/transfer.js";
import { usePairs } from "../views/parts-of-numbers.js";
import * as views from "../views/views.js";
import { expand, select, unsqueeze } from "../views/views.js";

type Values = readonly unknown[];

const isComplexTensor = (value: unknown): value is Tensor => value instanceof Tensor && value.dtype === "complex64";
const isComplex = (value: unknown): boolean => value instanceof Complex || isComplexTensor(value);

/** Pairs that an op made as its complex result. */
const named = ({ op: { name } }: CompiledOp, pairs: Tensor): Tensor => complexOf(pairs, wayBackOf(name));

/** What a table of complex-ops.ts has of an op. */
function entry<T>(table: Readonly<Record<string, T>>, { name, params }: Op): T | null {
  const key = [name, ...params.map((p) => (p.choices.length === 1 ? `${p.name}=${p.choices[0]}` : p.name))].join(" ");
  return Object.hasOwn(table, key) ? table[key]! : Object.hasOwn(table, name) ? table[name]! : null;
}

/** An op of complex numbers: the first way that there is for it. */
function run(compiled: CompiledOp, given: Values, wanted: Device | null): Tensor[] {
  const { op } = compiled,
    values = typed(op, given),
    terms = compiled.terms ?? entry(TERMS, op),
    own = compiled.instead?.() ?? entry(COMPLEX, op);
  if (compiled.pairs) return paired(op, values, compiled.pairs, wanted ?? deviceOf(values));
  if (!values.some(isComplex)) return runValues(compiled, values, wanted);
  // A step of an optimizer moves a complex number as two real ones.
  if (op.slots[0]?.mut)
    return runValues(
      compiled,
      values.map((value) => (isComplexTensor(value) ? asPairs(value) : value)),
    );
  refuseComplexOptions(op, values);
  const together = terms?.startsWith("*") ? atOnce(compiled, values, termsOf(terms, op, values)) : null;
  if (together) return together;
  const device = deviceOf(values);
  if (own) return paired(op, values, own, device);
  if (terms === "abs")
    return runValues(
      compiled,
      values.map((value) =>
        isComplex(value) ? runValues(complex_absOp, [toPairs(value, device, op.name)])[0] : value,
      ),
    );
  if (terms) return byParts(compiled, values, termsOf(terms, op, values), device);
  throw new TypeMismatchError(`${op.name}: "${op.name}" not implemented for 'ComplexFloat'`);
}

/** The values as complex64 may meet them: other floats become float32, and a type that is asked for the first value's. */
function typed({ name, params }: Op, given: Values): unknown[] {
  const values = given.map((value) => {
    if (!(value instanceof Tensor) || !isFloat(value.dtype) || value.dtype === "float32") return value;
    if (value.dtype === "float64" && value.ndim > 0)
      throw new TypeMismatchError(`${name}: complex64 and float64 make complex128, which there is not`);
    return cast(value, "float32", name);
  });
  params.forEach(({ kind }, i) => {
    const wanted = values[i];
    if (kind !== "dtype" || wanted === null || wanted === undefined) return;
    if (wanted !== "complex64")
      throw new TypeMismatchError(
        `${name}: complex numbers cannot become ${String(wanted)} here: take their real part`,
      );
    values[i] = undefined;
    const at = values.findIndex((value) => value instanceof Tensor);
    if (at >= 0) values[at] = cast(values[at] as Tensor, "complex64", name);
  });
  return values;
}

/** Numbers beside tensors, and tensors that take another's type, make nothing complex: `alpha`, `value` of `masked_fill`. */
function refuseComplexOptions({ name, params, promoted }: Op, values: Values): void {
  const joins = params.map(({ slot }) => promoted.includes(slot));
  if (values.some((value, i) => joins[i] && isComplex(value))) return;
  const at = values.findIndex((value, i) => !joins[i] && isComplex(value)),
    type = values.find((value, i): value is Tensor => joins[i]! && value instanceof Tensor)?.dtype;
  if (type === undefined) return;
  const given = values[at] instanceof Tensor ? "complex64" : String(values[at]);
  throw new TypeMismatchError(
    `${name}: For non-complex input tensors, argument ${params[at]!.name} must not be a complex number:` +
      ` ${given} cannot be converted to type ${type} without overflow`,
  );
}

const deviceOf = (values: Values): Device =>
  values.find((value): value is Tensor => value instanceof Tensor)?.storage.device ?? defaultDevice();

// --- Ops of pairs -----------------------------------------------------------------------------------

/** A tensor or a number as pairs. */
function toPairs(value: unknown, device: Device, name: string): unknown {
  if (value === null || value === undefined) return value;
  if (isComplexTensor(value)) return pairsOf(value);
  if (value instanceof Tensor) return runValues(complex_of_realOp, [cast(value, "float32", name)])[0];
  if (value instanceof Complex || typeof value === "number" || typeof value === "boolean")
    return pairsOf(filledOn(device, [], value instanceof Complex ? value : Number(value), "complex64", name));
  return value;
}

function paired(op: Op, values: Values, by: ComplexOp, device: Device): Tensor[] {
  const [compiled, takes, gives] = by,
    several = severalAxes(op, values, compiled.op);
  if (several) return alongAxes(op, values, by, device, several);
  const rank = Math.max(...values.map((value) => (value instanceof Tensor ? value.ndim : 0)));
  const made = compiled.op.params.map((param, i) => {
    const at = op.params.findIndex(({ name }) => name === param.name),
      value = values[at];
    if (takes[i] === "1") return toPairs(value, device, op.name);
    // Axes are counted without that of the pairs; where none is named it is the last one.
    if (param.kind === "dim") return axisOf((value ?? -1) as number, rank, op.name);
    return value;
  });
  return runValues(compiled, made).map((x, i) => (gives[i] === "1" ? named(compiled, x) : x));
}

/**
 * The axes that a call names for an op of one complex tensor that goes along one axis: null where it names one that is
 * there.
 */
function severalAxes(op: Op, values: Values, { params }: Op): number[] | null {
  if (!params.some(({ kind }) => kind === "dim") || params.filter(({ slot }) => slot >= 0).length > 1) return null;
  const at = op.params.findIndex(({ name }) => name === "dim"),
    named = at < 0 || values[at] === undefined ? null : values[at],
    { ndim } = values.find(isComplexTensor)!;
  if (ndim > 0 && (typeof named === "number" || (at >= 0 && op.params[at]!.kind === "dim"))) return null;
  const axes = ndim ? axesOf((named ?? []) as number[], ndim, op.name) : [];
  if (!ndim && named !== null) for (const axis of [named].flat()) axisOf(axis as number, ndim, op.name);
  return axes.length ? axes : Array.from({ length: ndim }, (_, axis) => axis);
}

/** The call along those axes as one, the last; an option `dim` stands behind the others, which may have none. */
function alongAxes(op: Op, values: Values, by: ComplexOp, device: Device, axes: readonly number[]): Tensor[] {
  const rest = (x: Tensor): number[] => x.shape.map((_, axis) => axis).filter((axis) => !axes.includes(axis)),
    x = values.find(isComplexTensor)!,
    kept = rest(x),
    at = op.params.findIndex(({ name }) => name === "keepdim"),
    keeps = Boolean(values[at]) || x.ndim === 0,
    row = views.reshape(views.permute(x, [...kept, ...axes]), [...kept.map((axis) => x.shape[axis]!), -1]),
    one: Op = { ...op, params: [...op.params.filter(({ name }) => name !== "dim"), DIM] },
    given = values.filter((_, i) => op.params[i]?.name !== "dim").map((value) => (value === x ? row : value));
  const made = paired(one, [...given.slice(0, one.params.length - 1), kept.length], by, device);
  if (!keeps) return made;
  const shape = x.shape.map((n, axis) => (axes.includes(axis) ? 1 : n));
  return made.map((result) => views.reshape(result, shape));
}
const DIM = { name: "dim", kind: "dim" } as Op["params"][number];

// --- Ops that are linear in parameters --------------------------------------------------------------

/** The products of parameters of which the results are sums, less those of which a factor is not given. */
const termsOf = (text: string, { params }: Op, values: Values): number[][] =>
  text
    .replace("*", "")
    .split(",")
    .map((term) => Array.from(term, (digit) => parseInt(digit, 36)))
    .filter((term) => term.every((at) => params[at]!.slot < 0 || (values[at] !== null && values[at] !== undefined)));

/** The parameters of which each product has just one, and of those among them that are complex as many as possible. */
function split(terms: readonly (readonly number[])[], values: Values): number[] | null {
  const all = [...new Set(terms.flat())];
  let best: number[] | null = null,
    most = 0;
  for (let bits = 1; bits < 1 << all.length; bits++) {
    const chosen = all.filter((_, i) => bits & (1 << i));
    if (!terms.every((term) => term.filter((at) => chosen.includes(at)).length === 1)) continue;
    const worth = 16 * chosen.filter((at) => isComplex(values[at])).length - chosen.length;
    if (worth > most) {
      best = chosen;
      most = worth;
    }
  }
  return best;
}

/** An op that computes each element by itself, of tensors that are complex and real ones beside them: once, of pairs. */
function atOnce(compiled: CompiledOp, values: Values, terms: number[][]): Tensor[] | null {
  const chosen = split(terms, values);
  if (!chosen || values.some((value, i) => chosen.includes(i) !== isComplex(value) || value instanceof Complex))
    return null;
  return runValues(
    compiled,
    values.map((value) =>
      isComplexTensor(value) ? pairsOf(value) : value instanceof Tensor ? unsqueeze(value, -1) : value,
    ),
  ).map((x) => named(compiled, x));
}

/** The real (0) or the imaginary (1) part of a value. */
function partOf(value: unknown, part: 0 | 1): unknown {
  if (isComplexTensor(value)) return select(pairsOf(value), -1, part);
  if (value instanceof Complex) return part ? value.im : value.re;
  if (!part) return value;
  return value instanceof Tensor ? expand(filledOn(value.storage.device, [], 0, value.dtype, "zeros"), value.shape) : 0;
}

/** The op of real parts plus i times that of imaginary parts of some parameters; of the others in their turn. */
function byParts(compiled: CompiledOp, values: Values, terms: number[][], device: Device): Tensor[] {
  if (!values.some(isComplex)) return runValues(compiled, [...values]);
  const chosen = split(terms, values),
    { name, params } = compiled.op;
  if (!chosen) {
    const at = values.findIndex(isComplex);
    throw new TypeMismatchError(`${name}: argument '${params[at]!.name}' cannot be complex here`);
  }
  const [real, imaginary] = ([0, 1] as const).map((part) =>
    byParts(
      compiled,
      values.map((value, i) => (chosen.includes(i) ? partOf(value, part) : value)),
      terms,
      device,
    ),
  ) as [Tensor[], Tensor[]];
  return real.map((x, i) => {
    const y = imaginary[i]!;
    if (!isComplexTensor(x) && !isComplexTensor(y)) {
      // Of whole numbers the parts are whole, too.
      const parts = [real[i]!, y as Tensor].map((part) => (isFloat(part.dtype) ? part : cast(part, "float32", name)));
      return named(compiled, runValues(complex_ofOp, parts)[0]!);
    }
    const pairs = [x, y].map((part) => toPairs(part, device, name));
    return named(compiled, runValues(complex_joinedOp, pairs)[0]!);
  });
}

// --- In place, and which op it is -------------------------------------------------------------------

/** What a tensor is now, in its place on the tape: the way back may need it when the tensor has become another. */
function past(x: Tensor): Tensor {
  const out = unrecorded(() => clone(x));
  out.node = x.currentNode();
  out.outputNumber = x.outputNumber;
  return out;
}

function runInPlace(compiled: CompiledOp, values: Values): Tensor {
  const x = values[0] as Tensor,
    name = `${compiled.op.name}_`;
  beforeInPlace(x, name);
  const before = recording(...values.filter((value) => value instanceof Tensor)) ? past(x) : x,
    result = run(
      compiled,
      values.map((value) => (value === x ? before : value)),
      null,
    )[0]!;
  if (!sameShape(x.shape, result.shape))
    throw new OpError(
      `${name}: output with shape ${showShape(x.shape)} doesn't match the broadcast shape ${showShape(result.shape)}`,
    );
  // What is a size is no complex number any more; truth values become some, as in PyTorch.
  if (isComplexTensor(x) && isFloat(result.dtype))
    throw new TypeMismatchError(`${name}: In-place ${compiled.op.name} is not supported for complex tensors`);
  const fits = (to: DType, from: DType): boolean => to === "complex64" || (from !== "complex64" && can_cast(from, to));
  if (!fits(x.dtype, result.dtype))
    throw new TypeMismatchError(
      `${name}: result type ${result.dtype} can't be cast to the desired output type ${x.dtype}`,
    );
  return copy_(x, result, name);
}

/** For the choice between ops of one name, which shapes decide. */
const realOf = ({ pairs }: CompiledOp, values: Values): unknown[] =>
  values.map((value, i) => {
    if (pairs?.[1][i] === "1" && value instanceof Tensor)
      return value.dtype === "complex64" ? asPairs(value) : expand(unsqueeze(value, -1), [...value.shape, 2]);
    if (isComplexTensor(value)) return asPart(value, 0);
    return value instanceof Complex ? value.re : value === "complex64" ? undefined : value;
  });

const conj = (x: Tensor): Tensor =>
  isComplexTensor(x) ? complexOf(runValues(complex_conjOp, [pairsOf(x)])[0]!, "ConjBackward0") : x;

/** Copies elements: what is real has imaginary parts of 0, and what becomes real loses them; bools tell whether there is any. */
function copy(target: Tensor, source: Tensor): void {
  const [to, from] =
    target.dtype !== "complex64"
      ? [[target], [target.dtype === "bool" ? notZero(source) : asPart(source, 0)]]
      : source.dtype === "complex64"
        ? [[asPairs(target)], [asPairs(source)]]
        : [
            [asPart(target, 0), asPart(target, 1)],
            [source, nothing(target)],
          ];
  to.forEach((part, i) => {
    copyInto(part, from[i]!);
  });
  // Views hold the memory of what they are views of.
  for (const part of [...to, ...from]) if (part !== target && part !== source) part.dispose();
}

/** Zeros in the shape of a complex tensor. */
function nothing({ storage: { device }, shape }: Tensor): Tensor {
  const zero = filledOn(device, [], 0, "float32", "copy");
  return zero.lay(shape, frozen(shape.map(() => 0)), 0);
}

/** Which complex numbers have a part that is not 0. */
const notZero = (x: Tensor): Tensor =>
  tidy(() => runValues(complex_neOp, [pairsOf(x), toPairs(0, x.storage.device, "ne")])[0]!);

/** From now on ops take complex numbers: whatever makes some calls it first.  Pairs are views, and hold the memory of what
 *  they are views of: none is left. */
export function takeComplex(): void {
  useComplexCopy(copy);
  usePairs({ inMemory, pairsOf, complexOf });
  useComplexCalls({
    run: (...call) => tidy(() => run(...call)),
    runInPlace: (...call) => tidy(() => runInPlace(...call)),
    conj: (x) => tidy(() => conj(x)),
    decide: (compiled, values, by) =>
      tidy(() => {
        by(realOf(compiled, values));
      }),
  });
}
