// torch.optim.optimizer: the class, and hooks around the steps of all optimizers.

export { register_optimizer_step_post_hook, register_optimizer_step_pre_hook } from "./hooks.js";
export { Optimizer } from "./optimizer.js";
