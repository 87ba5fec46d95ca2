// module.compile(), for those who import the whole package: modules know nothing of the compiler.

import { compileWith } from "../base/capturing.js";
import { type CompileOptions, compiledOf } from "./compile.js";

compileWith((name, call, [fullgraph, dynamic, , mode, , disable]) => {
  if (disable === true) return Object.assign(call, { warmup: () => Promise.resolve() });
  const compiled = compiledOf(call, { fullgraph, dynamic, mode } as CompileOptions, name);
  return Object.assign((...args: unknown[]) => compiled.call(undefined, args), {
    warmup: (...args: unknown[]) => compiled.warm(undefined, args),
  });
});
