// The number of a tensor without axes, where a function takes a number: the call reads it, as PyTorch's does.

import { Complex, inMemory } from "../elements/complex-number.js";
import { capturing } from "../base/capturing.js";
import { refuse } from "../base/argument-kinds.js";
import { OpError } from "../base/errors.js";
import { isFloat, numberOf } from "../elements/dtype.js";
import type { Tensor } from "./tensor.js";

type Element = number | bigint | boolean | Complex;

/**
 * That number, a whole one if `whole`; the tensor itself where PyTorch takes none for a number, as it has axes or needs
 * a gradient.  Throws for one on a GPU, which no call waits for.  `tried`: the call is only tried, which a program that
 * is captured shall not see.
 */
export function numberIn(x: Tensor, op: string, name: string, whole: boolean, tried = false): Element | Tensor {
  if (x.ndim > 0 || x.requires_grad) return x;
  x.check(op);
  if (whole && (isFloat(x.dtype) || x.dtype === "complex64")) refuse(op, name, "a whole number", x);
  if (x.device !== "cpu")
    throw new OpError(
      `${op}: argument '${name}' is a tensor on ${x.device}, whose number a call cannot wait for: give await x.item()`,
    );
  return tried && capturing ? capturing.apart(() => onHost(x)) : onHost(x);
}

/** The first element of a tensor on the CPU. */
export function onHost(x: Tensor): Element {
  const elements = x.storage.as(x.dtype),
    { offset } = inMemory(x);
  if (x.dtype === "complex64") return new Complex(Number(elements[offset]), Number(elements[offset + 1]));
  return x.dtype === "bool" ? elements[offset] !== 0 : (numberOf(elements[offset]!) as number | bigint);
}
