// torch.amp.GradScaler: losses are scaled up, so that gradients in float16 do not vanish, and gradients down again; a step
// whose gradients overflowed is left out.

import { number, count, flag, text } from "../base/argument-kinds.js";
import { callable } from "../base/callable.js";
import { OpError, TypeMismatchError, describe } from "../base/errors.js";
import type { Optimizer } from "../optim/optimizer.js";
import { unrecorded } from "../tape/grad-mode.js";
import { Tensor } from "../tensor/tensor.js";
import { any, isfinite, logical_not, logical_or, mul } from "../../names/torch.js";
import { copy_ } from "../views/transfer.js";

export interface GradScalerOptions {
  /** The kind of device that gradients are on; kept for programs that pass it. */
  device?: string;
  /** What losses are multiplied by at first. */
  init_scale?: number;
  /** What the scale is multiplied by after `growth_interval` steps without an overflow, and after one with it. */
  growth_factor?: number;
  backoff_factor?: number;
  growth_interval?: number;
  /** false: nothing is scaled, and steps are the optimizer's own. */
  enabled?: boolean;
}

/** What a scaler's `state_dict()` holds, as PyTorch's. */
export interface GradScalerState {
  scale: number;
  growth_factor: number;
  backoff_factor: number;
  growth_interval: number;
  _growth_tracker: number;
}

/** What happened to an optimizer's gradients since the last `update()`: divided or stepped, and whether any overflowed. */
interface Turn {
  stage: "unscaled" | "stepped";
  overflowed: Promise<boolean>;
}

const HELP = "This may indicate your script did not use scaler.scale(loss or outputs) earlier in the iteration.";

class GradScalerClass {
  private now: number;
  private growth: number;
  private backoff: number;
  private interval: number;
  private tracker = 0;
  private readonly enabled: boolean;
  private scaled = false;
  private updating = false;
  private readonly turns = new Map<Optimizer, Turn>();

  constructor(
    device?: string | GradScalerOptions,
    init_scale?: number | GradScalerOptions,
    growth_factor?: number,
    backoff_factor?: number,
    growth_interval?: number,
    enabled?: boolean,
  ) {
    const made = (value: unknown, name: string, otherwise: number) => number(value ?? otherwise, "GradScaler", name);
    text(device ?? "webgpu", "GradScaler", "device");
    this.enabled = flag(enabled ?? true, "GradScaler", "enabled");
    this.now = made(init_scale, "init_scale", 65536);
    this.growth = made(growth_factor, "growth_factor", 2);
    this.backoff = made(backoff_factor, "backoff_factor", 0.5);
    this.interval = count(growth_interval ?? 2000, "GradScaler", "growth_interval", 1);
    if (this.enabled && !(this.growth > 1)) throw new OpError("GradScaler: The growth factor must be > 1.0.");
    if (this.enabled && !(this.backoff < 1)) throw new OpError("GradScaler: The backoff factor must be < 1.0.");
  }

  /** A loss, or each of a list of them, times the scale. */
  scale(outputs: Tensor): Tensor;
  scale<T extends readonly unknown[]>(outputs: T): T;
  scale(outputs: unknown): unknown {
    if (!this.enabled) return outputs;
    if (this.updating) throw new OpError("GradScaler.scale: the last update has not ended: await scaler.update()");
    this.scaled = true;
    return this.times(outputs);
  }
  private times(value: unknown): unknown {
    if (value instanceof Tensor) return mul(value, this.now);
    if (Array.isArray(value)) return value.map((one) => this.times(one));
    throw new TypeMismatchError(
      `GradScaler.scale: outputs must be a Tensor or an iterable of Tensors, got ${describe(value)}`,
    );
  }

  /** Divides the gradients of an optimizer's parameters by the scale, to clip or look at them before `step`. */
  unscale_(optimizer: Optimizer): void {
    if (!this.enabled) return;
    this.must("unscale_");
    const turn = this.turns.get(optimizer);
    if (turn?.stage === "unscaled")
      throw new OpError(
        "GradScaler.unscale_: unscale_() has already been called on this optimizer since the last update().",
      );
    if (turn) throw new OpError("GradScaler.unscale_: unscale_() is being called after step().");
    this.turns.set(optimizer, { stage: "unscaled", overflowed: this.divide(optimizer) });
  }

  /** Divides gradients; whether any is infinite or NaN: one number is read for all. */
  private divide(optimizer: Optimizer): Promise<boolean> {
    const inverse = Math.fround(1 / this.now);
    return unrecorded(() => {
      let bad: Tensor | null = null;
      for (const { params } of optimizer.param_groups)
        for (const param of params) {
          const grad = param.grad as Tensor | null;
          if (!grad) continue;
          if (grad.dtype === "float16") throw new OpError("GradScaler.unscale_: Attempting to unscale FP16 gradients.");
          const found = any(logical_not(isfinite(grad)));
          bad = bad ? logical_or(bad, found) : found;
          copy_(grad, mul(grad, inverse), "unscale_");
        }
      if (!bad) throw new OpError("GradScaler.step: No inf checks were recorded for this optimizer.");
      return bad.item<boolean>().then(Boolean);
    });
  }

