export interface Pad2dOptions {
  /** number, default `0` */
  value?: number;
}

export const pad2dOp: CompiledOp = /* @__PURE__ */ compiled_(data_.pad2d, PARTS_);

/**
 * Adds a border around the last axes that continues what is inside.
 *
 * Like `torch.nn.functional.pad`.
 *
 * @param input tensor of any type [*B, H, W]
 * @param pad 4 whole numbers
 * @param mode one of "reflect", "replicate", "circular"
 * @param value number, default `0`
 * @returns tensor of any type [*B, Y_H, Y_W]
 * @example
 * torch.nn.functional.pad(torch.tensor([[[1, 2], [3, 4]]]), [1, 0, 0, 1], "reflect")  // [[[2, 1, 2], [4, 3, 4], [2, 1, 2]]]
 * torch.nn.functional.pad(torch.tensor([[[1, 2], [3, 4]]]), [1, 0, 0, 1], "circular")  // [[[2, 1, 2], [4, 3, 4], [2, 1, 2]]]
 */
export function pad2d(input: Tensor, pad: number | readonly number[], mode: "reflect" | "replicate" | "circular", options?: Pad2dOptions): Tensor;
export function pad2d(input: Tensor, pad: number | readonly number[], mode: "reflect" | "replicate" | "circular", value: number): Tensor;
export function pad2d(input: Tensor, pad: number | readonly number[], options: { mode: "reflect" | "replicate" | "circular" } & Pad2dOptions): Tensor;
export function pad2d(input: Tensor, options: { pad: number | readonly number[]; mode: "reflect" | "replicate" | "circular" } & Pad2dOptions): Tensor;
export function pad2d(...args: unknown[]): Tensor {
  return run_(pad2dOp, args) as Tensor;
}
