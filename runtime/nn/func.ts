// torch.func.

export * from "../autograd/transforms.js";
export { functional_call, stack_module_state, type FunctionalCallOptions } from "./functional-call.js";
