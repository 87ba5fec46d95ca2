// torch.utils, of which there are `data` and `checkpoint`.

export * as checkpoint from "../autograd/checkpoint.js";
export * as data from "./index.js";
