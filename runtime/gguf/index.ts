// tensorloom/gguf: files of GGML's models.

export { load, type GgufFile } from "./gguf-file.js";
export type { GgufValue } from "./header.js";
