// Whether operations are recorded: no_grad, enable_grad, set_grad_enabled, inference_mode.  As in Python's `with`, a
// mode lasts for a body: here a function, and for an async one until its promise settles.

import { flag } from "../base/argument-kinds.js";
import { taken, withBody } from "../base/named-arguments.js";
import { Scoped, runIn } from "../base/scoped.js";

interface Mode {
  readonly recording: boolean;
  readonly inference: boolean;
  /** Whether a level of forward_ad is open: tangents come from the tape, so that is recorded under `no_grad`, too. */
  readonly tangents: boolean;
}

const modes = /* @__PURE__ */ new Scoped<Mode>(
  { recording: true, inference: false, tangents: false },
  (a, b) => a.recording === b.recording && a.inference === b.inference && a.tangents === b.tangents,
);

/** Whether the tape is written. */
export function isRecording(): boolean {
  const { recording, tangents } = modes.value;
  return recording || tangents;
}

/**
 * Whether operations on tensors that require gradients are recorded now.
 *
 * @example
 * [torch.is_grad_enabled(), torch.no_grad(() => torch.is_grad_enabled())]  // [true, false]
 */
export const is_grad_enabled = (): boolean => modes.value.recording;

/**
 * Whether this is inference mode: tensors made now never take part in a graph.
 *
 * @example
 * torch.inference_mode(() => torch.is_inference_mode_enabled())  // true
 */
export const is_inference_mode_enabled = (): boolean => modes.value.inference;

/** no_grad for the runtime's own bodies, which are synchronous. */
export const unrecorded = <T>(body: () => T): T =>
  modes.during({ ...modes.value, recording: false, tangents: false }, body);

/** Runs `body` in a level of forward_ad. */
export const withTangents = <T>(body: () => T, op: string): T =>
  runIn(modes, { ...modes.value, tangents: true }, body, op);

/** Begins or ends a level of forward_ad. */
export const setTangents = (tangents: boolean): void => {
  modes.value = { ...modes.value, tangents };
};

/**
 * Runs `body` without recording.  The mode of an async function lasts until its promise settles.
 *
 * @param body what runs so
 *
 * @example
 * const x = torch.tensor([1], { requires_grad: true });
 * torch.no_grad(() => x.mul(2)).requires_grad  // false
 */
export function no_grad<T>(body: () => T): T {
  [body] = taken("no_grad body", arguments);
  return runIn(modes, { ...modes.value, recording: false }, body, "no_grad");
}

/**
 * Runs `body` with recording, within no_grad.
 *
 * @param body what runs so
 *
 * @example
 * const x = torch.tensor([1], { requires_grad: true });
 * torch.no_grad(() => [x.mul(2).requires_grad, torch.enable_grad(() => x.mul(2).requires_grad)])  // [false, true]
 */
export function enable_grad<T>(body: () => T): T {
  [body] = taken("enable_grad body", arguments);
  return runIn(modes, { ...modes.value, recording: true }, body, "enable_grad");
}

/** Turns recording on or off, for the runtime itself; answers what turns it back. */
export function record(recording: boolean): () => void {
  const before = modes.value;
  modes.value = { ...before, recording, tangents: false };
  return () => {
    modes.value = before;
  };
}

/**
 * Turns recording on or off: from now on, or, with a body, while that runs.
 *
 * @param recording whether operations are recorded
 * @param body what runs so; without one it is so from now on
 *
 * @example
 * const x = torch.tensor([1], { requires_grad: true });
 * torch.set_grad_enabled(false, () => x.mul(2)).requires_grad  // false
 */
export function set_grad_enabled(recording: boolean): void;
export function set_grad_enabled<T>(recording: boolean, body: () => T): T;
export function set_grad_enabled<T>(recording: boolean, body?: () => T): T | void {
  [recording, body] = taken("set_grad_enabled mode body?", arguments);
  const inside = { ...modes.value, recording: flag(recording, "set_grad_enabled", "mode") };
  if (body !== undefined) return runIn(modes, inside, body, "set_grad_enabled");
  modes.value = inside;
}

/**
 * Runs `body` without recording, as no_grad does; what it makes is not for later graphs either: such tensors have no
 * version, cannot be saved for backward, and are changed in place only in inference mode.  `inference_mode(false,
 * body)` is the usual mode within another.
 *
 * @param mode false: the usual mode within inference mode
 * @param body what runs so
 *
 * @example
 * torch.inference_mode(() => torch.tensor([1], { requires_grad: true }).mul(2).requires_grad)  // false
 */
export function inference_mode<T>(body: () => T): T;
export function inference_mode<T>(mode: boolean | { mode?: boolean }, body: () => T): T;
export function inference_mode<T>(...args: unknown[]): T {
  const [mode = true, body] = taken("inference_mode mode? body", withBody(args)),
    wanted = flag(mode, "inference_mode", "mode");
  return runIn(modes, { recording: !wanted, inference: wanted, tangents: false }, body as () => T, "inference_mode");
}
