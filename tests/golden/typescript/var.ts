export interface VarOptions {
  /** axis or list of axes, default `all` */
  dim?: number | readonly number[] | null;
  /** NumPy's name for `dim`. */
  axis?: number | readonly number[] | null;
  /** number, default `1` */
  correction?: number;
  /** true or false, default `false` */
  keepdim?: boolean;
  /** NumPy's name for `keepdim`. */
  keepdims?: boolean;
}

export const varOp: CompiledOp = /* @__PURE__ */ compiled_(data_.var_, PARTS_);

/**
 * The variance along `dim`, in two passes; `correction` is taken off the number of elements.
 *
 * Like `torch.var`.
 *
 * @param input float tensor
 * @param dim axis or list of axes, default `all`
 * @param options.correction number, default `1`
 * @param options.keepdim true or false, default `false`
 * @returns float tensor without the axes of dim, or with length 1 if keepdim
 * @example
 * torch.var(torch.tensor([1, 2, 3, 4]))  // 1.66667
 * torch.var(torch.tensor([1, 2, 3, 4]), { correction: 0 })  // 1.25
 */
export function var_(input: Tensor, options?: VarOptions): Tensor;
export function var_(input: Tensor, dim: number | readonly number[] | null, options?: VarOptions): Tensor;
export function var_(...args: unknown[]): Tensor {
  return run_(varOp, args) as Tensor;
}
