// Matrices of few bits: words with codes and the numbers that they are scaled by.  Products decode them where they read
// them (ops/quantised.op); nothing keeps what they stand for.

import {
  dequantize_int4Op,
  dequantize_int8Op,
  dequantize_q4_kOp,
  dequantize_q6_kOp,
  linear_int4Op,
  linear_int8Op,
  linear_q4_kOp,
  linear_q6_kOp,
} from "../../ops/quantised.js";
import { index_select } from "../../names/torch.js";
import { pad } from "../../names/functional.js";
import { titled } from "../base/class-name.js";
import { OpError } from "../base/errors.js";
import { taken } from "../base/named-arguments.js";
import type { Device } from "../devices/device.js";
import { run } from "../dispatch/call.js";
import { deviceBytes } from "../elements/dtype.js";
import type { CompiledOp } from "../program/compiled-op.js";
import { keep } from "../tensor/memory.js";
import type { Tensor } from "../tensor/tensor.js";
import { narrow, reshape } from "../views/views.js";
import { to } from "../views/transfer.js";

/** How weights are kept.  `needed`, `more`: the parts that a matrix has, and may have, as its ops take them. */
interface Format {
  readonly linear: CompiledOp;
  readonly dequantize: CompiledOp;
  readonly needed: readonly string[];
  readonly more: readonly string[];
  /** The axes into which the ops divide columns, after those of groups and, with `words`, of words in a group. */
  readonly within: readonly number[];
  readonly words: boolean;
}

const FORMATS = {
  int4: {
    linear: linear_int4Op,
    dequantize: dequantize_int4Op,
    needed: ["codes", "scale"],
    more: ["zero"],
    within: [8],
    words: true,
  },
  int8: {
    linear: linear_int8Op,
    dequantize: dequantize_int8Op,
    needed: ["codes", "scale"],
    more: ["zero"],
    within: [4],
    words: true,
  },
  q4_k: {
    linear: linear_q4_kOp,
    dequantize: dequantize_q4_kOp,
    needed: ["codes", "parts", "scale", "least"],
    more: [],
    within: [4, 2, 8, 4],
    words: false,
  },
  q6_k: {
    linear: linear_q6_kOp,
    dequantize: dequantize_q6_kOp,
    needed: ["low", "high", "parts", "scale"],
    more: [],
    within: [2, 2, 2, 8, 4],
    words: false,
  },
} satisfies Record<string, Format>;

/** Groups of 4 or 8 bits with a scale and, perhaps, a zero point; GGML's Q4_K and Q6_K. */
export type QuantizedFormat = keyof typeof FORMATS;

/** The parts that a matrix of a format is made of, those that it may lack last. */
export const partsOf = (format: QuantizedFormat): readonly string[] => [
  ...FORMATS[format].needed,
  ...FORMATS[format].more,
];

/** Weights of few bits: a matrix, or what PyTorch would keep as a tensor of more axes with rows along the last one. */
export class QuantizedWeight {
  readonly format: QuantizedFormat;
  readonly shape: readonly number[];
  /** The tensors that it is made of, all with rows and groups as their first axes: words, and what goes with a group. */
  readonly parts: Readonly<Record<string, Tensor>>;

