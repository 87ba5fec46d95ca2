// torch.testing.make_tensor: random tensors of any type, whose values lie within it.

import { flag, number } from "../base/argument-kinds.js";
import { OpError, TypeMismatchError } from "../base/errors.js";
import { taken } from "../base/named-arguments.js";
import { integers } from "../base/shape.js";
import { rand, randint } from "../creation/random-tensors.js";
import { zeros_like } from "../creation/like.js";
import { type DType, type DTypeName, isFloat, toDType } from "../elements/dtype.js";
import { view_as_complex } from "../functions/complex-parts.js";
import { finfo, iinfo } from "../functions/type-info.js";
import { unrecorded } from "../tape/grad-mode.js";
import { add, mul } from "../../names/torch.js";
import type { Tensor } from "../tensor/tensor.js";
import { ne, where } from "../views/needed-ops.js";
import { sliceAxis } from "../views/views.js";

export interface MakeTensorOptions {
  dtype: DTypeName;
  device: string;
  /** The least value; -9 unless given, or 0 where there is no sign. */
  low?: number | null;
  /** What values stay below; 10 for whole numbers unless given, else 9. */
  high?: number | null;
  requires_grad?: boolean;
  /** Whether the elements lie apart in memory: every second one of a larger tensor. */
  noncontiguous?: boolean;
  /** Puts 1, or the least positive float, in place of zeros. */
  exclude_zero?: boolean;
}

const OP = "make_tensor";

/** The limits of a type's values, the second one exclusive, and those that are usual. */
function limitsOf(dtype: DType): { lowest: number; beyond: number; low: number; high: number } {
  if (dtype === "bool") return { lowest: 0, beyond: 2, low: 0, high: 2 };
  if (isFloat(dtype) || dtype === "complex64") {
    const { min, max } = finfo(isFloat(dtype) ? dtype : "float32");
    return { lowest: min, beyond: max, low: -9, high: 9 };
  }
  // Whole numbers are drawn as JavaScript's, which are exact up to 2**53.
  const { min, max } = iinfo(dtype),
    exact = Number.MAX_SAFE_INTEGER;
  return { lowest: Math.max(min, -exact), beyond: Math.min(max + 1, exact), low: -9, high: 10 };
}

/**
 * A tensor of this shape with random values from `low` up to, but without, `high`, which are brought within what the
 * type holds: `make_tensor([2, 3], { dtype: torch.float32, device: "cpu" })`.  The draws are this package's own.
 *
 * @param shape the sizes
 * @param dtype the type; a must
 * @param device "cpu" or "webgpu"; a must
 * @param requires_grad whether it requires a gradient
 *
 * @example
 * torch.testing.make_tensor([100], { dtype: torch.float32, device: "cpu", low: 0, high: 1 }).max().lt(1)  // true
 */
export function make_tensor(shape: readonly number[], options: MakeTensorOptions): Tensor;
export function make_tensor(...shape: [...number[], MakeTensorOptions]): Tensor;
export function make_tensor(...args: unknown[]): Tensor {
  const given = taken(
      `${OP} *shape | dtype device low high requires_grad noncontiguous exclude_zero memory_format`,
      args,
    ),
    options = given.pop() as Partial<MakeTensorOptions>,
    shape = integers(given as never, OP, "shape"),
    { device, requires_grad = false, noncontiguous = false, exclude_zero = false } = options;
  for (const name of ["dtype", "device"] as const)
    if (options[name] == null) throw new TypeMismatchError(`${OP}: missing argument '${name}'`);
  const dtype = toDType(options.dtype, "make_tensor"),
    floating = isFloat(dtype) || dtype === "complex64",
    limits = limitsOf(dtype),
    within = (x: number): number => Math.min(Math.max(x, limits.lowest), limits.beyond);
  let low = number(options.low ?? limits.low, OP, "low"),
    high = number(options.high ?? limits.high, OP, "high");
  if (Number.isNaN(low) || Number.isNaN(high))
    throw new OpError(`${OP}: \`low\` and \`high\` cannot be NaN, but got low=${low} and high=${high}`);
  if (low > high || (low === high && !floating))
    throw new OpError(`${OP}: \`low\` must be less than \`high\`, but got ${low} >= ${high}`);
  if (high < limits.lowest || low >= limits.beyond)
    throw new OpError(
      `${OP}: The value interval specified by \`low\` and \`high\` is [${low}, ${high}), but torch.${dtype} only ` +
        `supports [${limits.lowest}, ${limits.beyond})`,
    );
  if (flag(requires_grad, OP, "requires_grad") && !floating)
    throw new OpError(
      `${OP}: \`requires_grad=True\` is not supported for boolean and integral dtypes, but got dtype=torch.${dtype}`,
    );
  [low, high] = [within(low), within(high)];
  const apart =
      flag(noncontiguous, OP, "noncontiguous") && shape.length > 0 && !shape.includes(0) && shape.some((n) => n > 1),
    last = shape.length - 1,
    drawn = apart ? [...shape.slice(0, last), 2 * shape[last]!] : shape;
  const made = unrecorded(() => {
    const any = floating
        ? floats(drawn, dtype, device!, low, high)
        : randint(Math.ceil(low), Math.ceil(high), drawn, { dtype, device: device! }),
      least = floating ? finfo(isFloat(dtype) ? dtype : "float32").tiny : 1,
      all = flag(exclude_zero, OP, "exclude_zero") ? where(ne(any, zeros_like(any)), any, least) : any;
    // From the second element on, so that who forgets the offset is found, too.
    return apart ? sliceAxis(all, last, 1, shape[last]!, 2, OP) : all;
  });
  return requires_grad ? made.requires_grad_() : made;
}

function floats(shape: readonly number[], dtype: DType, device: string, low: number, high: number): Tensor {
  if (dtype === "complex64") return view_as_complex(floats([...shape, 2], "float32", device, low, high));
  // Halves, because the whole way from one limit to the other is no number of the type.
  const x = mul(rand(shape, { dtype, device }), high / 2 - low / 2);
  return mul(add(x, low / 2), 2) as Tensor;
}
