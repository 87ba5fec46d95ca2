export interface EmbeddingOptions {
  /** whole number, or null */
  padding_idx?: number | null;
  /** The same as `padding_idx`. */
  paddingIdx?: number | null;
  /** number, or null */
  max_norm?: number | null;
  /** The same as `max_norm`. */
  maxNorm?: number | null;
  /** number, default `2` */
  norm_type?: number;
  /** The same as `norm_type`. */
  normType?: number;
  /** true or false, default `false` */
  scale_grad_by_freq?: boolean;
  /** The same as `scale_grad_by_freq`. */
  scaleGradByFreq?: boolean;
  /** true or false, default `false` */
  sparse?: boolean;
}

export const embeddingOp: CompiledOp = /* @__PURE__ */ compiled_(data_.embedding, PARTS_);

/**
 * Looks rows of `weight` up.  The row `padding_idx` gets no gradient; `scale_grad_by_freq` divides that of a row by how often
 * it is looked up.
 *
 * Like `torch.nn.functional.embedding`.
 *
 * @param input tensor of whole numbers [*B]
 * @param weight tensor of any type [V, D]
 * @param padding_idx whole number, or null
 * @param max_norm number, or null
 * @param norm_type number, default `2`
 * @param scale_grad_by_freq true or false, default `false`
 * @param sparse true or false, default `false`
 * @returns tensor of any type [*B, D]
 * @example
 * torch.nn.functional.embedding(torch.tensor([1, 0], { dtype: torch.long }), torch.tensor([[1, 2], [3, 4]]))  // [[3, 4], [1, 2]]
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
