// The SPIR-V that Tint makes of shaders: reads an array of WGSL texts from a file and prints what Dawn says of each, for
// tests/test_index_checks.py.

import { readFile } from "node:fs/promises";
import { create, globals } from "webgpu";

Object.assign(globalThis, globals);
const gpu = create(["enable-dawn-features=dump_shaders"]); // held: Dawn ends with it
const adapter = await gpu.requestAdapter();
const { maxComputeWorkgroupStorageSize } = adapter.limits;
const device = await adapter.requestDevice({ requiredLimits: { maxComputeWorkgroupStorageSize } });
for (const code of JSON.parse(await readFile(process.argv[2], "utf8"))) {
  const module = device.createShaderModule({ code });
  await device.createComputePipelineAsync({ layout: "auto", compute: { module, entryPoint: "main" } });
}
device.destroy();
process.stdout.write("\n", () => process.exit(gpu ? 0 : 1));
