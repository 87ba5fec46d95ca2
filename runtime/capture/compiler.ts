// torch.compiler.

export { counts, disable, explain, is_compiling, reset, type CompileCounts } from "./compile.js";
