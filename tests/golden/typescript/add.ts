export interface AddOptions {
  /** number, default `1` */
  alpha?: number;
}

export const addOp: CompiledOp = /* @__PURE__ */ compiled_(data_.add);

/**
 * Adds `other`, times `alpha`, to `input`.
 *
 * Like `torch.add`.
 *
 * @param input tensor of numbers, or a number
 * @param other tensor of numbers, or a number
 * @param options.alpha number, default `1`
 * @returns tensor
 * @example
 * torch.add(torch.tensor([1, 2]), torch.tensor([10, 20]), { alpha: 2 })  // [21, 42]
 * torch.add(torch.tensor([[1], [2]]), torch.tensor([10, 20]))  // [[11, 21], [12, 22]]
 */
export function add(input: TensorOrNumber, other: TensorOrNumber, options?: AddOptions): Tensor;
export function add(...args: unknown[]): Tensor {
  return run_(addOp, args) as Tensor;
}
