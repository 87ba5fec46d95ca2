// load_state_dict: values from elsewhere into a module's parameters and buffers, all or none of them.

import { nameOf } from "../base/class-name.js";
import { copy_ } from "../views/transfer.js";
import { OpError, TypeMismatchError, describe } from "../base/errors.js";
import { unrecorded } from "../tape/grad-mode.js";
import { beforeInPlace } from "../tensor/in-place-checks.js";
import { sameShape, showSize } from "../base/shape.js";
import { clone } from "../tensor/copy.js";
import type { Tensor } from "../tensor/tensor.js";
import type { LoadArguments } from "./hooks.js";
import { entriesOf, hidden, isModule, properties } from "./members.js";
import type { Module } from "./module.js";
import { Parameter } from "./parameter.js";
import { toTensor } from "./state.js";
import { EXTRA, ownState } from "./state-dict.js";

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

/** What the load that is under way has found: the tensors by key, null for extra state; the modules that looked. */
let found: { readonly own: Map<string, Tensor | null>; readonly looked: Set<Module> } | null = null;

/** Runs a module's hooks on a state and notes which of its keys are the module's own; they are filled once all fits. */
export function loadOwn(module: Module, hasExtra: boolean, ...state: LoadArguments): void {
  const [given, prefix, , strict, missing] = state;
  if (!found) throw new OpError(`${nameOf(module)}._load_from_state_dict: only load_state_dict calls it`);
  for (const { run } of hidden.get(module)!.hooks.loading) run(module, ...state);
  found.looked.add(module);
  const own: [string, Tensor | null][] = [...ownState(module), ...(hasExtra ? [[EXTRA, null] as [string, null]] : [])];
  for (const [name, value] of own) {
    found.own.set(prefix + name, value);
    if (strict && !Object.hasOwn(given, prefix + name)) missing.push(prefix + name);
  }
}

/**
 * Copies `source` into `module`; throws, before anything is changed, for what does not fit.  `plain`: the method of
 * classes that take their state as it is.
 */
export function loadState(
  module: Module,
  source: unknown,
  strict: boolean,
  assign: boolean,
  plain: Module["_load_from_state_dict"],
): LoadReport {
  if (source === null || typeof source !== "object" || Array.isArray(source)) {
    throw new TypeMismatchError(`load_state_dict: Expected state_dict to be dict-like, got ${describe(source)}`);
  }
  const given: Record<string, unknown> = { ...(source instanceof Map ? Object.fromEntries(source) : source) },
    report = new Report([], []),
    { missing_keys: missing, unexpected_keys: unexpected } = report,
    wrong: string[] = [],
    ready: Loading[] = [];
  try {
    const [own, keysOf] = looked(module, given, wrong, ready, plain),
      pairs = compared(own, given, assign, wrong),
      hooked = [...module.modules()].some((part) => hidden.get(part)!.hooks.loaded.size > 0),
      differ = strict && [...keysOf.values()].some((one) => one.missing_keys.length + one.unexpected_keys.length > 0),
      fits = wrong.length === 0 && (hooked || !differ),
      before = fits && differ ? held(module, pairs, assign) : [];
    if (fits) {
      for (const { settle } of ready) settle();
      fill(module, pairs, assign);
    }
    const visit = (part: Module, path: string): void => {
      const extra = path ? `${path}.${EXTRA}` : EXTRA,
        keys = keysOf.get(path)!;
      missing.push(...keys.missing_keys);
      unexpected.push(...keys.unexpected_keys);
      if (fits && Object.hasOwn(given, extra) && own.has(extra)) part.set_extra_state(given[extra]);
      for (const [name, child] of entriesOf(part)) if (isModule(child)) visit(child, path ? `${path}.${name}` : name);
      for (const { run } of hidden.get(part)!.hooks.loaded)
        if (((run(part, report) as unknown) ?? null) !== null)
          throw new OpError("load_state_dict: a post hook must return nothing");
    };
    visit(module, "");
    const list = (what: string, keys: string[]) =>
      strict && keys.length ? [`${what} key(s) in state_dict: ${keys.map((k) => `"${k}"`).join(", ")}. `] : [];
    wrong.unshift(...list("Missing", missing), ...list("Unexpected", unexpected));
    if (wrong.length) {
      fill(module, before, assign);
      throw new OpError(`Error(s) in loading state_dict for ${nameOf(module)}:\n\t${wrong.join("\n\t")}`);
    }
    return report;
  } catch (error) {
    for (const { undo } of ready) undo();
    throw error;
  }
}

