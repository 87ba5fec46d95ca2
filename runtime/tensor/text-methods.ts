// Tensors as text, as methods: functions/tensor-methods.ts installs them.

import { TypeMismatchError } from "../base/errors.js";
import { print, printSync } from "./print.js";
import type { Tensor } from "./tensor.js";

declare module "./tensor.js" {
  interface Tensor extends TextMethods {}
}

export class TextMethods {
  /**
   * The tensor as PyTorch prints it.
   *
   * @example
   * await torch.tensor([1.5, 2]).text()  // "tensor([1.5000, 2.0000])"
   */
  text(this: Tensor): Promise<string> {
    return print(this);
  }
  /**
   * As text() where the values are at hand (cpu), else without them.
   *
   * @example
   * torch.tensor([1.5, 2]).toString()  // "tensor([1.5000, 2.0000])"
   */
  toString(this: Tensor): string {
    return printSync(this);
  }
  [Symbol.for("nodejs.util.inspect.custom")](this: Tensor): string {
    return printSync(this);
  }
  /**
   * Never what is inside.
   *
   * @example
   * torch.tensor([1.5, 2]).toJSON()  // "tensor([1.5000, 2.0000])"
   */
  toJSON(this: Tensor, _key?: string): string {
    return this.toString();
  }
  /** JavaScript's operators, `Number(x)` and the like ask for this; a template gives the text. */
  [Symbol.toPrimitive](this: Tensor, hint: string): string {
    if (hint === "string") return this.toString();
    throw new TypeMismatchError(
      "JavaScript's operators do not work on tensors: for x + y, x - y, x * y, x / y, -x, x > y, x < y, x == y write x.add(y), " +
        "x.sub(y), x.mul(y), x.div(y), x.neg(), x.gt(y), x.lt(y), x.eq(y); as a number it is await x.item(), as text String(x)",
    );
  }
}
