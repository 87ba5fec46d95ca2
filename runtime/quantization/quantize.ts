// Floating weights to few bits, as torchao's quantize_ does: each group of a row by its least and largest weight.

import { pack_int4Op, pack_int8Op } from "../../ops/quantised.js";
import { abs, add, amax, amin, clamp, div, neg, round, sub } from "../../names/torch.js";
import { count } from "../base/argument-kinds.js";
import { titled } from "../base/class-name.js";
import { OpError } from "../base/errors.js";
import { taken } from "../base/named-arguments.js";
import { run } from "../dispatch/call.js";
import { Linear } from "../nn/layers/linear.js";
import { Module } from "../nn/module.js";
import { unrecorded } from "../tape/grad-mode.js";
import type { Tensor } from "../tensor/tensor.js";
import { to } from "../views/transfer.js";
import { reshape, unsqueeze } from "../views/views.js";
import { QuantizedLinear } from "./quantized-linear.js";
import { QuantizedWeight } from "./quantized-weight.js";

/** How the weights of a layer become small ones. */
export class WeightOnly {
  /** group_size: weights of a row that share a scale; null for the whole row. */
  constructor(
    readonly bits: 4 | 8,
    readonly group_size: number | null,
  ) {}
}
titled(WeightOnly, "WeightOnly");

/** 4 bits for each weight; a group has a scale and a zero point, 0 to 15. */
export const int4_weight_only = (...args: [group_size?: number] | [{ group_size?: number }]): WeightOnly =>
  new WeightOnly(4, size(taken("int4_weight_only group_size?", args)[0] ?? 128, "int4_weight_only"));
/** 8 bits with a sign for each weight, and a scale for each row, or each group of one. */
export const int8_weight_only = (
  ...args: [group_size?: number | null] | [{ group_size?: number | null }]
): WeightOnly => {
  const given = taken("int8_weight_only group_size?", args)[0] ?? null;
  return new WeightOnly(8, given === null ? null : size(given, "int8_weight_only"));
};
const size = (value: unknown, op: string): number => count(value, op, "group_size");

/** The least step between two codes, so that a group of equal weights has one. */
const LEAST_STEP = 1e-9;

/** A matrix in few bits. */
export function quantized(weight: Tensor, config: WeightOnly): QuantizedWeight {
  const { bits, group_size } = config,
    [rows, columns] = weight.shape as [number, number],
    each = 32 / bits,
    size = group_size ?? columns;
  if (weight.ndim !== 2)
    throw new OpError(`quantize_: weights must be a matrix, and have the shape [${weight.shape.join(", ")}]`);
  if (size <= 0 || columns % size || size % each)
    throw new OpError(
      `quantize_: ${columns} columns cannot be groups of ${size}, which must divide them and be a multiple of ${each}`,
    );
  return unrecorded(() => {
    const grouped = reshape(weight.detach(), [rows, columns / size, size]) as Tensor,
      [scale, zero] = bits === 4 ? spanned(grouped) : [evenly(grouped), null],
      steps = round(div(grouped, unsqueeze(scale, 2) as Tensor)) as Tensor,
      moved = zero ? (add(steps, unsqueeze(zero, 2) as Tensor) as Tensor) : steps,
      codes = to(bits === 4 ? clamp(moved, 0, 15) : clamp(moved, -128, 127), ["int32"]) as Tensor,
      words = run(bits === 4 ? pack_int4Op : pack_int8Op, [codes]) as Tensor;
    return new QuantizedWeight(bits === 4 ? "int4" : "int8", weight.shape, {
      codes: words,
      scale,
      ...(zero ? { zero } : {}),
    });
  });
}

/** Scale and zero point of groups from their least to their largest weight; 0 is among the codes. */
function spanned(grouped: Tensor): [scale: Tensor, zero: Tensor] {
  const least = clamp(amin(grouped, 2), null, 0) as Tensor,
    most = clamp(amax(grouped, 2), 0) as Tensor,
    scale = clamp(div(sub(most, least), 15), LEAST_STEP) as Tensor;
  return [scale, clamp(round(div(neg(least), scale)), 0, 15) as Tensor];
}

/** The scale of groups whose codes are as far below zero as above. */
const evenly = (grouped: Tensor): Tensor => clamp(div(amax(abs(grouped), 2), 127), LEAST_STEP) as Tensor;

/**
 * Puts small weights in the place of those of every nn.Linear within a module, itself left as it is, as torchao's
 * quantize_ does.  `filter_fn`: which modules, by the module and its path.
 */
export function quantize_(
  model: Module,
  config: WeightOnly,
  filter_fn?: ((module: Module, path: string) => boolean) | null,
): void;
export function quantize_(...args: unknown[]): void {
  const [model, config, filter] = taken("quantize_ model config filter_fn?", args) as [
    Module,
    WeightOnly,
    ((module: Module, path: string) => boolean) | null | undefined,
  ];
  if (!(model instanceof Module)) throw new OpError("quantize_: 'model' must be a module");
  if (!(config instanceof WeightOnly))
    throw new OpError("quantize_: 'config' must be int4_weight_only() or int8_weight_only()");
  for (const [path, module] of [...model.named_modules()]) {
    if (path === "" || !(module instanceof Linear) || (filter && !filter(module, path))) continue;
    const linear = module as Linear;
    model.set_submodule(path, new QuantizedLinear(quantized(linear.weight, config), linear.bias));
  }
}