  private must(name: string): void {
    if (!this.scaled) throw new OpError(`GradScaler.${name}: Attempted ${name} but _scale is None.  ${HELP}`);
  }

  /**
   * The optimizer's step, left out where a gradient is infinite or NaN.  Divides the gradients first, unless `unscale_`
   * did.  Resolves to what the optimizer's step does; await it: whether a gradient overflowed is read from the device.
   */
  async step(optimizer: Optimizer): Promise<void> {
    if (!this.enabled) return optimizer.step();
    this.must("step");
    if (this.turns.get(optimizer)?.stage === "stepped")
      throw new OpError("GradScaler.step: step() has already been called since the last update().");
    if (!this.turns.has(optimizer)) this.unscale_(optimizer);
    const turn = this.turns.get(optimizer)!;
    turn.stage = "stepped";
    if (!(await turn.overflowed)) await optimizer.step();
  }

  /** Sets the scale for the next turn: smaller after an overflow, larger after `growth_interval` turns without one. */
  async update(new_scale?: number | Tensor | null): Promise<void> {
    if (!this.enabled) return;
    this.must("update");
    this.updating = true;
    try {
      if (new_scale !== undefined && new_scale !== null) {
        this.now =
          new_scale instanceof Tensor
            ? await new_scale.item<number>()
            : number(new_scale, "GradScaler.update", "new_scale");
      } else {
        if (!this.turns.size) throw new OpError("GradScaler.update: No inf checks were recorded prior to update.");
        const found = await Promise.all([...this.turns.values()].map(({ overflowed }) => overflowed));
        if (found.some(Boolean)) {
          this.now *= this.backoff;
          this.tracker = 0;
        } else if (++this.tracker === this.interval) {
          const grown = Math.fround(this.now * this.growth);
          if (Number.isFinite(grown)) this.now = grown;
          this.tracker = 0;
        }
      }
      this.turns.clear();
    } finally {
      this.updating = false;
    }
  }

  /** The scale now; 1 of a scaler that is not enabled. */
  get_scale(): number {
    return this.enabled ? this.now : 1;
  }
  get_growth_factor(): number {
    return this.growth;
  }
  set_growth_factor(new_factor: number): void {
    this.growth = number(new_factor, "GradScaler.set_growth_factor", "new_factor");
  }
  get_backoff_factor(): number {
    return this.backoff;
  }
  set_backoff_factor(new_factor: number): void {
    this.backoff = number(new_factor, "GradScaler.set_backoff_factor", "new_factor");
  }
  get_growth_interval(): number {
    return this.interval;
  }
  set_growth_interval(new_interval: number): void {
    this.interval = count(new_interval, "GradScaler.set_growth_interval", "new_interval", 1);
  }
  is_enabled(): boolean {
    return this.enabled;
  }

  /** What `load_state_dict` takes, here and in PyTorch; empty of a scaler that is not enabled. */
  state_dict(): GradScalerState | Record<string, never> {
    if (!this.enabled) return {};
    return {
      scale: this.now,
      growth_factor: this.growth,
      backoff_factor: this.backoff,
      growth_interval: this.interval,
      _growth_tracker: this.tracker,
    };
  }
  load_state_dict(state_dict: GradScalerState | Record<string, unknown>): void {
    if (!this.enabled) return;
    if (!Object.keys(state_dict).length)
      throw new OpError(
        "GradScaler.load_state_dict: The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler.",
      );
    const of = (name: string): number =>
      number((state_dict as Record<string, unknown>)[name], "GradScaler.load_state_dict", name);
    const [scale, growth, backoff, interval, tracker] = [
      of("scale"),
      of("growth_factor"),
      of("backoff_factor"),
      of("growth_interval"),
      of("_growth_tracker"),
    ];
    Object.assign(this, { now: scale, growth, backoff, interval, tracker });
  }
}

/**
 * Scales losses and gradients for training in float16, as `torch.amp.GradScaler`.
 *
 * @param device the kind of device of the losses; "webgpu" unless given
 * @param init_scale what losses are multiplied by at first; 65536 unless given
 * @param growth_factor what the scale is multiplied by after `growth_interval` steps without infinite gradients; 2
 *   unless given
 * @param backoff_factor what it is multiplied by after a step with some; 0.5 unless given
 * @param growth_interval a number of steps; 2000 unless given
 * @param enabled false: nothing is scaled
 *
 * @example
 * const scaler = torch.amp.GradScaler("cpu", { init_scale: 4 });
 * scaler.scale(torch.tensor([0.5]))  // [2]
 */
export const GradScaler = /* @__PURE__ */ callable(
  GradScalerClass,
  "GradScaler",
  "constructor device? init_scale? growth_factor? backoff_factor? growth_interval? enabled?, times !, divide !, must !, scale outputs, unscale_ optimizer, step optimizer, update new_scale?, set_growth_factor new_factor, set_backoff_factor new_factor, set_growth_interval new_interval, load_state_dict state_dict{}",
);
export type GradScaler = GradScalerClass;
