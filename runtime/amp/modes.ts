// In which type ops compute on which kind of device, and for how long: torch.autocast and the functions that read and set
// it.

import { flag, refuse, text } from "../base/argument-kinds.js";
import { OpError } from "../base/errors.js";
import { taken, withBody } from "../base/named-arguments.js";
import { Scoped, runIn } from "../base/scoped.js";
import type { DType } from "../elements/dtype.js";
import { type Cache, type Modes, type Region, casts } from "./casts.js";

/** The kinds of devices that autocast knows, by their names. */
type DeviceType = "cpu" | "webgpu" | "gpu";

const outside: Modes = {
  cpu: { dtype: "bfloat16", enabled: false },
  webgpu: { dtype: "float16", enabled: false },
  caches: true,
  cache: null,
};
const same = (a: Region, b: Region): boolean => a.dtype === b.dtype && a.enabled === b.enabled;
const modes = /* @__PURE__ */ new Scoped<Modes>(outside, (a, b) => same(a.cpu, b.cpu) && same(a.webgpu, b.webgpu));
/** Lets calls of ops ask here from now on. */
const listen = (): void => casts(modes);

function kindOf(device_type: unknown, op: string): "cpu" | "webgpu" {
  const name = text(device_type, op, "device_type").toLowerCase().replace(/:\d+$/, "");
  if (name === "cpu") return name;
  if (name === "webgpu" || name === "gpu") return "webgpu";
  throw new OpError(
    `${op}: User specified an unsupported autocast device_type '${name}': there are "cpu" and "webgpu"`,
  );
}

function lowerType(dtype: unknown, op: string): DType {
  if (dtype !== "bfloat16" && dtype !== "float16") refuse(op, "dtype", '"float16" or "bfloat16"', dtype);
  return dtype;
}

export interface AutocastOptions {
  /** The lower type, "float16" or "bfloat16"; by default float16 on a GPU and bfloat16 on the CPU. */
  dtype?: DType | null;
  /** false: ops compute in the types that come, within another region. */
  enabled?: boolean;
  /** Whether parameters that are cast are kept so until the outermost region ends. */
  cache_enabled?: boolean | null;
}

/**
 * Runs `body` with ops in mixed precision on one kind of device, `with torch.autocast(device_type):` in Python: products
 * and convolutions compute in a type of 16 bits, losses and what needs range in float32, each op as PyTorch's lists have
 * it (ops/autocast.names).  Of an async function: until its promise settles.  Call `backward()` outside.
 *
 * @param device_type "cpu" or "webgpu"
 * @returns what `body` returns
 * @throws OpError for another kind of device; an op throws DeviceError for float16 on a GPU that lacks shader-f16
 * @param body what runs in it
 *
 * @example
 * const a = torch.ones([2, 2]);
 * torch.amp.autocast("cpu", () => [a.matmul(a).dtype, a.exp().dtype])  // ["bfloat16", "float32"]
 */
export function autocast<T>(device_type: DeviceType, body: () => T, options?: AutocastOptions): T;
export function autocast<T>(device_type: DeviceType, options: AutocastOptions | DType | null, body: () => T): T;
export function autocast<T>(
  device_type: DeviceType,
  dtype: DType | null,
  enabled: boolean | AutocastOptions,
  body: () => T,
): T;
export function autocast<T>(
  device_type: DeviceType,
  dtype: DType | null,
  enabled: boolean,
  cache_enabled: boolean | null,
  body: () => T,
): T;
export function autocast<T>(options: AutocastOptions & { device_type: DeviceType }, body: () => T): T;
export function autocast<T>(...args: unknown[]): T {
  const [device_type, dtype, enabled = true, cache_enabled, body] = taken(
      "autocast device_type dtype? enabled? cache_enabled? body",
      withBody(args),
    ),
    kind = kindOf(device_type, "autocast"),
    now = modes.value,
    on = flag(enabled, "autocast", "enabled"),
    lower = dtype === undefined || dtype === null ? now[kind].dtype : lowerType(dtype, "autocast");
  listen();
  const caches =
      cache_enabled === undefined || cache_enabled === null
        ? now.caches
        : flag(cache_enabled, "autocast", "cache_enabled"),
    cache: Cache = now.cache ?? new Map();
  return runIn(modes, { ...now, [kind]: { dtype: lower, enabled: on }, caches, cache }, body as () => T, "autocast");
}

/**
 * Whether torch.autocast knows this kind of device.
 *
 * @param device_type name of a kind of device
 *
 * @example
 * [torch.amp.is_autocast_available("cpu"), torch.amp.is_autocast_available("xla")]  // [true, false]
 */
export function is_autocast_available(device_type: string): boolean {
  [device_type] = taken("is_autocast_available device_type", arguments);
  return ["cpu", "webgpu", "gpu"].includes(text(device_type, "is_autocast_available", "device_type"));
}

/**
 * Whether ops on this kind of device, without a name on a GPU, compute in mixed precision now.
 *
 * @example
 * [torch.is_autocast_enabled("cpu"), torch.autocast("cpu", () => torch.is_autocast_enabled("cpu"))]  // [false, true]
 */
