// torch.utils, of which there is `data`.

export * as data from "./index.js";
