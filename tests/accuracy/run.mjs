// Answers of the package for tests/accuracy/measure.py: run.mjs DIST/index.js FOLDER DEVICE; exit code 3: no such
// device.
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [dist, folder, device] = process.argv.slice(2);
if (device === "webgpu") {
  const { create, globals } = await import("webgpu");
  Object.assign(globalThis, globals);
  Object.defineProperty(globalThis, "navigator", { value: { gpu: create([]) }, configurable: true });
}
const torch = await import(pathToFileURL(resolve(dist)).href);
if (device === "webgpu" && !(await torch.initWebGPUAsync())) process.exit(3);

const floats = (name) => {
  const bytes = readFileSync(join(folder, name));
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
};
const functions = JSON.parse(readFileSync(join(folder, "functions.json"), "utf8"));
for (let i = 0; i < functions.length; i++) {
  const { torch: name, tensors, before, options, degree } = functions[i];
  const xs = Array.from({ length: tensors }, (_, k) => torch.tensor(floats(`x${tensors}${k}`), { device }));
  if (degree) xs[1] = torch.full(xs[0].shape, degree, { device });
  const f = name
    .split(".")
    .slice(1)
    .reduce((object, key) => object[key], torch);
  const out = await f(...before, ...xs, options).data();
  writeFileSync(join(folder, `y${i}`), Float32Array.from(out));
  if (process.env.TIMES) console.log(name, Math.round(performance.now()));
}
process.exit(0);
