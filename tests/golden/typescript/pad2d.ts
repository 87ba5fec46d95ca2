export const pad2dOp: CompiledOp = /* @__PURE__ */ compiled_(data_.pad2d, PARTS_);

/**
 * Adds a border around the last axes that continues what is inside.
 *
 * Like `torch.nn.functional.pad`.
 *
 * @param input tensor of any type [*B, H, W]
 * @param pad 4 whole numbers
 * @param mode one of "reflect", "replicate", "circular"
 * @returns tensor of any type [*B, Y_H, Y_W]
 */
export function pad2d(input: Tensor, pad: number | readonly number[], mode: "reflect" | "replicate" | "circular"): Tensor;
export function pad2d(input: Tensor, pad: number | readonly number[], options: { mode: "reflect" | "replicate" | "circular" }): Tensor;
export function pad2d(input: Tensor, options: { pad: number | readonly number[]; mode: "reflect" | "replicate" | "circular" }): Tensor;
export function pad2d(...args: unknown[]): Tensor {
  return run_(pad2dOp, args) as Tensor;
}
