export interface GeluOptions {
  /** one of "none", "tanh", default `"none"` */
  approximate?: "none" | "tanh";
}

export const geluOp: CompiledOp = /* @__PURE__ */ compiled_(data_.gelu, PARTS_);

/**
 * Gaussian error linear unit: exact, or approximated with tanh.
 *
 * Like `torch.nn.functional.gelu`.
 *
 * @param input float tensor
 * @param options.approximate one of "none", "tanh", default `"none"`
 * @returns tensor
 * @example
 * torch.nn.functional.gelu(torch.tensor([0, 1]))  // [0, 0.841345]
 * torch.nn.functional.gelu(torch.tensor([1]), { approximate: "tanh" })  // [0.841192]
 */
export function gelu(input: Tensor, options?: GeluOptions): Tensor;
export function gelu(...args: unknown[]): Tensor {
  return run_(geluOp, args) as Tensor;
}
