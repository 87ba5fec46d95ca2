// The SPIR-V that Tint makes of a shader: reads WGSL from a file and prints what Dawn says of it, for
// tests/test_index_checks.py.

import { readFile } from "node:fs/promises";
import { create, globals } from "webgpu";

Object.assign(globalThis, globals);
const gpu = create(["enable-dawn-features=dump_shaders"]); // held: Dawn ends with it
const adapter = await gpu.requestAdapter();
const { maxComputeWorkgroupStorageSize } = adapter.limits;
const device = await adapter.requestDevice({ requiredLimits: { maxComputeWorkgroupStorageSize } });
const module = device.createShaderModule({ code: await readFile(process.argv[2], "utf8") });
await device.createComputePipelineAsync({ layout: "auto", compute: { module, entryPoint: "main" } });
device.destroy();
process.stdout.write("\n", () => process.exit(gpu ? 0 : 1));
