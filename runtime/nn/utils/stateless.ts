// torch.nn.utils.stateless.

export { functional_call } from "../functional-call.js";
