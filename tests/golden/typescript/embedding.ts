export interface EmbeddingOptions {
  /** `int`, optional */
  padding_idx?: number | null;
  /** The same as `padding_idx`. */
  paddingIdx?: number | null;
  /** `real`, optional */
  max_norm?: number | null;
  /** The same as `max_norm`. */
  maxNorm?: number | null;
  /** `real`, default `2` */
  norm_type?: number;
  /** The same as `norm_type`. */
  normType?: number;
  /** `bool`, default `false` */
  scale_grad_by_freq?: boolean;
  /** The same as `scale_grad_by_freq`. */
  scaleGradByFreq?: boolean;
  /** `bool`, default `false` */
  sparse?: boolean;
}

export const embeddingOp: CompiledOp = /* @__PURE__ */ compiled_(data_.embedding, PARTS_);

/**
 * Looks rows of `weight` up.  The row `padding_idx` gets no gradient; `scale_grad_by_freq` divides that of a row by how often
 * it is looked up.
 *
 * Like `torch.nn.functional.embedding`.
 *
 * @param input `Int[*B]`
 * @param weight `Float[V, D]`
 * @param padding_idx `int`, optional
 * @param max_norm `real`, optional
 * @param norm_type `real`, default `2`
 * @param scale_grad_by_freq `bool`, default `false`
 * @param sparse `bool`, default `false`
 * @example
 * torch.nn.functional.embedding(torch.tensor([1, 0], { dtype: torch.long }), torch.tensor([[1, 2], [3, 4]]))  // [[3, 4], [1, 2]]
 */
export function embedding(input: Tensor, weight: Tensor, options?: EmbeddingOptions): Tensor;
export function embedding(input: Tensor, weight: Tensor, padding_idx: number | null, options?: EmbeddingOptions): Tensor;
export function embedding(input: Tensor, weight: Tensor, padding_idx: number | null, max_norm: number | null, options?: EmbeddingOptions): Tensor;
export function embedding(input: Tensor, weight: Tensor, padding_idx: number | null, max_norm: number | null, norm_type: number, options?: EmbeddingOptions): Tensor;
export function embedding(input: Tensor, weight: Tensor, padding_idx: number | null, max_norm: number | null, norm_type: number, scale_grad_by_freq: boolean, options?: EmbeddingOptions): Tensor;
export function embedding(input: Tensor, weight: Tensor, padding_idx: number | null, max_norm: number | null, norm_type: number, scale_grad_by_freq: boolean, sparse: boolean): Tensor;
export function embedding(...args: unknown[]): Tensor {
  return run_(embeddingOp, args) as Tensor;
}
