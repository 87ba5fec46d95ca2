// torch.cuda, of which there is none: what programs ask before they use it is answered, and what does no harm without it
// does nothing.

import { integer } from "../base/argument-kinds.js";
import { taken } from "../base/named-arguments.js";

/**
 * False: GPUs are used through WebGPU, for which `torch.accelerator.is_available()` asks.
 *
 * @example
 * torch.device(torch.cuda.is_available() ? "cuda" : "cpu").type  // "cpu"
 */
export function is_available(): boolean {
  taken("is_available", arguments);
  return false;
}

/**
 * How many there are, 0.
 *
 * @example
 * torch.cuda.device_count()  // 0
 */
export function device_count(): number {
  taken("device_count", arguments);
  return 0;
}

/**
 * Whether one is in use, false.
 *
 * @example
 * torch.cuda.is_initialized()  // false
 */
export function is_initialized(): boolean {
  taken("is_initialized", arguments);
  return false;
}

/**
 * Seeds nothing: `torch.manual_seed` seeds every device.
 *
 * @param seed a whole number
 *
 * @example
 * torch.cuda.manual_seed(3)  // undefined
 */
export function manual_seed(seed: number): void {
  integer(taken("manual_seed seed", arguments)[0], "manual_seed", "seed");
}

/**
 * Seeds nothing: `torch.manual_seed` seeds every device.
 *
 * @param seed a whole number
 *
 * @example
 * torch.cuda.manual_seed_all(3)  // undefined
 */
export function manual_seed_all(seed: number): void {
  integer(taken("manual_seed_all seed", arguments)[0], "manual_seed_all", "seed");
}

/**
 * Nothing: what WebGPU no longer needs is given back where it is wanted.
 *
 * @example
 * torch.cuda.empty_cache()  // undefined
 */
export function empty_cache(): void {
  taken("empty_cache", arguments);
}
