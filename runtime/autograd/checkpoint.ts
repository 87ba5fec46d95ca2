// torch.utils.checkpoint: what a function saves for the way back is thrown away, and computed anew when it is needed.

import { callable, count, flag, listOf } from "../base/argument-kinds.js";
import { OpError } from "../base/errors.js";
import { titled } from "../base/class-name.js";
import { isOptions, optionsIn, placeOf, taken } from "../base/named-arguments.js";
import { Scoped, runIn } from "../base/scoped.js";
import { sameShape } from "../base/shape.js";
import { get_rng_state, set_rng_state } from "../elements/random.js";
import { casting } from "../dispatch/casting.js";
import { enable_grad, isRecording } from "../tape/grad-mode.js";
import type { Tensor } from "../tensor/tensor.js";
import { withSavedHooks } from "./saved-hooks.js";

/**
 * The function did not compute the same the second time.
 *
 * @example
 * new torch.utils.checkpoint.CheckpointError("differs").message  // "differs"
 */
export class CheckpointError extends OpError {}
titled(CheckpointError, "CheckpointError");

export interface CheckpointOptions {
  /** As false: there is one way here, default null. */
  use_reentrant?: boolean;
  /** Whether random numbers are the same the second time, default true. */
  preserve_rng_state?: boolean;
  /** Whether the second run is compared with the first: "default" or "none", default "default". */
  determinism_check?: string;
  /** Whether an error says which tensors differ, default false. */
  debug?: boolean;
  /** Whether the second run ends with the last tensor that is needed, default true. */
  early_stop?: boolean;
}
/** What `early_stop` is where a call does not say. */
const stopping = /* @__PURE__ */ new Scoped<{ readonly stops: boolean } | null>(null, (a, b) => a?.stops === b?.stops);

/**
 * While `body` runs, what checkpoints take for `early_stop`, whatever they are told.
 *
 * @param enable whether the second run of a checkpoint ends with the last tensor that is needed
 * @param body what runs so
 *
 * @example
 * const x = torch.tensor([2], { requires_grad: true });
 * const { checkpoint, set_checkpoint_early_stop } = torch.utils.checkpoint;
 * const y = set_checkpoint_early_stop(false, () => checkpoint((x) => x.square(), x));
 * y.backward();
 * x.grad  // [4]
 */
export function set_checkpoint_early_stop<T>(enable: boolean, body: () => T): T {
  [enable, body] = taken("set_checkpoint_early_stop enable body", arguments);
  const op = "set_checkpoint_early_stop";
  return runIn(stopping, { stops: flag(enable, op, "enable") }, body, op);
}
/** Ends a second run that has all that the way back asks for. */
class Enough extends Error {}

const OPTIONS = ["use_reentrant", "preserve_rng_state", "context_fn", "determinism_check", "debug", "early_stop"];

/**
 * `fn(...args)`, of which the tape keeps nothing: it runs once more on the way back.  `fn` must not be async.  Options
 * that are not the checkpoint's are the function's, and come to it as its last argument.
 *
 * @param function what is run, and run again on the way back; of tensors, and not async
 * @param args its arguments, one after another
 * @param use_reentrant as false: there is one way here
 * @param context_fn is not taken, as contexts are Python's: must be left out, default null
 * @param determinism_check "default": the second run must give tensors of the same shapes and types, "none": it is
 *   not compared
 * @param debug whether an error says which tensors differ
 * @param early_stop whether the second run ends with the last tensor that is needed
 * @param kwargs the function's own options, which come to it as its last argument
 *
 * @example
 * const x = torch.tensor([1, 2], { requires_grad: true });
 * const y = torch.utils.checkpoint.checkpoint((x) => x.exp().log().mul(3), x, { use_reentrant: false });
 * y.sum().backward();
 * x.grad  // [3, 3]
 */
