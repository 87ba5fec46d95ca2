// Methods that give a tensor in another type, and new tensors in the type of this one.  functions/tensor-methods.ts
// installs them.

import * as copying from "../tensor/copy.js";
import * as transfer from "../views/transfer.js";
import { stridedOf } from "../creation/create-shaped.js";
import * as create from "../creation/create.js";
import { spread } from "../creation/filled.js";
import { tensorOf } from "../tensor/tensor-arguments.js";
import type { Layout, Tensor } from "../tensor/tensor.js";

declare module "../tensor/tensor.js" {
  interface Tensor extends Typed, Casts {}
}

type Shape = readonly number[];
const withDefaults = create.withDefaults as (args: readonly unknown[], like: Tensor) => [never, never, never];

export class Typed {
  /**
   * In the type of another tensor.
   *
   * @example
   * torch.tensor([1.5, 2.5]).type_as(torch.zeros(1, { dtype: torch.int32 }))  // [1, 2]
   */
  type_as(this: Tensor, other: Tensor): Tensor {
    return copying.cast(this, tensorOf(other, "type_as", "other").dtype, "type_as");
  }
  /**
   * A tensor of these values in the type and on the device of this one.
   *
   * @example
   * torch.zeros(1, { dtype: torch.float16 }).new_tensor([1, 2]).dtype  // "float16"
   */
  new_tensor(this: Tensor, data: create.TensorData, options?: create.Options): Tensor;
  new_tensor(this: Tensor, ...args: never[]): Tensor {
    return create.madeOf("new_tensor", ["data"], withDefaults(args, this));
  }
  /**
   * A tensor of undefined values in the type and on the device of this one.
   *
   * @example
   * torch.zeros(1, { dtype: torch.int32 }).new_empty(2, 3).dtype  // "int32"
   */
  new_empty(this: Tensor, ...size: create.Sizes): Tensor {
    return create.unset("new_empty", withDefaults(size, this));
  }
  /**
   * Zeros in the type and on the device of this tensor.
   *
   * @example
   * torch.ones(1, { dtype: torch.int32 }).new_zeros(2, 3)  // [[0, 0, 0], [0, 0, 0]]
   */
  new_zeros(this: Tensor, ...size: create.Sizes): Tensor {
    return create.constant("new_zeros", withDefaults(size, this), 0);
  }
  /**
   * A tensor of undefined values with these strides, in the type and on the device of this one.
   *
   * @example
   * torch.zeros(1).new_empty_strided([2, 3], [1, 2]).stride()  // [1, 2]
   */
  new_empty_strided(this: Tensor, size: Shape, stride: Shape, options?: create.Options): Tensor;
  new_empty_strided(this: Tensor, ...args: never[]): Tensor {
    return stridedOf("new_empty_strided", withDefaults(args, this));
  }
  /**
   * Ones in the type and on the device of this tensor.
   *
   * @example
   * torch.zeros(1, { dtype: torch.bool }).new_ones(2)  // [true, true]
   */
  new_ones(this: Tensor, ...size: create.Sizes): Tensor {
    return create.constant("new_ones", withDefaults(size, this), 1);
  }
  /**
   * A number everywhere, in the type and on the device of this tensor.
   *
   * @example
   * torch.zeros(1).new_full([2, 2], 7)  // [[7, 7], [7, 7]]
   */
  new_full(this: Tensor, size: Shape, fill_value: number | boolean | Tensor, options?: create.Options): Tensor;
  new_full(this: Tensor, ...args: never[]): Tensor {
    return create.fullOf("new_full", withDefaults(args, this), spread);
  }
}

/** Types by name. */
interface Casts {
  /**
   * As float32; itself where it is.
   *
   * @example
   * torch.tensor([1, 2]).float().dtype  // "float32"
   */
  float(options?: Layout): Tensor;
  /**
   * As float16; itself where it is.
   *
   * @example
   * torch.tensor([1, 2]).half().dtype  // "float16"
   */
  half(options?: Layout): Tensor;
  /**
   * As float64, which the CPU has; itself where it is.
   *
   * @example
   * torch.tensor([1, 2]).double().dtype  // "float64"
   */
  double(options?: Layout): Tensor;
  /**
   * As int32; itself where it is.
   *
   * @example
   * torch.tensor([1.9, -1.9]).int()  // [1, -1]
   */
  int(options?: Layout): Tensor;
  /**
   * As int64; itself where it is.
   *
   * @example
   * torch.tensor([1.9, -1.9]).long()  // [1, -1]
   */
  long(options?: Layout): Tensor;
  /**
   * As uint8; itself where it is.
   *
   * @example
   * torch.tensor([1.9, 255]).byte()  // [1, 255]
   */
  byte(options?: Layout): Tensor;
  /**
   * As int8; itself where it is.
   *
   * @example
   * torch.tensor([127, 128]).char()  // [127, -128]
   */
  char(options?: Layout): Tensor;
  /**
   * As bool, false where an element is 0; itself where it is.
   *
   * @example
   * torch.tensor([0, 0.5, 2]).bool()  // [false, true, true]
   */
  bool(options?: Layout): Tensor;
  /**
   * On the CPU: itself where it is there; from a GPU a promise.
   *
   * @example
   * const x = torch.ones(2, { device: "cpu" });
   * x.cpu() === x  // true
   */
  cpu(options?: Layout): Tensor | Promise<Tensor>;
}

const TYPES = {
  float: "float32",
  half: "float16",
  bfloat16: "bfloat16",
  double: "float64",
  int: "int32",
  long: "int64",
  short: "int16",
  byte: "uint8",
  char: "int8",
  bool: "bool",
} as const;

/** Copies by the names of methods.  All lie in order: a `memory_format` is bound, and changes nothing. */
export function copiedAs(): Record<string, (x: Tensor) => unknown> {
  const casts = Object.entries(TYPES).map(([name, dtype]) => [name, (x: Tensor) => copying.cast(x, dtype, name)]);
  return {
    clone: copying.clone,
    contiguous: copying.contiguous,
    cpu: (x) => transfer.to(x, ["cpu"]),
    ...(Object.fromEntries(casts) as Record<string, (x: Tensor) => unknown>),
  };
}