  /** Throws OpError where a part is missing, or does not belong to the others. */
  constructor(format: QuantizedFormat, shape: readonly number[], parts: Readonly<Record<string, Tensor>>) {
    const known = Object.hasOwn(FORMATS, format) ? FORMATS[format] : null;
    if (!known)
      throw new OpError(`QuantizedWeight: format must be one of ${Object.keys(FORMATS).join(", ")}, got ${format}`);
    const names = partsOf(format),
      missing = known.needed.find((name) => !Object.hasOwn(parts, name)),
      strange = Object.keys(parts).find((name) => !names.includes(name));
    if (missing ?? strange)
      throw new OpError(
        `QuantizedWeight: ${format} has the parts ${names.join(", ")}; ${missing ?? strange!} is ${missing ? "missing" : "none"}`,
      );
    const codes = parts[known.needed[0]!]!,
      rows = shape.slice(0, -1).reduce((a, b) => a * b, 1),
      columns = shape[shape.length - 1];
    if (codes.ndim < 3 || codes.shape[0] !== rows || columns === undefined)
      throw new OpError(
        `QuantizedWeight: words of the shape [${codes.shape.join(", ")}] cannot be those of [${shape.join(", ")}]`,
      );
    this.format = format;
    this.shape = Object.freeze([...shape]);
    this.parts = Object.freeze(Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, keep(part)])));
    if (this.width < columns)
      throw new OpError(
        `QuantizedWeight: words of the shape [${codes.shape.join(", ")}] hold ${this.width} columns, but there are ${columns}`,
      );
  }

  /** The axes into which the ops divide columns: groups first. */
  private get axes(): number[] {
    const { needed, within, words } = FORMATS[this.format],
      codes = this.parts[needed[0]!]!.shape;
    return [codes[1]!, ...(words ? [codes[2]!] : []), ...within];
  }
  /** Columns that there are codes for; those beyond the matrix are met with zeros. */
  private get width(): number {
    return this.axes.reduce((a, b) => a * b, 1);
  }
  get device(): Tensor["device"] {
    return this.parts[FORMATS[this.format].needed[0]!]!.device;
  }
  /** Bytes that it takes on its device. */
  get nbytes(): number {
    return Object.values(this.parts).reduce((sum, part) => sum + part.numel() * deviceBytes(part.dtype), 0);
  }

  /** `input @ weight.T + bias`, like torch.nn.functional.linear; the weights are decoded inside the kernel. */
  linear(input: Tensor, bias?: Tensor | null): Tensor;
  linear(...args: unknown[]): Tensor {
    const [input, bias = null] = taken("linear input bias?", args) as [Tensor, Tensor | null | undefined],
      [rows, columns] = this.shape as [number, number];
    if (this.shape.length !== 2)
      throw new OpError(`linear: weights must be a matrix, and have the shape [${this.shape.join(", ")}]`);
    const last = input.shape[input.ndim - 1];
    if (last !== columns)
      throw new OpError(
        `linear: 'input' of the shape [${input.shape.join(", ")}] must have ${columns} columns, for weights (${rows}, ${columns})`,
      );
    const wide = this.width === columns ? input : (pad(input, [0, this.width - columns]) as Tensor),
      divided = reshape(wide, [...input.shape.slice(0, -1), ...this.axes]) as Tensor;
    return run(FORMATS[this.format].linear, [divided, ...this.all(), bias]) as Tensor;
  }

  /** The weights as floats, in memory of their own. */
  dequantize(): Tensor {
    const whole = run(FORMATS[this.format].dequantize, this.all()) as Tensor,
      columns = this.shape[this.shape.length - 1]!;
    if (this.width === columns) return reshape(whole, this.shape) as Tensor;
    return reshape(narrow(reshape(whole, [-1, this.width]) as Tensor, 1, 0, columns), this.shape) as Tensor;
  }

  /** Rows as floats, like torch.nn.functional.embedding: of a table only what is asked for is decoded. */
  embedding(ids: Tensor): Tensor {
    const flat = reshape(ids, [-1]) as Tensor,
      parts = Object.fromEntries(
        Object.entries(this.parts).map(([name, part]) => [name, index_select(part, 0, flat) as Tensor]),
      ),
      columns = this.shape[this.shape.length - 1]!,
      found = new QuantizedWeight(this.format, [flat.shape[0]!, columns], parts).dequantize();
    return reshape(found, [...ids.shape, columns]) as Tensor;
  }

  /** The same on another device; `dtype`: what the scales become, and so what products with inputs of that type are. */
  to(device: string | Device, dtype?: string): QuantizedWeight {
    const moved = Object.entries(this.parts).map(([name, part]): [string, Tensor] => {
      const there = to(part, [device]) as Tensor;
      return [name, dtype && there.dtype !== "int32" ? (to(there, [dtype]) as Tensor) : there];
    });
    return new QuantizedWeight(this.format, this.shape, Object.fromEntries(moved));
  }

  private all(): (Tensor | null)[] {
    return partsOf(this.format).map((name) => this.parts[name] ?? null);
  }
}
titled(QuantizedWeight, "QuantizedWeight");
