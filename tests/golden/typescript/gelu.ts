export interface GeluOptions {
  /** one of `"none"`, `"tanh"`, default `"none"` */
  approximate?: "none" | "tanh";
}

export const geluOp: CompiledOp = /* @__PURE__ */ compiled(data.gelu, kernels.gelu, PARTS);

/**
 * Gaussian error linear unit: exact, or approximated with tanh.
 *
 * Like `torch.nn.functional.gelu`.
 *
 * @param input `Float`
 * @param options.approximate one of `"none"`, `"tanh"`, default `"none"`
 * @example
 * gelu(tensor([0.0, 1.0]))  // [0, 0.8413447460685429]
 * gelu(tensor([1.0]), { approximate: "tanh" })  // [0.8411919906082768]
 */
export function gelu(input: Tensor, options?: GeluOptions): Tensor;
export function gelu(...args: unknown[]): Tensor {
  return run(geluOp, args) as Tensor;
}
