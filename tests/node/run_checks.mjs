// Runs one file of tests/checks in Node: node run_checks.mjs FILE cpu|webgpu
// [moving_memory|without_webassembly|many_threads].
// Prints {name: failure or null} as JSON.
import { pathToFileURL } from "node:url";
import { run } from "../checks/assert.mjs";

const [file, device, setting] = process.argv.slice(2);
if (setting) await import(`./${setting}.mjs`);
const torch = await import("../../dist/index.js");
if (device === "webgpu" && !(await torch.initWebGPUAsync())) throw new Error("no WebGPU in Node");
const results = await run((await import(pathToFileURL(file))).default, torch, device);
console.log(JSON.stringify(results));
if (device === "webgpu") await torch.defaultDevice().synchronize(); // Dawn may crash on its way out while it works
process.exit(0); // Dawn keeps the process alive otherwise