/**
 * Lets each module look for its own: the tensors by key, and what each misses or does not know, by its path.  What a
 * module did not look for, because its class takes the state in another way, is its own business.
 */
function looked(
  module: Module,
  given: Record<string, unknown>,
  wrong: string[],
  ready: Loading[],
  plain: Module["_load_from_state_dict"],
): [own: Map<string, Tensor | null>, keysOf: Map<string, Report>] {
  const keysOf = new Map<string, Report>(),
    now = { own: new Map<string, Tensor | null>(), looked: new Set<Module>() },
    outer = found,
    silent = new Set<string>(),
    missing = new Added("missing_keys"),
    unexpected = new Added("unexpected_keys");
  found = now;
  try {
    for (const [path, part] of module.named_modules({ remove_duplicate: false })) {
      const prefix = path && `${path}.`,
        loading = (
          part as unknown as { before_load(given: Record<string, unknown>, prefix: string): Loading | void }
        ).before_load(given, prefix);
      if (loading) ready.push(loading);
      const sees = part._load_from_state_dict !== plain || hidden.get(part)!.hooks.loading.size > 0,
        // Of the state a module sees, and changes, what is the module's.
        local = sees ? taken(given, prefix) : given;
      part._load_from_state_dict(local, prefix, {}, true, missing.all, unexpected.all, wrong);
      keysOf.set(path, new Report(missing.by(keysOf.values()), unexpected.by(keysOf.values())));
      if (sees) Object.assign(given, taken(local, prefix));
      if (!now.looked.has(part)) silent.add(path);
    }
  } finally {
    found = outer;
  }
  for (const key of Object.keys(given)) {
    if (now.own.has(key)) continue;
    let path = key;
    do path = path.slice(0, Math.max(path.lastIndexOf("."), 0));
    while (!keysOf.has(path));
    if (!silent.has(path)) keysOf.get(path)!.unexpected_keys.push(key);
  }
  return [now.own, keysOf];
}

/** What a module put into a list of all; where it took something out, what others had put there is put there by it. */
class Added {
  readonly all: string[] = [];
  private known: string[] = [];
  private readonly side: keyof LoadReport;
  constructor(side: keyof LoadReport) {
    this.side = side;
  }
  by(before: Iterable<Report>): string[] {
    const { all, known } = this,
      follows = known.every((key, i) => key === all[i]);
    if (!follows) for (const keys of before) keys[this.side].length = 0;
    this.known = [...all];
    return follows ? all.slice(known.length) : [...all];
  }
}

/** Takes what begins with `prefix` out of an object. */
function taken(from: Record<string, unknown>, prefix: string): Record<string, unknown> {
  const entries = Object.entries(from).filter(([key]) => key.startsWith(prefix));
  for (const [key] of entries) delete from[key];
  return Object.fromEntries(entries);
}

/** Copies all values, or puts them in the places of what is there. */
function fill(module: Module, pairs: readonly Pair[], assign: boolean): void {
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
}

/** What a module holds now, as what fills it. */
const held = (module: Module, pairs: readonly Pair[], assign: boolean): Pair[] =>
  pairs.map(([path, target]) => {
    const [owner, name] = ownerOf(module, path);
    return [path, target, assign ? (owner[name] as Tensor) : unrecorded(() => clone(target))];
  });

type Pair = readonly [path: string, target: Tensor, value: Tensor];

/** The module that holds what a path names, and its name there. */
function ownerOf(module: Module, path: string): [Record<string, unknown>, string] {
  const at = path.lastIndexOf(".");
  return [properties(module.get_submodule(path.slice(0, Math.max(at, 0)))), path.slice(at + 1)];
}
/** Puts a tensor itself in the place of a parameter or a buffer. */
function put(module: Module, path: string, value: Tensor): void {
  const [owner, name] = ownerOf(module, path);
  if (!(owner[name] instanceof Parameter)) owner[name] = value;
  else {
    const wants = owner[name].requires_grad;
    owner[name] = value instanceof Parameter ? value.requires_grad_(wants) : new Parameter(value, wants);
  }
}

/** What is to be copied to where; into `wrong` what does not fit. */
function compared(
  own: ReadonlyMap<string, Tensor | null>,
  given: Record<string, unknown>,
  assign: boolean,
  wrong: string[],
): Pair[] {
  const pairs: Pair[] = [];
  for (const [k, target] of own) {
    if (!Object.hasOwn(given, k) || !target) continue;
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
  return pairs;
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
