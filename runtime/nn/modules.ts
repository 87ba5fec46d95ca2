// torch.nn.modules, of which programs use the hooks of all modules.

export * as module from "./global-hooks.js";
export * as batchnorm from "./layers/batchnorm.js";
export * as utils from "./module-utils.js";