export function checkpoint<R>(fn: (...args: any[]) => R, ...args: unknown[]): R {
  if (args.length === 0) [fn] = taken(`checkpoint function | ${OPTIONS.join(" ")}`, arguments);
  const last = args[args.length - 1],
    named = isOptions(last) && Object.keys(last).some((name) => placeOf(OPTIONS, name) >= 0),
    [own, others] = named ? parted(args.pop() as object) : [{}, {}],
    options = optionsIn<CheckpointOptions>("checkpoint", own, OPTIONS);
  if (Object.keys(others).length > 0) {
    if (options.use_reentrant) throw new OpError(`Unexpected keyword arguments: ${Object.keys(others).join(",")}`);
    args.push(others);
  }
  callable(fn, "checkpoint", "function");
  const keeps = flag(options.preserve_rng_state ?? true, "checkpoint", "preserve_rng_state"),
    compares = options.determinism_check !== "none",
    random = get_rng_state(),
    stops = stopping.value?.stops ?? flag(options.early_stop ?? true, "checkpoint", "early_stop"),
    first: { shape: readonly number[]; dtype: string }[] = [];
  if (!isRecording()) return fn(...args);

  let again: (Tensor | undefined)[] = [];
  const asNow = casting?.again() ?? ((body: () => R) => body());
  const recompute = (): Tensor[] => {
    const list: Tensor[] = [],
      now = get_rng_state();
    const hooks = {
      pack(x: Tensor) {
        const at = list.push(x.detach()) - 1;
        if (stops && list.length === first.length) throw new Enough();
        return at;
      },
      unpack: (at: unknown) => list[at as number]!,
    };
    if (keeps) set_rng_state(random);
    try {
      withSavedHooks("checkpoint", hooks, () => enable_grad(() => asNow(() => fn(...args))));
    } catch (error) {
      if (!(error instanceof Enough)) throw error;
    } finally {
      if (keeps) set_rng_state(now);
    }
    const differs = (x: Tensor, i: number) => !sameShape(x.shape, first[i]!.shape) || x.dtype !== first[i]!.dtype;
    if (list.length !== first.length)
      throw new CheckpointError(
        `torch.utils.checkpoint: A different number of tensors was saved during the original forward and recomputation.\n` +
          `Number of tensors saved during forward: ${first.length}\nNumber of tensors saved during recomputation: ${list.length}.`,
      );
    if (compares && list.some(differs))
      throw new CheckpointError(
        "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than during the forward pass.",
      );
    return list;
  };
  const hooks = {
    pack: ({ shape, dtype }: Tensor) => first.push({ shape, dtype }) - 1,
    unpack(packed: unknown): Tensor {
      const at = packed as number;
      if (!again[at]) again = recompute();
      const tensor = again[at]!;
      again[at] = undefined;
      return tensor;
    },
  };
  return withSavedHooks("checkpoint", hooks, () => fn(...args));
}

/** The options that are the checkpoint's, and those that are its function's. */
function parted(given: object): [own: object, others: object] {
  const [own, others] = [true, false].map((mine) =>
    Object.fromEntries(Object.entries(given).filter(([name]) => placeOf(OPTIONS, name) >= 0 === mine)),
  );
  return [own!, others!];
}

/**
 * Functions or modules one after another, in `segments` parts that each are a checkpoint, but for the last.
 *
 * @param functions list of functions or modules, or one `Sequential`
 * @param segments into how many parts they are divided
 * @param input what the first one is given
 *
 * @example
 * const layers = [(x) => x.mul(2), (x) => x.square(), (x) => x.add(1)];
 * torch.utils.checkpoint.checkpoint_sequential(layers, 2, torch.tensor([1, 2]), { use_reentrant: false })  // [5, 17]
 */
export function checkpoint_sequential<R = Tensor>(
  functions: Iterable<(x: any) => unknown>,
  segments: number | { segments: number },
  input?: unknown,
  options?: CheckpointOptions,
): R;
export function checkpoint_sequential(...args: unknown[]): unknown {
  const [functions, segments, input, options] = taken(
      `checkpoint_sequential functions segments input | ${OPTIONS.join(" ")}`,
      args,
    ),
    // nn.Sequential is a function, too.
    all = listOf<(x: unknown) => unknown>(
      typeof functions === "function" && Symbol.iterator in functions ? [...functions] : functions,
      "checkpoint_sequential",
      "functions",
    ).map((f) => callable(f, "checkpoint_sequential", "functions")),
    parts = count(segments, "checkpoint_sequential", "segments", 1),
    size = Math.floor(all.length / parts),
    run = (from: number, to: number) => (x: unknown) => all.slice(from, to).reduce((value, f) => f(value), x);
  let value: unknown = input;
  for (let i = 0; i < parts - 1; i++) value = checkpoint(run(i * size, (i + 1) * size), value, options ?? {});
  return run((parts - 1) * size, all.length)(value);
}
