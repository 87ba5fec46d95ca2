export interface SumOptions {
  /** `dims`, default `all` */
  dim?: number | readonly number[] | null;
  /** `bool`, default `false` */
  keepdim?: boolean;
  /** `dtype`, optional */
  dtype?: DType | null;
}

export const sumOp: CompiledOp = /* @__PURE__ */ compiled_(data_.sum, PARTS_);

/**
 * Adds elements along `dim`, or all of them.  Booleans are counted.
 *
 * Like `torch.sum`.
 *
 * @param input `Any`
 * @param dim `dims`, default `all`
 * @param keepdim `bool`, default `false`
 * @param options.dtype `dtype`, optional
 * @example
 * torch.sum(torch.tensor([[1, 2], [3, 4]]))  // 10
 * torch.sum(torch.tensor([[1, 2], [3, 4]]), 0)  // [4, 6]
 */
export function sum(input: Tensor, options?: SumOptions): Tensor;
export function sum(input: Tensor, dim: number | readonly number[] | null, options?: SumOptions): Tensor;
export function sum(input: Tensor, dim: number | readonly number[] | null, keepdim: boolean, options?: SumOptions): Tensor;
export function sum(...args: unknown[]): Tensor {
  return run_(sumOp, args) as Tensor;
}
