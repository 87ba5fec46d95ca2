// Runs files of tests/checks in Node, one after the other: node run_checks.mjs cpu|webgpu SETTING MODULE FILE...
// SETTING is moving_memory, without_webassembly, many_threads, or - for none; MODULE is dist/'s that is the package.
// Prints for each file a line `checks {file, results: {name: failure or null}}`.
import { pathToFileURL } from "node:url";

const [device, setting, module, ...files] = process.argv.slice(2);
if (setting !== "-") await import(`./${setting}.mjs`);
const { run } = await import("../checks/assert.mjs"); // after the setting, which decides what it finds
const torch = await import(`../../dist/${module}`);
if (device === "webgpu" && !(await torch.initWebGPUAsync())) throw new Error("no WebGPU in Node");
for (const file of files) {
  const results = await run((await import(pathToFileURL(file))).default, torch, device);
  if (device === "webgpu") await torch.defaultDevice().synchronize(); // Dawn may crash on its way out while it works
  console.log(`checks ${JSON.stringify({ file, results })}`);
}
process.exit(0); // Dawn keeps the process alive otherwise
