export interface SumOptions {
  /** `dims`, default `all` */
  dim?: number | readonly number[] | null;
  /** `bool`, default `false` */
  keepdim?: boolean;
}

export const sumOp: CompiledOp = { op: data.sum, kernels: kernels.sum };

/**
 * Adds elements along `dim`, or all of them.  Booleans are counted.
 *
 * Like `torch.sum`.
 *
 * @param input `Any`
 * @param dim `dims`, default `all`
 * @param keepdim `bool`, default `false`
 * @example
 * sum(tensor([[1, 2], [3, 4]]))  // 10
 * sum(tensor([[1, 2], [3, 4]]), 0)  // [4, 6]
 */
export function sum(input: Tensor, options?: SumOptions): Tensor;
export function sum(input: Tensor, dim: number | readonly number[] | null, options?: SumOptions): Tensor;
export function sum(input: Tensor, dim: number | readonly number[] | null, keepdim: boolean): Tensor;
export function sum(...args: unknown[]): Tensor {
  return run(sumOp, args) as Tensor;
}
