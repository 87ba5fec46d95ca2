export interface Conv2dOptions {
  /** tensor of numbers [groups · O], or null */
  bias?: Tensor | null;
  /** whole number, or one for each of H, W, default `1` */
  stride?: number | readonly number[];
  /** whole number, or one for each of H, W, default `0` */
  padding?: number | readonly number[];
  /** whole number, or one for each of H, W, default `1` */
  dilation?: number | readonly number[];
  /** whole number, default `1` */
  groups?: number;
}

export const conv2dOp: CompiledOp = /* @__PURE__ */ onWebGPU_(/* @__PURE__ */ compiled_(data_.conv2d, PARTS_), () => conv2d_winogradOp, [0, 1, 2, (e) => e.padding0, (e) => e.padding1], (e) => e.rank_N === 1 && e.type_input === 5 && e.K0 === 3 && e.stride0 === 1 && e.dilation0 === 1 && e.groups === 1 && e.C * e.O >= 64 * (e.C + e.O) && e.count_N * (e.Y0 * e.Y1) * e.C * e.O >= Math.pow(2, 27) && e.count_N * (e.Y0 * e.Y1) * Math.max(e.C, e.O) <= 6 * Math.pow(2, 20) && e.K1 === 3 && e.stride1 === 1 && e.dilation1 === 1 ? 1 : 0);

/**
 * Slides `weight` over `input` (a cross-correlation), adding `bias`.
 *
 * Like `torch.conv2d`, `torch.nn.functional.conv2d`.
 *
 * @param input tensor of numbers [*N, groups · C, H, W]
 * @param weight tensor of numbers [groups · O, C, K_H, K_W]
 * @param bias tensor of numbers [groups · O], or null
 * @param stride whole number, or one for each of H, W, default `1`
 * @param padding whole number, or one for each of H, W, default `0`
 * @param dilation whole number, or one for each of H, W, default `1`
 * @param groups whole number, default `1`
 * @returns tensor of numbers [*N, groups · O, Y_H, Y_W]
 * @example
 * torch.conv2d(torch.tensor([[[1, 2, 3], [4, 5, 6], [7, 8, 9]]]), torch.tensor([[[[1, 1], [1, 1]]]]))  // [[[12, 16], [24, 28]]]
 * torch.conv2d(torch.tensor([[[1, 2], [3, 4]]]), torch.tensor([[[[1]]], [[[10]]]]), { stride: 2 })  // [[[1]], [[10]]]
 */
export function conv2d(input: Tensor, weight: Tensor, options?: Conv2dOptions): Tensor;
export function conv2d(input: Tensor, weight: Tensor, bias: Tensor | null, options?: Conv2dOptions): Tensor;
export function conv2d(input: Tensor, weight: Tensor, bias: Tensor | null, stride: number | readonly number[], options?: Conv2dOptions): Tensor;
export function conv2d(input: Tensor, weight: Tensor, bias: Tensor | null, stride: number | readonly number[], padding: number | readonly number[], options?: Conv2dOptions): Tensor;
export function conv2d(input: Tensor, weight: Tensor, bias: Tensor | null, stride: number | readonly number[], padding: number | readonly number[], dilation: number | readonly number[], options?: Conv2dOptions): Tensor;
export function conv2d(input: Tensor, weight: Tensor, bias: Tensor | null, stride: number | readonly number[], padding: number | readonly number[], dilation: number | readonly number[], groups: number): Tensor;
export function conv2d(...args: unknown[]): Tensor {
  return run_(conv2dOp, args) as Tensor;
}
