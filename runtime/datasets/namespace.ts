// torch.utils, of which there are `data`, `checkpoint` and `_pytree`.

export * as _pytree from "../tools/pytree.js";
export * as checkpoint from "../autograd/checkpoint.js";
export * as data from "./index.js";
