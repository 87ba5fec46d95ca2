// The bits of a tensor as another type, where a device does not keep both in PyTorch's bytes or their elements are of
// different sizes: another tensor with the same values, which shares no memory.

import { view_as_complex, view_as_real } from "../../functions/complex-parts.js";
import { type DType, elementBytes, isFloat, toDType } from "../../elements/dtype.js";
import { stack } from "../../functions/join.js";
import * as torch from "../../../names/torch.js";
import type { Tensor } from "../../tensor/tensor.js";
import { to } from "../../views/transfer.js";
import { sharesBits, viewDtype } from "../../views/view-dtype.js";
import * as views from "../../views/views.js";
import type { Operator } from "../operators.js";

/** Whole numbers by how many bytes they have. */
const UNSIGNED: Readonly<Record<number, DType>> = { 1: "uint8", 2: "uint16", 4: "uint32" },
  SIGNED: Readonly<Record<number, DType>> = { 1: "int8", 2: "int16", 4: "int32" };

const cast = (x: Tensor, dtype: DType): Tensor => to(x, [dtype]) as Tensor;

/** Elements side by side as one of `count` times their size, the lowest bits first. */
function joined(x: Tensor, count: number): Tensor {
  const bytes = elementBytes(x.dtype),
    parts = views.reshape(x, [...x.shape.slice(0, -1), -1, count]),
    part = (i: number, type: DType) => cast(bitsAs(views.select(parts, -1, i), type), "int32");
  let sum = part(count - 1, SIGNED[bytes]!); // it says the sign
  for (let i = count - 2; i >= 0; i--)
    sum = torch.add(torch.mul(sum, 2 ** (8 * bytes)), part(i, UNSIGNED[bytes]!)) as Tensor;
  return cast(sum, SIGNED[bytes * count]!);
}

/** Each element as `count` of a part of its size, the lowest bits first. */
function parted(x: Tensor, count: number): Tensor {
  const bits = (8 * elementBytes(x.dtype)) / count,
    whole = cast(bitsAs(x, SIGNED[elementBytes(x.dtype)]!), "int32"),
    parts = Array.from(
      { length: count },
      (_, i) => torch.bitwise_and(torch.bitwise_right_shift(whole, bits * i), 2 ** bits - 1) as Tensor,
    );
  return cast(views.reshape(stack(parts, -1), [...x.shape.slice(0, -1), -1]), UNSIGNED[bits / 8]!);
}

const HALVES: ReadonlySet<DType> = new Set(["float16", "bfloat16"]);
/** The exponents of float16 and float32 begin at -15 and at -127. */
const OFFSET = 112;

/** The bits of floats of 16 bits as int16, of their values: a CPU keeps them as float32, and a GPU's int16 is a word. */
function bitsOfHalves(x: Tensor): Tensor {
  const wide = cast(x.detach(), "float32"),
    bits = viewDtype(wide, "int32"),
    shifted = (y: Tensor, by: number) => torch.bitwise_right_shift(y, by) as Tensor;
  if (x.dtype === "bfloat16") return cast(shifted(bits, 16), "int16");
  const size = torch.bitwise_and(bits, 0x7fffffff) as Tensor,
    small = torch.lt(size, (OFFSET + 1) * 2 ** 23) as Tensor,
    // below the least exponent the bits are a whole number
    least = cast(torch.mul(torch.where(small, torch.abs(wide), 0), 2 ** 24) as Tensor, "int32"),
    others = torch.sub(shifted(size, 13), OFFSET * 2 ** 10),
    infinite = torch.where(torch.gt(size, 0x7f800000), 0x7e00, 0x7c00),
    found = torch.where(small, least, torch.where(torch.ge(size, 0x7f800000), infinite, others)) as Tensor;
  return cast(torch.where(torch.lt(bits, 0), torch.sub(found, 2 ** 15), found) as Tensor, "int16");
}

/** Floats of 16 bits with the bits of an int16. */
function halvesOf(x: Tensor, dtype: DType): Tensor {
  const bits = cast(x, "int32"),
    shifted = (y: Tensor, by: number) => torch.bitwise_left_shift(y, by) as Tensor;
  if (dtype === "bfloat16") return cast(viewDtype(shifted(bits, 16), "float32"), dtype);
  const size = torch.bitwise_and(bits, 0x7fff) as Tensor,
    // infinities and what is no number have the largest exponent of both types
    offset = torch.where(torch.ge(size, 0x7c00), 2 * OFFSET * 2 ** 23, OFFSET * 2 ** 23) as Tensor,
    others = viewDtype(torch.add(shifted(size, 13), cast(offset, "int32")) as Tensor, "float32"),
    least = torch.mul(cast(size, "float32"), 2 ** -24),
    found = torch.where(torch.lt(size, 2 ** 10), least, others) as Tensor;
  return cast(torch.where(torch.lt(bits, 0), torch.neg(found), found) as Tensor, dtype);
}

/** The bits of `x` as elements of `dtype`; on the memory of `x` where the device keeps both alike. */
export function bitsAs(x: Tensor, dtype: DType): Tensor {
  const [from, size] = [elementBytes(x.dtype), elementBytes(dtype)],
    whole = !isFloat(dtype);
  if (x.dtype === dtype || sharesBits(x.dtype, dtype, x.device)) return viewDtype(x, dtype);
  if (HALVES.has(x.dtype)) return bitsAs(bitsOfHalves(x), dtype);
  if (HALVES.has(dtype)) return halvesOf(bitsAs(x, "int16"), dtype);
  if (x.dtype === "complex64") return bitsAs(views.flatten(view_as_real(x.detach()), -2), dtype);
  if (dtype === "complex64")
    return view_as_complex(views.reshape(bitsAs(x.detach(), "float32"), [...x.shape.slice(0, -1), -1, 2]).contiguous());
  if (from === size && from <= 2 && whole && !isFloat(x.dtype)) return cast(x, dtype);
  if (from < size && size <= 4 && !isFloat(x.dtype)) return bitsAs(joined(x, size / from), dtype);
  if (from > size && from <= 4 && whole) return bitsAs(parted(x, from / size), dtype);
  return viewDtype(x, dtype); // says why not
}

export const BITS: Readonly<Record<string, Operator>> = {
  "view.dtype": ({ args: [x, dtype] }) => bitsAs(x as Tensor, toDType(dtype, "view")),
};
