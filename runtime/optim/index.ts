// torch.optim by hand; the arithmetic of a step is in ops/optim.op.

export { Optimizer } from "./optimizer.js";
export { SGD, type SGDOptions } from "./sgd.js";
export { Adam, AdamW, type AdamOptions } from "./adam.js";
