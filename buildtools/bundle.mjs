// A model as one folder: node bundle.mjs MODEL OUT [SIZE=N ...]
// MODEL is a file of torch.export.save or an ONNX model.  Prints the files and their sizes.
import { basename, extname } from "node:path";
import { gzipSync } from "node:zlib";

const [file, out, ...sizes] = process.argv.slice(2);
const torch = await import("../dist/index.js"),
  { bundle } = await import("../dist/runtime/bundle/index.js");
try {
  const load = extname(file) === ".onnx" ? torch.onnx.load : torch.export.load,
    program = await load(file),
    made = await bundle(program, {
      name: basename(file, extname(file)),
      sizes: Object.fromEntries(sizes.map((text) => text.split("=")).map(([name, n]) => [name, Number(n)])),
    });
  await made.save(out);
  for (const [name, bytes] of made.files) {
    const packed = name.endsWith(".mjs")
      ? `, ${(gzipSync(bytes, { level: 9 }).length / 1000).toFixed(1)} kB gzipped`
      : "";
    console.log(`${out}/${name}: ${(bytes.length / 1000).toFixed(1)} kB${packed}`);
  }
} catch (error) {
  console.log(error.message);
  process.exitCode = 1;
}
process.exit();