export function is_autocast_enabled(device_type?: DeviceType): boolean {
  const [kind = "webgpu"] = taken("is_autocast_enabled device_type?", arguments);
  return modes.value[kindOf(kind, "is_autocast_enabled")].enabled;
}
/**
 * The lower type on this kind of device.
 *
 * @example
 * torch.get_autocast_dtype("webgpu")  // "float16"
 */
export function get_autocast_dtype(device_type: DeviceType): DType {
  return modes.value[kindOf(taken("get_autocast_dtype device_type", arguments)[0], "get_autocast_dtype")].dtype;
}
/**
 * Turns mixed precision on or off for a kind of device, from now on or for the rest of the running region.
 *
 * @example
 * torch.set_autocast_enabled("cpu", false);
 * torch.is_autocast_enabled("cpu")  // false
 */
export function set_autocast_enabled(device_type: DeviceType, enabled: boolean): void {
  [device_type, enabled] = taken("set_autocast_enabled device_type enabled", arguments);
  put(kindOf(device_type, "set_autocast_enabled"), { enabled: flag(enabled, "set_autocast_enabled", "enabled") });
}
/**
 * Sets the lower type of a kind of device.
 *
 * @example
 * torch.set_autocast_dtype("cpu", torch.bfloat16);
 * torch.get_autocast_dtype("cpu")  // "bfloat16"
 */
export function set_autocast_dtype(device_type: DeviceType, dtype: DType): void {
  [device_type, dtype] = taken("set_autocast_dtype device_type dtype", arguments);
  put(kindOf(device_type, "set_autocast_dtype"), { dtype: lowerType(dtype, "set_autocast_dtype") });
}

function put(kind: "cpu" | "webgpu", part: Partial<Region>): void {
  const now = modes.value;
  listen();
  modes.value = { ...now, [kind]: { ...now[kind], ...part } };
}

/**
 * The same for the CPU and for a GPU, under the names that PyTorch had before.
 *
 * @example
 * torch.autocast("cpu", () => torch.is_autocast_cpu_enabled())  // true
 */
export function is_autocast_cpu_enabled(): boolean {
  taken("is_autocast_cpu_enabled", arguments);
  return is_autocast_enabled("cpu");
}
/**
 * The type that ops take under autocast on the CPU; `get_autocast_dtype` is the newer name.
 *
 * @example
 * torch.get_autocast_cpu_dtype()  // "bfloat16"
 */
export function get_autocast_cpu_dtype(): DType {
  taken("get_autocast_cpu_dtype", arguments);
  return get_autocast_dtype("cpu");
}
/**
 * The type that ops take under autocast on a GPU; `get_autocast_dtype` is the newer name.
 *
 * @example
 * torch.get_autocast_gpu_dtype()  // "float16"
 */
export function get_autocast_gpu_dtype(): DType {
  taken("get_autocast_gpu_dtype", arguments);
  return get_autocast_dtype("webgpu");
}
/**
 * Whether ops on the CPU are under autocast from now on; `set_autocast_enabled` is the newer name.
 *
 * @example
 * torch.set_autocast_cpu_enabled(false);
 * torch.is_autocast_cpu_enabled()  // false
 */
export function set_autocast_cpu_enabled(enabled: boolean): void {
  set_autocast_enabled("cpu", taken("set_autocast_cpu_enabled enabled", arguments)[0] as boolean);
}
/**
 * The type that ops take under autocast on the CPU from now on; `set_autocast_dtype` is the newer name.
 *
 * @example
 * torch.set_autocast_cpu_dtype(torch.bfloat16);
 * torch.get_autocast_cpu_dtype()  // "bfloat16"
 */
export function set_autocast_cpu_dtype(dtype: DType): void {
  set_autocast_dtype("cpu", taken("set_autocast_cpu_dtype dtype", arguments)[0] as DType);
}
/**
 * The type that ops take under autocast on a GPU from now on; `set_autocast_dtype` is the newer name.
 *
 * @example
 * torch.set_autocast_gpu_dtype(torch.float16);
 * torch.get_autocast_gpu_dtype()  // "float16"
 */
export function set_autocast_gpu_dtype(dtype: DType): void {
  set_autocast_dtype("webgpu", taken("set_autocast_gpu_dtype dtype", arguments)[0] as DType);
}

/**
 * Whether parameters that were cast are kept so while the outermost region runs.
 *
 * @example
 * torch.is_autocast_cache_enabled()  // true
 */
export function is_autocast_cache_enabled(): boolean {
  taken("is_autocast_cache_enabled", arguments);
  return modes.value.caches;
}
/**
 * Lets parameters that are cast be kept, or not.
 *
 * @param enabled true: an op that casts a parameter leaves the cast one for the next
 *
 * @example
 * torch.set_autocast_cache_enabled(true);
 * torch.is_autocast_cache_enabled()  // true
 */
export function set_autocast_cache_enabled(enabled: boolean): void {
  [enabled] = taken("set_autocast_cache_enabled enabled", arguments);
  modes.value = { ...modes.value, caches: flag(enabled, "set_autocast_cache_enabled", "enabled") };
}
/**
 * Forgets the parameters that were cast.
 *
 * @example
 * torch.clear_autocast_cache();
 * torch.is_autocast_cache_enabled()  // true
 */
export function clear_autocast_cache(): void {
  taken("clear_autocast_cache", arguments);
  modes.value.cache?.clear();
}
