// torch.nn.modules, of which programs use the hooks of all modules.

export * as module from "./global-hooks.js";
