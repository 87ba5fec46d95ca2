// When a GPU goes away: who wants to know is told, and what a snapshot holds can go on.

import { callable } from "../base/argument-kinds.js";
import { DeviceError } from "../base/errors.js";
import { taken } from "../base/named-arguments.js";
import { registeredDevices } from "../devices/device.js";
import { WebGpuDevice } from "../devices/webgpu/gpu-device.js";

/** Why a device is gone: the browser's reason, "destroyed" or "unknown", and its words. */
export interface LostDevice {
  readonly reason: string;
  readonly message: string;
}

/**
 * Calls `callback` when the GPU of the tensors is lost: its driver was restarted, the computer slept, the browser took
 * it away.  Its tensors are gone then, and the default device is the CPU.  The callback may make a new one
 * (`initWebGPUAsync`) and put a snapshot's weights there; when it is done, it is called for that one's end, too.
 * `remove()` of what is answered ends that.
 *
 * @param callback is given `{ reason, message }`
 */
export function on_lost(callback: (lost: LostDevice) => unknown): { remove(): void };
export function on_lost(...args: unknown[]): { remove(): void } {
  const op = "on_lost",
    [given] = taken(`${op} callback`, args),
    callback = callable(given as (lost: LostDevice) => unknown, op, "callback"),
    device = currentGpu();
  if (!device) throw new DeviceError(`${op}: there is no GPU yet: await initWebGPUAsync() first`);
  let listening = true;
  const follow = async (of: WebGpuDevice): Promise<void> => {
    const { reason, message } = await of.gpu.lost;
    if (!listening) return;
    try {
      await callback({ reason: reason ?? "unknown", message });
    } finally {
      const next = currentGpu();
      if (next && next !== of) void follow(next);
    }
  };
  void follow(device);
  return {
    remove: () => {
      listening = false;
    },
  };
}

/** The GPU that there is now. */
export const currentGpu = (): WebGpuDevice | null =>
  registeredDevices().find((device): device is WebGpuDevice => device instanceof WebGpuDevice) ?? null;
