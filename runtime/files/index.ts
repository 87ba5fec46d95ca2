// Files of tensors; torch.load and torch.save are in load.ts.

export {
  load,
  load_file,
  safe_open,
  save,
  save_file,
  stream,
  type SafeFile,
  type SafeSlice,
  type SaveOptions,
} from "./safetensors.js";
export { FileError } from "./error.js";
export type { LoadOptions } from "./destination.js";
export type { FileLike, Progress } from "./source.js";
export type { Target } from "./target.js";
