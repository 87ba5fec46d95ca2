// torch.webgpu: what programs say to the GPU itself, as torch.cuda does in PyTorch.

import { taken } from "../base/named-arguments.js";
import { gpu } from "./gpu-buffers.js";
import { currentGpu } from "./lost-device.js";

export { type LostDevice, on_lost } from "./lost-device.js";
export { type Snapshot, snapshot } from "./snapshot.js";

/**
 * Whether tensors can be on a GPU now: `initWebGPUAsync` found one, and it was not lost.
 *
 * @example
 * typeof torch.webgpu.is_available()  // "boolean"
 */
export function is_available(): boolean {
  taken("is_available", arguments);
  return currentGpu() !== null;
}

/**
 * Submits all work of tensors so far to the GPU's queue, so that what the program submits next comes after it.  Nothing
 * is waited for.
 */
export function flush(): void {
  taken("flush", arguments);
  gpu("flush").queue.flush();
}

/** Resolves when all work so far has run. */
export async function synchronize(): Promise<void> {
  taken("synchronize", arguments);
  await gpu("synchronize").synchronize();
}
