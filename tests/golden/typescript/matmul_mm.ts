export const matmul_mmOp: CompiledOp = /* @__PURE__ */ compiled_(data_.matmul_mm);

/**
 * The matrix product; leading axes broadcast.
 *
 * Like `torch.matmul`.
 *
 * @param input tensor of numbers [*B, M, K]
 * @param other tensor of numbers [*B, K, N]
 * @returns tensor of numbers [*B, M, N]
 * @example
 * torch.matmul(torch.tensor([[1, 2], [3, 4]]), torch.tensor([[1], [1]]))  // [[3], [7]]
 */
export function matmul_mm(input: Tensor, other: Tensor): Tensor;
export function matmul_mm(...args: unknown[]): Tensor {
  return run_(matmul_mmOp, args) as Tensor;
}
