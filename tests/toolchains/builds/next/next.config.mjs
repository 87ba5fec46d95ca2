// Next.js: app/ as files in out/, whose one page trains in the browser.
import { resolve } from "node:path";

export default { output: "export", turbopack: { root: resolve("..") } };
