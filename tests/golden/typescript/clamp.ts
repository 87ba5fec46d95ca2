export interface ClampOptions {
  /** tensor of numbers, or a number, or null */
  min?: TensorOrNumber | null;
  /** tensor of numbers, or a number, or null */
  max?: TensorOrNumber | null;
}

export const clampOp: CompiledOp = /* @__PURE__ */ compiled_(data_.clamp);

/**
 * Limits `input` to the range from `min` to `max`; either may be left out.
 *
 * Like `torch.clamp`, `torch.clip`.
 *
 * @param input tensor of numbers
 * @param min tensor of numbers, or a number, or null
 * @param max tensor of numbers, or a number, or null
 * @returns tensor
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
