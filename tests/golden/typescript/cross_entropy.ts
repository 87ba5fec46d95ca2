export interface CrossEntropyOptions {
  /** float tensor [C], or null */
  weight?: Tensor | null;
  /** whole number, default `-100` */
  ignore_index?: number;
  /** The same as `ignore_index`. */
  ignoreIndex?: number;
  /** one of "mean", "sum", "none", default `"mean"` */
  reduction?: "mean" | "sum" | "none";
  /** number, default `0` */
  label_smoothing?: number;
  /** The same as `label_smoothing`. */
  labelSmoothing?: number;
}

export const cross_entropyOp: CompiledOp = /* @__PURE__ */ compiled_(data_.cross_entropy, PARTS_);

/**
 * The negative log-likelihood of target classes under softmax over the class axis.
 *
 * Like `torch.nn.functional.cross_entropy`.
 *
 * @param input float tensor [*A, C along axis, *S]
 * @param target tensor of whole numbers [*A, *S]
 * @param weight float tensor [C], or null
 * @param options.ignore_index whole number, default `-100`
 * @param options.reduction one of "mean", "sum", "none", default `"mean"`
 * @param options.label_smoothing number, default `0`
 * @returns float tensor
 * @example
 * torch.nn.functional.cross_entropy(torch.tensor([[0, 0]]), torch.tensor([1], { dtype: torch.long }))  // 0.693147
 * torch.nn.functional.cross_entropy(torch.tensor([[1000, 0]]), torch.tensor([0], { dtype: torch.long }))  // 0
 */
export function cross_entropy(input: Tensor, target: Tensor, options?: CrossEntropyOptions): Tensor;
export function cross_entropy(input: Tensor, target: Tensor, weight: Tensor | null, options?: CrossEntropyOptions): Tensor;
export function cross_entropy(...args: unknown[]): Tensor {
  return run_(cross_entropyOp, args) as Tensor;
}
