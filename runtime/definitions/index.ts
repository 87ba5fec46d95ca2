// tensorloom/op: ops that a program defines while it runs.

export {
  Compiler,
  type CompilerOptions,
  DefinitionError,
  loadCompiler,
  type Mistake,
  type Pyodide,
} from "./run-time-compiler.js";
export { type CompiledDefinitions, type OpFunction, opsOf } from "./transported.js";
