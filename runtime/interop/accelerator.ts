// torch.accelerator: whichever device is faster than the CPU, which is WebGPU's.

import { flag } from "../base/argument-kinds.js";
import { taken } from "../base/named-arguments.js";
import { Device } from "../functions/constants.js";
import { gpu } from "./gpu-buffers.js";
import { currentGpu } from "./lost-device.js";
import { is_available, synchronize as finished } from "./webgpu.js";

export { is_available };

/**
 * How many accelerators tensors can be on, 0 or 1.
 *
 * @example
 * torch.accelerator.device_count() === Number(torch.accelerator.is_available())  // true
 */
export function device_count(): number {
  taken("device_count", arguments);
  return currentGpu() ? 1 : 0;
}

/**
 * The device of new tensors that shall be fast, `torch.device("webgpu")`; null before `initWebGPUAsync` has found one.
 *
 * @param check_available as either: only what there is, is answered
 *
 * @example
 * const device = torch.accelerator.current_accelerator() ?? "cpu";
 * torch.ones(2, { device }).sum()  // 2
 */
export function current_accelerator(check_available?: boolean | { check_available?: boolean }): Device | null;
export function current_accelerator(...args: unknown[]): Device | null {
  const [check_available = false] = taken("current_accelerator check_available?", args);
  flag(check_available, "current_accelerator", "check_available");
  return currentGpu() && new Device("webgpu");
}

/**
 * The number of the accelerator in use, 0; an error where there is none.
 *
 * @example
 * torch.accelerator.is_available() ? torch.accelerator.current_device_index() : 0  // 0
 */
export function current_device_index(): number {
  taken("current_device_index", arguments);
  gpu("current_device_index");
  return 0;
}

/**
 * Resolves when all work so far has run.
 *
 * @example
 * if (torch.accelerator.is_available()) await torch.accelerator.synchronize();
 * torch.accelerator.device_count() < 2  // true
 */
export async function synchronize(): Promise<void> {
  taken("synchronize", arguments);
  await finished();
}
