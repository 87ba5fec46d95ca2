export interface EmbeddingOptions {
  /** `int`, optional */
  padding_idx?: number | null;
  /** The same as `padding_idx`. */
  paddingIdx?: number | null;
}

export const embeddingOp: CompiledOp = /* @__PURE__ */ compiled(data.embedding, kernels.embedding);

/**
 * Looks rows of `weight` up; the row `padding_idx` gets no gradient.
 *
 * Like `torch.nn.functional.embedding`.
 *
 * @param input `Int[*B]`
 * @param weight `Float[V, D]`
 * @param padding_idx `int`, optional
 * @example
 * embedding(tensor([1, 0]), tensor([[1.0, 2.0], [3.0, 4.0]]))  // [[3, 4], [1, 2]]
 */
export function embedding(input: Tensor, weight: Tensor, options?: EmbeddingOptions): Tensor;
export function embedding(input: Tensor, weight: Tensor, padding_idx: number | null): Tensor;
export function embedding(...args: unknown[]): Tensor {
  return run(embeddingOp, args) as Tensor;
}
