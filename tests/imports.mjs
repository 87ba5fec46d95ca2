// Which modules of the package import which by value, as esbuild reads them: node imports.mjs DIST prints JSON.
// Imports of types only are gone from what TypeScript has written.
import { readdirSync } from "node:fs";
import path from "node:path";
import { build } from "esbuild";

const dist = path.resolve(process.argv[2]);
// Scripts, and what Node reads in the modules' place (buildtools/package.py).
const scripts = ["torch.js", "torch-core.js"];
const made = (file) => scripts.includes(file) || file.startsWith(`in-node${path.sep}`);
const entryPoints = readdirSync(dist, { recursive: true })
  .filter((file) => file.endsWith(".js") && !made(file))
  .map((file) => path.join(dist, file));
const { metafile } = await build({
  entryPoints,
  absWorkingDir: dist,
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  external: ["webgpu"],
  outdir: "out",
  write: false,
  metafile: true,
  logLevel: "error",
});
const graph = {};
for (const [file, { imports }] of Object.entries(metafile.inputs)) {
  graph[file] = imports.filter((i) => i.kind === "import-statement" && !i.external).map((i) => i.path);
}
console.log(JSON.stringify(graph));
