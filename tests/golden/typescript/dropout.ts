export interface DropoutOptions {
  /** number, default `0.5` */
  p?: number;
  /** true or false, default `true` */
  training?: boolean;
  /** Where the random numbers come from: a `torch.Generator` in place of the package's own. */
  generator?: RandomSource | null;
}

export const dropoutOp: CompiledOp = /* @__PURE__ */ itself_(/* @__PURE__ */ compiled_(data_.dropout, PARTS_), (e) => e.p === 0 || !e.training ? 1 : 0);

/**
 * Zeroes elements with probability `p` and scales the rest to keep the average.
 *
 * Like `torch.dropout`, `torch.nn.functional.dropout`.
 *
 * @param input float tensor
 * @param p number, default `0.5`
 * @param training true or false, default `true`
 * @returns tensor
 * @example
 * torch.manual_seed(0);
 * torch.dropout(torch.tensor([1, 2]), 0.5, false)  // [1, 2]
 */
export function dropout(input: Tensor, options?: DropoutOptions): Tensor;
export function dropout(input: Tensor, p: number, options?: DropoutOptions): Tensor;
export function dropout(input: Tensor, p: number, training: boolean, options?: DropoutOptions): Tensor;
export function dropout(...args: unknown[]): Tensor {
  return run_(dropoutOp, args) as Tensor;
}
