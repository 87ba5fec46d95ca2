// load_state_dict: values from elsewhere into a module's parameters and buffers, all or none of them.

import { classOf } from "../base/class-name.js";
import { copy_ } from "../views/transfer.js";
import { OpError, TypeMismatchError, describe } from "../base/errors.js";
import { unrecorded } from "../tape/grad-mode.js";
import { beforeInPlace } from "../tensor/in-place-checks.js";
import { sameShape, showSize } from "../base/shape.js";
import { Tensor } from "../tensor/tensor.js";
import type { Hooks } from "./hooks.js";
import type { Module } from "./module.js";
import { Parameter } from "./parameter.js";
import { toTensor } from "./state.js";

/** Which of the module's names were not given, and which of the given ones it does not have. */
export interface LoadReport {
  missing_keys: string[];
  unexpected_keys: string[];
}

/**
 * What a module did to itself so that a state can be compared with it: `settle` once all fits, `undo` where it does
 * not.
 */
export interface Loading {
  settle(): void;
  undo(): void;
}

class Report implements LoadReport {
  readonly missing_keys: string[];
  readonly unexpected_keys: string[];
  constructor(missing: string[], unexpected: string[]) {
    this.missing_keys = missing;
    this.unexpected_keys = unexpected;
  }
  toString(): string {
    if (this.missing_keys.length + this.unexpected_keys.length === 0) return "<All keys matched successfully>";
    const list = (keys: string[]) => `[${keys.map((k) => `'${k}'`).join(", ")}]`;
    return `_IncompatibleKeys(missing_keys=${list(this.missing_keys)}, unexpected_keys=${list(this.unexpected_keys)})`;
  }
}

/** Copies `source` into `module`; throws, before anything is changed, for what does not fit. */
export function loadState(
  module: Module,
  source: unknown,
  strict: boolean,
  assign: boolean,
  hooksOf: (module: Module) => Hooks,
): LoadReport {
  if (source === null || typeof source !== "object" || Array.isArray(source)) {
    throw new TypeMismatchError(`load_state_dict: Expected state_dict to be dict-like, got ${describe(source)}`);
  }
  const given: Record<string, unknown> = { ...(source instanceof Map ? Object.fromEntries(source) : source) },
    ready: Loading[] = [];
  try {
    for (const [path, part] of module.named_modules()) {
      const loading = (
        part as unknown as { before_load(given: Record<string, unknown>, prefix: string): Loading | void }
      ).before_load(given, path && `${path}.`);
      if (loading) ready.push(loading);
      for (const hook of hooksOf(part).loading) hook(part, given, path && `${path}.`, {}, strict, [], [], []);
    }
    const [pairs, report, own] = compared(module, given, strict, assign);
    for (const { settle } of ready) settle();
    const unfilled = assign ? [] : pairs.filter(([, target]) => target.device === "meta").map(([path]) => path);
    if (unfilled.length)
      console.warn(
        `load_state_dict: ${unfilled.join(", ")}: copying to a meta parameter is a no-op (did you mean to pass assign: true?)`,
      );
    unrecorded(() => {
      for (const [path, target, value] of pairs) {
        if (assign) put(module, path, value);
        else copy_(target, value);
      }
    });
    for (const [path, part] of module.named_modules()) {
      const extra = path ? `${path}.${EXTRA}` : EXTRA;
      if (Object.hasOwn(given, extra) && Object.hasOwn(own, extra)) part.set_extra_state(given[extra]);
      for (const hook of hooksOf(part).loaded) hook(part, report);
    }
    return report;
  } catch (error) {
    for (const { undo } of ready) undo();
    throw error;
  }
}

/** The name of what a module keeps in its state beside tensors. */
export const EXTRA = "_extra_state";
/** Puts a tensor itself in the place of a parameter or a buffer. */
function put(module: Module, path: string, value: Tensor): void {
  const at = path.lastIndexOf("."),
    owner = module.get_submodule(path.slice(0, Math.max(at, 0))) as unknown as Record<string, unknown>,
    name = path.slice(at + 1);
  if (!(owner[name] instanceof Parameter)) owner[name] = value;
  else {
    const wants = owner[name].requires_grad;
    owner[name] = value instanceof Parameter ? value.requires_grad_(wants) : new Parameter(value, wants);
  }
}

/** What is to be copied to where; throws one error for all that does not fit. */
function compared(
  module: Module,
  given: Record<string, unknown>,
  strict: boolean,
  assign: boolean,
): [[string, Tensor, Tensor][], LoadReport, Record<string, unknown>] {
  const own = module.state_dict(),
    pairs: [string, Tensor, Tensor][] = [];
  const missing = Object.keys(own).filter((k) => !Object.hasOwn(given, k)),
    unexpected = Object.keys(given).filter((k) => !Object.hasOwn(own, k));
  const wrong: string[] = [],
    list = (what: string, keys: string[]) => {
      if (strict && keys.length) wrong.push(`${what} key(s) in state_dict: ${keys.map((k) => `"${k}"`).join(", ")}. `);
    };
  list("Missing", missing);
  list("Unexpected", unexpected);
  for (const [k, target] of Object.entries(own)) {
    if (!Object.hasOwn(given, k) || !(target instanceof Tensor)) continue;
    try {
      const value = toTensor(given[k], target);
      if (sameShape(value.shape, target.shape)) pairs.push([k, assign ? target : checked(target, value), value]);
      else
        wrong.push(
          `size mismatch for ${k}: copying a param with shape ${showSize(value.shape)} from checkpoint, the shape in current model is ${showSize(target.shape)}.`,
        );
    } catch (error) {
      if (!(error instanceof OpError)) throw error;
      wrong.push(`While copying the parameter named "${k}": ${error.message}`);
    }
  }
  if (wrong.length)
    throw new OpError(`Error(s) in loading state_dict for ${classOf(module).name}:\n\t${wrong.join("\n\t")}`);
  return [pairs, new Report(missing, unexpected), own];
}

/** The target; throws what a copy to it would throw, but for what a device has to say. */
function checked(target: Tensor, value: Tensor): Tensor {
  const to = target.storage.device,
    from = value.storage.device;
  target.check("load_state_dict");
  value.check("load_state_dict");
  unrecorded(() => {
    beforeInPlace(target, "load_state_dict");
  });
  if (to !== from && from.type !== "cpu" && to.type !== "meta")
    throw new OpError(
      `load_state_dict: the value is on ${from.type}, the parameter on ${to.type}; await value.to("${to.type}") first`,
    );
  return target;
}
