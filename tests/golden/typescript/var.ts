export interface VarOptions {
  /** `dims`, default `all` */
  dim?: number | readonly number[] | null;
  /** `real`, default `1` */
  correction?: number;
  /** `bool`, default `false` */
  keepdim?: boolean;
}

export const varOp: CompiledOp = /* @__PURE__ */ compiled_(data_.var_, PARTS_);

/**
 * The variance along `dim`, in two passes; `correction` is taken off the number of elements.
 *
 * Like `torch.var`.
 *
 * @param input `Float`
 * @param dim `dims`, default `all`
 * @param options.correction `real`, default `1`
 * @param options.keepdim `bool`, default `false`
 * @example
 * torch.var(torch.tensor([1, 2, 3, 4]))  // 1.66667
 * torch.var(torch.tensor([1, 2, 3, 4]), { correction: 0 })  // 1.25
 */
export function var_(input: Tensor, options?: VarOptions): Tensor;
export function var_(input: Tensor, dim: number | readonly number[] | null, options?: VarOptions): Tensor;
export function var_(...args: unknown[]): Tensor {
  return run_(varOp, args) as Tensor;
}
