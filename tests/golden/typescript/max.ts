export interface MaxOptions {
  /** true or false, default `false` */
  keepdim?: boolean;
  /** NumPy's name for `keepdim`. */
  keepdims?: boolean;
}

/** The results of `max`, in this order. */
export interface MaxResult extends Iterable<Tensor> {
  readonly [index: number]: Tensor;
  values: Tensor;
  indices: Tensor;
}

export const maxOp: CompiledOp = /* @__PURE__ */ compiled_(data_.max, PARTS_);

/**
 * The largest element along `dim`, and where it first stands.
 *
 * Like `torch.max`.
 *
 * @param input tensor of numbers [*A, K along dim, *B]
 * @param dim axis
 * @param keepdim true or false, default `false`
 * @returns values: tensor of numbers [*A, 1 if keepdim, *B]; indices: tensor of whole numbers [*A, 1 if keepdim, *B]
 * @example
 * torch.max(torch.tensor([[1, 9], [7, 2]]), 1).values  // [9, 7]
 * torch.max(torch.tensor([[1, 9], [7, 2]]), 1).indices  // [1, 0]
 */
export function max(input: Tensor, dim: number, options?: MaxOptions): MaxResult;
export function max(input: Tensor, dim: number, keepdim: boolean): MaxResult;
export function max(input: Tensor, options: { dim: number } & MaxOptions): MaxResult;
export function max(...args: unknown[]): MaxResult {
  return run_(maxOp, args) as unknown as MaxResult;
}
