// Asks Tint about shaders: reads an array of WGSL texts from a file and prints, as JSON in the last line, the number of
// each that is refused with the message.  For tests/test_compilers.py.

import { readFile } from "node:fs/promises";
import { create, globals } from "webgpu";

Object.assign(globalThis, globals);
const gpu = create([]); // held: Dawn ends with it
const adapter = await gpu.requestAdapter();
const device = await adapter.requestDevice();
const refused = [];
const texts = JSON.parse(await readFile(process.argv[2], "utf8"));
for (const [i, code] of texts.entries()) {
  device.pushErrorScope("validation");
  device.createShaderModule({ code });
  const error = await device.popErrorScope();
  if (error) refused.push([i, error.message]);
}
device.destroy();
process.stdout.write(`${JSON.stringify(refused)}\n`, () => process.exit(gpu ? 0 : 1));
