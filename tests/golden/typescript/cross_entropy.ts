export interface CrossEntropyOptions {
  /** `Float[C]`, optional */
  weight?: Tensor | null;
  /** `int`, default `-100` */
  ignore_index?: number;
  /** The same as `ignore_index`. */
  ignoreIndex?: number;
  /** one of `"mean"`, `"sum"`, `"none"`, default `"mean"` */
  reduction?: "mean" | "sum" | "none";
  /** `real`, default `0` */
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
 * @param input `Float[*A, C@axis, *S]`
 * @param target `Int[*A, *S]`
 * @param weight `Float[C]`, optional
 * @param options.ignore_index `int`, default `-100`
 * @param options.reduction one of `"mean"`, `"sum"`, `"none"`, default `"mean"`
 * @param options.label_smoothing `real`, default `0`
 * @example
 * torch.nn.functional.cross_entropy(torch.tensor([[0, 0]]), torch.tensor([1], { dtype: torch.long }))  // 0.693147
 * torch.nn.functional.cross_entropy(torch.tensor([[1000, 0]]), torch.tensor([0], { dtype: torch.long }))  // 0
 */
export function cross_entropy(input: Tensor, target: Tensor, options?: CrossEntropyOptions): Tensor;
export function cross_entropy(input: Tensor, target: Tensor, weight: Tensor | null, options?: CrossEntropyOptions): Tensor;
export function cross_entropy(...args: unknown[]): Tensor {
  return run_(cross_entropyOp, args) as Tensor;
}
