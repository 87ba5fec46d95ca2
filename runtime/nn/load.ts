// load_state_dict: values from elsewhere into a module's parameters and buffers, all or none of them.

import * as copying from "../copy.js";
import { OpError } from "../errors.js";
import { no_grad } from "../grad-mode.js";
import { sameShape } from "../shape.js";
import type { Tensor } from "../tensor.js";
import type { Module } from "./module.js";
import { type StateSource, toTensor } from "./state.js";

/** Which of the module's names were not given, and which of the given ones it does not have. */
export interface LoadReport {
  missing_keys: string[];
  unexpected_keys: string[];
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

const size = (shape: readonly number[]): string => `torch.Size([${shape.join(", ")}])`;

/** Copies `source` into `module`; throws, before anything is copied, for what does not fit. */
export function loadState(module: Module, source: StateSource, strict: boolean): LoadReport {
  const given: Record<string, unknown> = { ...(source instanceof Map ? Object.fromEntries(source) : source) };
  for (const [path, part] of module.named_modules()) {
    (part as unknown as { before_load(given: Record<string, unknown>, prefix: string): void }).before_load(given, path && `${path}.`);
  }
  const own = module.state_dict();
  const missing = Object.keys(own).filter((k) => !(k in given)), unexpected = Object.keys(given).filter((k) => !(k in own));
  const wrong: string[] = [], quoted = (keys: string[]) => keys.map((k) => `"${k}"`).join(", ");
  if (strict && missing.length) wrong.push(`Missing key(s) in state_dict: ${quoted(missing)}. `);
  if (strict && unexpected.length) wrong.push(`Unexpected key(s) in state_dict: ${quoted(unexpected)}. `);
  const pairs: [Tensor, Tensor][] = Object.entries(own).filter(([k]) => k in given).map(([k, target]) => {
    const value = toTensor(given[k], target);
    if (!sameShape(value.shape, target.shape)) {
      wrong.push(`size mismatch for ${k}: copying a param with shape ${size(value.shape)} from checkpoint, the shape in current model is ${size(target.shape)}.`);
    }
    return [target, value];
  });
  if (wrong.length) throw new OpError(`Error(s) in loading state_dict for ${module.constructor.name}:\n\t${wrong.join("\n\t")}`);
  no_grad(() => { for (const [target, value] of pairs) copying.copy_(target, value); });
  return new Report(missing, unexpected);
}
