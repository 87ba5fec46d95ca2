// torch.backends: how devices work, beside what they compute.

import { flag } from "../base/argument-kinds.js";
import { TypeMismatchError, describe } from "../base/errors.js";
import { taken } from "../base/named-arguments.js";
import { registeredDevices } from "../devices/device.js";
import { Benchmark, TILE_FACTS, TILE_SETTINGS, type TunedTile } from "../devices/webgpu/benchmark.js";
import { WebGpuDevice } from "../devices/webgpu/gpu-device.js";

export type { TunedTile };

let on = false,
  kept: readonly TunedTile[] = [];
const benchmarks = new Map<WebGpuDevice, Benchmark>();

/** The trials of a device that is there. */
function of(device: WebGpuDevice): Benchmark {
  let found = benchmarks.get(device);
  if (!found) {
    benchmarks.set(device, (found = new Benchmark(device)));
    found.use(kept);
  }
  return found;
}

function follow(): Benchmark[] {
  for (const [device] of benchmarks) if (device.lost !== null) benchmarks.delete(device);
  WebGpuDevice.onMade = (device) => {
    const made = of(device);
    if (on) made.start();
  };
  return registeredDevices()
    .filter((device) => device instanceof WebGpuDevice)
    .map(of);
}

/**
 * What is this package's own.
 *
 * @example
 * torch.backends.tensorloom.benchmark  // false
 */
export const tensorloom = {
  /**
   * Whether each new product's tiles are tried on the GPU, in the background: the fastest is used from then on, as
   * `torch.backends.cudnn.benchmark` does in PyTorch.  No tile changes a result beyond rounding.  A function that was
   * compiled before keeps what it has.  False at first.
   */
  get benchmark(): boolean {
    return on;
  },
  set benchmark(value: boolean) {
    on = flag(value, "backends.tensorloom", "benchmark");
    for (const each of follow()) {
      if (on) each.start();
      else each.stop();
    }
  },
  /** Resolves when all trials that were begun are over. */
  async benchmark_finished(): Promise<void> {
    taken("benchmark_finished", arguments);
    await Promise.all(follow().map((each) => each.finished()));
  },
  /** The tiles that were found to be faster than those for all devices; JSON keeps them. */
  tuned(): TunedTile[] {
    taken("tuned", arguments);
    return follow().flatMap(({ found }) => found);
  },
  /** Uses tiles that `tuned` gave earlier on such a device, which are not tried again. */
  use_tuned(tiles: readonly TunedTile[]): void {
    const [given] = taken("use_tuned tiles", arguments) as [unknown];
    if (!Array.isArray(given))
      throw new TypeMismatchError(`use_tuned: argument 'tiles' is ${describe(given)}, not a list`);
    given.forEach(check);
    const devices = follow();
    kept = [...kept, ...(given as TunedTile[])];
    for (const each of devices) each.use(given as TunedTile[]);
  },
};

function check(tile: unknown, n: number): void {
  const { op, facts, tile: settings } = (tile ?? {}) as Record<string, Record<string, unknown>>;
  const areSizes = (numbers: Record<string, unknown> | undefined, names: readonly string[]): boolean =>
    names.every((name) => Number.isInteger(numbers?.[name]) && (numbers![name] as number) >= 0);
  if (typeof op === "string" && areSizes(facts, TILE_FACTS) && areSizes(settings, TILE_SETTINGS)) return;
  throw new TypeMismatchError(
    `use_tuned: tiles[${n}] is none: it has a text 'op', 'facts' with ${TILE_FACTS.join(", ")}, and 'tile' with ${TILE_SETTINGS.join(", ")}`,
  );
}

const absent = (name: string) =>
  function (): boolean {
    taken(name, arguments);
    return false;
  };

/**
 * cuDNN, which is not here: `benchmark` is `tensorloom.benchmark`; results are deterministic in any case.
 *
 * @example
 * torch.backends.cudnn.is_available()  // false
 */
export const cudnn = {
  get benchmark(): boolean {
    return on;
  },
  set benchmark(value: boolean) {
    tensorloom.benchmark = value;
  },
  deterministic: true,
  enabled: false,
  is_available: absent("is_available"),
};

/**
 * CUDA: GPUs are used through WebGPU.  float32 is never rounded to TF32, which `allow_tf32` would permit.
 *
 * @example
 * torch.backends.cuda.is_built()  // false
 */
export const cuda = { is_built: absent("is_built"), matmul: { allow_tf32: false } };

/**
 * Metal, by that name: `torch.webgpu.is_available()` says whether there is a GPU.
 *
 * @example
 * torch.backends.mps.is_available()  // false
 */
export const mps = { is_available: absent("is_available"), is_built: absent("is_built") };
