export interface SumOptions {
  /** axis or list of axes, default `all` */
  dim?: number | readonly number[] | null;
  /** NumPy's name for `dim`. */
  axis?: number | readonly number[] | null;
  /** true or false, default `false` */
  keepdim?: boolean;
  /** NumPy's name for `keepdim`. */
  keepdims?: boolean;
  /** type, or null */
  dtype?: DType | null;
}

export const sumOp: CompiledOp = /* @__PURE__ */ compiled_(data_.sum, PARTS_);

/**
 * Adds elements along `dim`, or all of them.  Booleans are counted.
 *
 * Like `torch.sum`.
 *
 * @param input tensor of any type
 * @param dim axis or list of axes, default `all`
 * @param keepdim true or false, default `false`
 * @param options.dtype type, or null
 * @returns tensor of numbers without the axes of dim, or with length 1 if keepdim
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
