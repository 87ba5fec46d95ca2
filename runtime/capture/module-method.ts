// module.compile(), for those who import the whole package: modules know nothing of the compiler.

import { compileWith } from "../base/capturing.js";
import { type CompileOptions, compiledOf } from "./compile.js";

compileWith((name, call, [fullgraph, , , mode, , disable]) => {
  if (disable === true) return call;
  const compiled = compiledOf(call, { fullgraph, mode } as CompileOptions, name);
  return (...args) => compiled.call(undefined, args);
});
