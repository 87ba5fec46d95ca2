// torch.nn.modules.module: hooks of all modules, which are called before a module's own.

import { taken } from "../base/named-arguments.js";
import { everywhere, hookInto } from "./hooks.js";
import type { BackwardHook, BackwardPreHook, ForwardHook, ForwardHookOptions, ForwardPreHook } from "./hooks.js";
import type { NamedForwardHook, RemovableHandle, Unnamed, WithNames } from "./hooks.js";

/**
 * Calls `hook(module, args, output)` after the forward of every module; what it answers replaces the output.
 *
 * @param hook gets the module, its arguments and its output
 *
 * @example
 * const sizes = [], hook = torch.nn.modules.module.register_module_forward_hook((module, args, output) => {
 *   sizes.push(output.shape);
 * });
 * torch.nn.Linear(2, 3)(torch.ones([1, 2]));
 * hook.remove();
 * sizes  // [[1, 3]]
 */
export function register_module_forward_hook(
  hook: ForwardHook,
  options?: Omit<Unnamed<ForwardHookOptions>, "prepend">,
): RemovableHandle;
export function register_module_forward_hook(
  hook: NamedForwardHook,
  options: Omit<WithNames<ForwardHookOptions>, "prepend">,
): RemovableHandle;
export function register_module_forward_hook(...args: unknown[]): RemovableHandle {
  const [hook, named, always] = taken("register_module_forward_hook hook * with_kwargs? always_call?", args);
  return hookInto(everywhere.after, hook as ForwardHook, false, named, always);
}
/**
 * Calls `hook(module, args)` before the forward of every module; what it answers replaces the arguments.
 *
 * @param hook gets the module and its arguments
 *
 * @example
 * const double = (module, [x]) => [x.mul(2)];
 * const hook = torch.nn.modules.module.register_module_forward_pre_hook(double);
 * const y = torch.nn.ReLU()(torch.tensor([1, -2]));
 * hook.remove();
 * y  // [2, 0]
 */
export function register_module_forward_pre_hook(hook: ForwardPreHook): RemovableHandle;
export function register_module_forward_pre_hook(...args: unknown[]): RemovableHandle {
  return hookInto(everywhere.before, taken("register_module_forward_pre_hook hook", args)[0] as ForwardPreHook);
}
/**
 * Calls `hook(module, grad_input, grad_output)` when gradients have come back through a module.
 *
 * @param hook gets the module and the gradients of its inputs and of its outputs
 *
 * @example
 * const seen = [], hook = torch.nn.modules.module.register_module_full_backward_hook((module, into, [grad]) => {
 *   seen.push(grad);
 * });
 * torch.nn.Linear(2, 1)(torch.ones([1, 2])).sum().backward();
 * hook.remove();
 * seen  // [[[1]]]
 */
export function register_module_full_backward_hook(hook: BackwardHook): RemovableHandle;
export function register_module_full_backward_hook(...args: unknown[]): RemovableHandle {
  return hookInto(everywhere.backward, taken("register_module_full_backward_hook hook", args)[0] as BackwardHook);
}
/**
 * The deprecated name of `register_module_full_backward_hook`.
 *
 * @param hook gets the module and the gradients of its inputs and of its outputs
 *
 * @example
 * const seen = [], hook = torch.nn.modules.module.register_module_backward_hook((module, into, [grad]) => {
 *   seen.push(grad);
 * });
 * torch.nn.Linear(2, 1)(torch.ones([1, 2])).sum().backward();
 * hook.remove();
 * seen  // [[[1]]]
 */
export function register_module_backward_hook(hook: BackwardHook): RemovableHandle;
export function register_module_backward_hook(...args: unknown[]): RemovableHandle {
  return hookInto(everywhere.backward, taken("register_module_backward_hook hook", args)[0] as BackwardHook);
}
/**
 * Calls `hook(module, grad_output)` before those gradients go back through a module.
 *
 * @param hook gets the module and the gradients of its outputs
 *
 * @example
 * const double = (module, [grad]) => [grad.mul(2)], layer = torch.nn.Linear(2, 1);
 * const hook = torch.nn.modules.module.register_module_full_backward_pre_hook(double);
 * layer(torch.ones([1, 2])).sum().backward();
 * hook.remove();
 * layer.bias.grad  // [2]
 */
export function register_module_full_backward_pre_hook(hook: BackwardPreHook): RemovableHandle;
export function register_module_full_backward_pre_hook(...args: unknown[]): RemovableHandle {
  const [hook] = taken("register_module_full_backward_pre_hook hook", args);
  return hookInto(everywhere.backwardBefore, hook as BackwardPreHook);
}
