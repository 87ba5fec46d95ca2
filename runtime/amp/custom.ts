// Custom functions under torch.autocast: custom_fwd and custom_bwd.

import { callable } from "../base/argument-kinds.js";
import { isOptions, taken } from "../base/named-arguments.js";
import { type DType, isFloat } from "../elements/dtype.js";
import { cast } from "../tensor/copy.js";
import { Tensor } from "../tensor/tensor.js";
import { autocast, get_autocast_dtype, is_autocast_enabled } from "./modes.js";

type Method = (context: any, ...args: any[]) => any;

/** What the forward pass found, for the backward pass. */
interface Found {
  readonly enabled: boolean;
  readonly dtype: DType;
}
const found = new WeakMap<object, Found>();

type DeviceType = "cpu" | "webgpu" | "gpu";

/**
 * A `forward` of a custom autograd function that computes in one type within autocast: its floating tensors become
 * `cast_inputs`, and no op in it casts.  Without `cast_inputs` ops cast as they do outside of it.
 *
 * @param fwd static method `forward(ctx, ...args)`
 * @param device_type the kind of device it is for
 * @param cast_inputs the type that floating inputs are cast to
 *
 * @example
 * class Double extends torch.autograd.Function {
 *   static forward = torch.amp.custom_fwd((ctx, x) => x.mul(2), { device_type: "cpu", cast_inputs: torch.float32 });
 * };
 * torch.autocast("cpu", () => Double.apply(torch.ones([2], { dtype: torch.bfloat16 })).dtype)  // "float32"
 */
export function custom_fwd<F extends Method>(
  fwd: F,
  options: { device_type: DeviceType; cast_inputs?: DType | null },
): F;
export function custom_fwd<F extends Method>(...args: unknown[]): F {
  const [given, device_type, cast_inputs] = taken("custom_fwd fwd * device_type cast_inputs?", args),
    forward = callable(given as F, "custom_fwd", "fwd");
  const inType = (value: unknown): unknown => {
    if (value instanceof Tensor)
      return isFloat(value.dtype) && value.dtype !== "float64"
        ? cast(value, cast_inputs as DType, "custom_fwd")
        : value;
    if (Array.isArray(value)) return value.map(inType);
    if (!isOptions(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, inType(one)]));
  };
  return function (this: unknown, context: object, ...args: unknown[]) {
    const enabled = is_autocast_enabled(device_type as DeviceType),
      casts = cast_inputs !== undefined && cast_inputs !== null;
    found.set(context, { enabled: enabled && !casts, dtype: get_autocast_dtype(device_type as DeviceType) });
    if (!enabled || !casts) return forward.call(this, context, ...args) as unknown;
    return autocast(device_type as DeviceType, () => forward.call(this, context, ...args.map(inType)) as unknown, {
      enabled: false,
    });
  } as F;
}

/**
 * The `backward` beside a `forward` of `custom_fwd`: its ops cast as those of the forward pass did.
 *
 * @param bwd static method `backward(ctx, ...gradients)`
 * @param device_type the kind of device it is for
 *
 * @example
 * class Double extends torch.autograd.Function {
 *   static forward = torch.amp.custom_fwd((ctx, x) => x.mul(2), { device_type: "cpu" });
 *   static backward = torch.amp.custom_bwd((ctx, gradient) => gradient.mul(2), { device_type: "cpu" });
 * };
 * const x = torch.tensor([1, 2], { requires_grad: true });
 * Double.apply(x).sum().backward();
 * x.grad  // [2, 2]
 */
export function custom_bwd<F extends Method>(bwd: F, options: { device_type: DeviceType }): F;
export function custom_bwd<F extends Method>(...args: unknown[]): F {
  const [given, device_type] = taken("custom_bwd bwd * device_type", args),
    backward = callable(given as F, "custom_bwd", "bwd");
  return function (this: unknown, context: object, ...args: unknown[]) {
    const { enabled = false, dtype = null } = found.get(context) ?? {};
    return autocast(device_type as DeviceType, () => backward.call(this, context, ...args) as unknown, {
      enabled,
      dtype,
    });
  } as F;
}
