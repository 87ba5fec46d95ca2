// torch.func.

export * from "../autograd/transforms.js";
export { rearrange } from "../composite/rearrange.js";
export { replace_all_batch_norm_modules_ } from "./batch-statistics.js";
export { functional_call, stack_module_state, type FunctionalCallOptions } from "./functional-call.js";
