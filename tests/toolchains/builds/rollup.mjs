// Rollup: page.js -> out/page.js.
import { nodeResolve } from "@rollup/plugin-node-resolve";
import { rollup } from "rollup";

const onwarn = (w) => {
  if (w.code !== "CIRCULAR_DEPENDENCY") throw new Error(w.message);
};
const bundle = await rollup({ input: "page.js", plugins: [nodeResolve({ browser: true })], onwarn });
await bundle.write({ dir: "out" });
