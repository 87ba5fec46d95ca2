// Measures dist/: node bench/run.mjs [cpu|webgpu] [--only=REGEX] [--skip=REGEX] [--budget=MS]. One JSON line a
// workload: {lib, backend, workload, first_ms, median_ms (waiting after each call), pipelined_ms (waiting at the end)}.
import * as torch from "../dist/in-node/index.js";
import { measure } from "./measure.mjs";
import { workloads } from "./workloads.mjs";

const words = process.argv.slice(2);
const option = (name) => words.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3);
const device = words.find((word) => !word.startsWith("--")) ?? "webgpu";
if (device === "webgpu" && !(await torch.initWebGPUAsync())) throw new Error("no WebGPU here");
const only = new RegExp(option("only") ?? "."),
  skip = new RegExp(option("skip") ?? "^$");
const budget = Number(option("budget") ?? 1500);
const synchronize = device === "webgpu" ? () => torch.defaultDevice().synchronize() : () => {};

for (const [workload, make] of Object.entries(workloads(torch, device))) {
  if (!only.test(workload) || skip.test(workload)) continue;
  const line = { lib: "tensorloom", backend: device, workload };
  try {
    const times = await measure(make(), synchronize, { budget });
    for (const [name, value] of Object.entries(times)) line[name] = Number(value.toPrecision(4));
  } catch (error) {
    line.error = String(error?.message ?? error).slice(0, 300);
  }
  console.log(JSON.stringify(line));
}
process.exit(0);
