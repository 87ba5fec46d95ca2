export interface Conv2dOptions {
  /** `Num[(groups O)]`, optional */
  bias?: Tensor | null;
  /** `ints[*K]`, default `1` */
  stride?: number | readonly number[];
  /** `ints[*K]`, default `0` */
  padding?: number | readonly number[];
  /** `ints[*K]`, default `1` */
  dilation?: number | readonly number[];
  /** `int`, default `1` */
  groups?: number;
}

export const conv2dOp: CompiledOp = /* @__PURE__ */ compiled_(data_.conv2d, PARTS_);

/**
 * Slides `weight` over `input` (a cross-correlation), adding `bias`.
 *
 * Like `torch.conv2d`, `torch.nn.functional.conv2d`.
 *
 * @param input `Num[*N, (groups C), *X:2]`
 * @param weight `Num[(groups O), C, *K:2]`
 * @param bias `Num[(groups O)]`, optional
 * @param stride `ints[*K]`, default `1`
 * @param padding `ints[*K]`, default `0`
 * @param dilation `ints[*K]`, default `1`
 * @param groups `int`, default `1`
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
