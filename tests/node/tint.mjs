// Asks Tint about shaders: reads an array of WGSL texts from a file and prints, as JSON in the last line, the number of
// each that is refused with the message.  For tests/test_compilers.py.

import { readFile } from "node:fs/promises";
import { create, globals } from "webgpu";

Object.assign(globalThis, globals);
// The null backend has every feature and computes nothing; held: Dawn ends with it.
const gpu = create(["backend=null", "enable-dawn-features=allow_unsafe_apis"]);
const adapter = await gpu.requestAdapter();
const device = await adapter.requestDevice({ requiredFeatures: [...adapter.features] });
const refused = [];
const texts = JSON.parse(await readFile(process.argv[2], "utf8"));
const MANY = 500; // texts between two waits: the answer to each takes a turn of Node's loop
for (let first = 0; first < texts.length; first += MANY) {
  const answers = texts.slice(first, first + MANY).map((code) => {
    device.pushErrorScope("validation");
    device.createShaderModule({ code });
    return device.popErrorScope();
  });
  for (const [i, error] of (await Promise.all(answers)).entries()) if (error) refused.push([first + i, error.message]);
}
device.destroy();
process.stdout.write(`${JSON.stringify(refused)}\n`, () => process.exit(gpu ? 0 : 1));
