export interface ClampOptions {
  /** `Num | num`, optional */
  min?: TensorOrNumber | null;
  /** `Num | num`, optional */
  max?: TensorOrNumber | null;
}

export const clampOp: CompiledOp = /* @__PURE__ */ compiled_(data_.clamp);

/**
 * Limits `input` to the range from `min` to `max`; either may be left out.
 *
 * Like `torch.clamp`, `torch.clip`.
 *
 * @param input `Num`
 * @param min `Num | num`, optional
 * @param max `Num | num`, optional
 * @example
 * torch.clamp(torch.tensor([-2, 0, 2]), -1, 1)  // [-1, 0, 1]
 * torch.clamp(torch.tensor([-2, 0, 2]), { min: 0 })  // [0, 0, 2]
 */
export function clamp(input: Tensor, options?: ClampOptions): Tensor;
export function clamp(input: Tensor, min: TensorOrNumber | null, options?: ClampOptions): Tensor;
export function clamp(input: Tensor, min: TensorOrNumber | null, max: TensorOrNumber | null): Tensor;
export function clamp(...args: unknown[]): Tensor {
  return run_(clampOp, args) as Tensor;
}
