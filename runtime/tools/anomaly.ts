// Anomaly detection: the node whose way back first makes a NaN is named, with the call that made the node.  Gradients
// on a GPU are looked at when something is read back the next time.

import type { Elements } from "../program/compiled-op.js";
import { AutogradError } from "../base/errors.js";
import { callable, flag } from "../base/argument-kinds.js";
import { taken, withBody } from "../base/named-arguments.js";
import { watchNodes } from "../tape/node.js";
import { checkReads } from "../tensor/read.js";
import { Scoped, runIn } from "../base/scoped.js";
import { extent } from "../base/shape.js";
import type { Tensor } from "../tensor/tensor.js";

interface Mode {
  readonly detecting: boolean;
  readonly checking: boolean;
}

const modes = /* @__PURE__ */ new Scoped<Mode>(
  { detecting: false, checking: true },
  (a, b) => a.detecting === b.detecting && a.checking === b.checking,
);
/** How many bodies run in which it detects. */
let bodies = 0;

/** Verdicts on values that a GPU still has to hand out, in the order in which they were asked for. */
let pending: Promise<Error | null>[] = [];

/** The next read throws what `verdict` comes to, if that is an error. */
export function settleLater(verdict: Promise<Error | null>): void {
  verdict.catch(() => undefined); // it is thrown there, not before
  pending.push(verdict);
  checkReads(settleAnomalies);
}

/**
 * Whether `detect_anomaly` is on.
 *
 * @example
 * [torch.autograd.is_anomaly_enabled(), torch.autograd.detect_anomaly(() => torch.autograd.is_anomaly_enabled())]  // [false, true]
 */
export const is_anomaly_enabled = (): boolean => modes.value.detecting;
/**
 * Whether it looks for NaN.
 *
 * @example
 * torch.autograd.is_anomaly_check_nan_enabled()  // true
 */
export const is_anomaly_check_nan_enabled = (): boolean => modes.value.checking;

/**
 * From now on (or no longer) `backward` says which function made a gradient NaN, and where it was called.  Slow: for
 * looking for mistakes.
 *
 * @param mode true from now on, or false
 * @param check_nan whether it looks for NaN; true unless given
 *
 * @example
 * torch.autograd.set_detect_anomaly(true);
 * const on = torch.autograd.is_anomaly_enabled();
 * torch.autograd.set_detect_anomaly(false);
 * on  // true
 */
export function set_detect_anomaly(mode: boolean, check_nan: boolean | { check_nan?: boolean } = true): void {
  [mode, check_nan = true] = taken("set_detect_anomaly mode check_nan?", arguments);
  modes.value = {
    detecting: flag(mode, "set_detect_anomaly", "mode"),
    checking: flag(check_nan, "set_detect_anomaly", "check_nan"),
  };
  watch();
}

/**
 * As set_detect_anomaly, while `body` runs; of an async function until its promise settles.
 *
 * @param body what runs so
 * @param check_nan whether it looks for NaN; else it only says where functions were called
 *
 * @example
 * const x = torch.tensor([0], { requires_grad: true });
 * const found = torch.autograd.detect_anomaly(() => {
 *   try {
 *     x.sqrt().mul(0).backward();
 *   } catch (error) {
 *     return error.message.split("\n")[0];
 *   }
 * });
 * found  // "Function 'SqrtBackward0' returned nan values in its 0th output."
 */
export function detect_anomaly<T>(body: () => T, check_nan?: boolean | { check_nan?: boolean }): T;
export function detect_anomaly<T>(check_nan: boolean | { check_nan?: boolean }, body: () => T): T;
export function detect_anomaly<T>(...args: unknown[]): T {
  const [check_nan = true, body] = taken("detect_anomaly check_nan? body", withBody(args));
  flag(check_nan, "detect_anomaly", "check_nan");
  callable(body, "detect_anomaly", "body");
  bodies++;
  watch();
  return runIn(modes, { detecting: true, checking: check_nan }, body, "detect_anomaly", () => {
    bodies--;
    watch();
  });
}

function watch(): void {
  watchNodes(bodies || modes.value.detecting ? { whereabouts, inspect } : null);
}

/** Where a node is made, from the program's line on. */
const whereabouts = (): string | null =>
  modes.value.detecting ? (new AutogradError("").stack ?? "").replace(/^.*\n/, "") : null;

function hasNaN(elements: Elements): boolean {
  for (let i = 0; i < elements.length; i++) if (Number.isNaN(elements[i])) return true;
  return false;
}

/** Throws if a gradient that the node has just made holds a NaN; on a GPU the next read throws. */
function inspect(
  node: { readonly label: string; readonly made: string | null },
  grads: readonly (Tensor | null)[],
): void {
  const { detecting, checking } = modes.value;
  if (!detecting || !checking) return;
  grads.forEach((grad, i) => {
    if (!grad) return;
    const { device } = grad.storage,
      from = grad.offset,
      to = from + extent(grad.shape, grad.strides);
    const found =
      `Function '${node.label}' returned nan values in its ${i}th output.` +
      (node.made ? `\nTraceback of the forward call that caused the error:\n${node.made}` : "");
    if (device.type === "cpu") {
      if (hasNaN(grad.storage.elements.subarray(from, to) as Elements)) throw new AutogradError(found);
    } else if (to > from)
      settleLater(
        device
          .download(grad.storage, from, to)
          .then((elements) => (hasNaN(elements) ? new AutogradError(found) : null)),
      );
  });
}

/** Throws what a GPU has found since the last read. */
async function settleAnomalies(): Promise<void> {
  if (!pending.length) return;
  const verdicts = pending;
  pending = [];
  for (const verdict of await Promise.all(verdicts)) if (verdict) throw verdict;
}
