// Finding a GPU: in a page or worker through navigator.gpu, in Node through the package `webgpu` where it is installed.

import { copyOp } from "../needed.js";
import { advise } from "./devices/slow-warnings.js";
import { registerDevice, removeDevice, setDefaultDevice } from "./devices/device.js";
import { WebGpuDevice } from "./devices/webgpu/gpu-device.js";
import { MATRIX_UNITS, tryMatrixUnits } from "./devices/webgpu/matrix-units.js";

/** Limits that are asked for as high as the adapter has them. */
const LIMITS = [
  "maxBufferSize",
  "maxStorageBufferBindingSize",
  "maxStorageBuffersPerShaderStage",
  "maxUniformBufferBindingSize",
  "maxComputeWorkgroupStorageSize",
  "maxComputeInvocationsPerWorkgroup",
  "maxComputeWorkgroupSizeX",
  "maxComputeWorkgroupSizeY",
  "maxComputeWorkgroupSizeZ",
  "maxComputeWorkgroupsPerDimension",
  "minUniformBufferOffsetAlignment",
  "minStorageBufferOffsetAlignment",
] as const;
const FEATURES = ["shader-f16", "subgroups", "timestamp-query", MATRIX_UNITS];

interface Holder {
  navigator?: { gpu?: GPU };
  process?: { versions?: { node?: string } };
}

let fromPackage: GPU | null = null;

async function findGpu(): Promise<GPU | null> {
  const holder = globalThis as Holder;
  if (holder.navigator?.gpu) return holder.navigator.gpu;
  if (fromPackage) return fromPackage;
  if (!holder.process?.versions?.node) return null;
  try {
    const found = (await (await import("./platform/node.js")).webgpu()) as { create(options: string[]): GPU };
    // The object must live as long as its devices.
    fromPackage = found.create([]);
    return fromPackage;
  } catch {
    return null;
  }
}

export interface InitOptions {
  /** Which of several GPUs, default "high-performance". */
  powerPreference?: "low-power" | "high-performance";
  /** A device of the caller's own, already made. */
  device?: GPUDevice;
}

/**
 * Looks for a GPU and answers whether there is one.  After `true`, new tensors are on "webgpu".
 * Called again after the device was lost, it makes a new one; tensors on the old one are gone.
 */
export async function initWebGPUAsync(options: InitOptions = {}): Promise<boolean> {
  if (current && !current.lost && !options.device) {
    setDefaultDevice(current);
    return true;
  }
  const gpu = options.device ?? (await requestDevice(options));
  if (!gpu) return false;
  await tryMatrixUnits(gpu);
  const device = new WebGpuDevice(gpu, copyOp, () => {
    if (current === device) removeDevice("webgpu");
  });
  current = device;
  if ((globalThis as Holder).navigator?.gpu && !options.device && device.software) {
    advise(
      "software",
      'this WebGPU is a CPU that plays a GPU; the device "cpu" may be faster. Is the browser\'s hardware acceleration on?',
    );
  }
  registerDevice(device);
  setDefaultDevice(device);
  return true;
}

let current: WebGpuDevice | null = null;

async function requestDevice(options: InitOptions): Promise<GPUDevice | null> {
  const gpu = await findGpu();
  const adapter = await gpu?.requestAdapter({ powerPreference: options.powerPreference ?? "high-performance" });
  if (!adapter) return null;
  const requiredLimits: Record<string, number> = {};
  for (const name of LIMITS) {
    const value = adapter.limits[name];
    if (typeof value === "number") requiredLimits[name] = value;
  }
  const requiredFeatures = FEATURES.filter((f) => adapter.features.has(f)) as GPUFeatureName[];
  try {
    return await adapter.requestDevice({ requiredLimits, requiredFeatures });
  } catch {
    return null;
  }
}

/** The WebGPU device behind the tensors, for those who use WebGPU themselves; null before initWebGPUAsync. */
export const gpuDevice = (): GPUDevice | null => current?.gpu ?? null;
