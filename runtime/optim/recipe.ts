// Optimizers from recipes.  The arithmetic of a step is a definition in ops/optim.op; a recipe says which one, what is
// kept for a parameter, and which numbers a step needs that are no options.  Everything else is here and in
// optimizer.ts.

import { type Launched, capturing } from "../base/capturing.js";
import type { CompiledOp } from "../program/compiled-op.js";
import { filledOn } from "../tensor/allocate.js";
import { byShape, forEachStack, runForeach } from "../functions/foreach.js";
import { Complex } from "../elements/complex-number.js";
import { keep } from "../tensor/memory.js";
import { callable } from "../base/callable.js";
import { Tensor } from "../tensor/tensor.js";
import type { Group, Params } from "./groups.js";
import { Optimizer } from "./optimizer.js";
import { checkKernels, naming, optionsOf } from "./options.js";
import type { State } from "./state.js";

/** Numbers that are kept for a parameter; `step` counts from 1. */
export type Numbers = { step: number } & Record<string, number>;
/** An option that may be a tensor comes as a number. */
export type Plain<O> = { [K in keyof O]: O[K] extends number | Tensor ? number : O[K] };

export interface Recipe<O extends object> {
  readonly name: string;
  /** In the order of PyTorch's constructor. */
  readonly defaults: O;
  /** The first of them that comes by name alone. */
  readonly byName?: keyof O & string;
  /** Throws for options that make no sense, in PyTorch's words. */
  readonly check: (options: O) => void;
  /** The definition of a step; its tensors are the parameter, its gradient and the state, in the order of `state`. */
  readonly op: (options: Plain<O>, param: Tensor) => CompiledOp;
  /**
   * The tensors that are kept, by their names in PyTorch's state: what they hold at first, or null where these options
   * need none.
   */
  readonly state: Readonly<Record<string, (options: Plain<O>, param: Tensor) => Tensor | number | null>>;
  /** Whether the tensors of the definition have a first axis that counts parameters of one shape. */
  readonly stacks?: boolean;
  /** Numbers that are kept besides, and what they are at first. */
  readonly numbers?: (options: Plain<O>) => Record<string, number>;
  /**
   * Options of the definition that are no options of the group.  May change the kept numbers for the next step.
   * `fresh`: a tensor of
   *  the state was made just now. */
  readonly words?: (
    options: Plain<O>,
    numbers: Numbers,
    param: Tensor,
    fresh: boolean,
  ) => Record<string, number | boolean>;
}

/** By place in PyTorch's order, in an object, or both. */
export type Given<O> = readonly [options?: Partial<O> | O[keyof O], ...others: unknown[]];

/** The same after the parameters, or everything by name. */
export type Made<O> = [params: Params<O>, ...options: Given<O>] | [options: Partial<O> & { params: Params<O> }];

export interface OptimizerClass<O extends object> {
  new (...args: Made<O>): Optimizer<O>;
  (...args: Made<O>): Optimizer<O>;
}

/** Parameters that one launch of a step may change together: those with the same definition and the same numbers. */
interface Cohort extends Launched {
  readonly params: Tensor[];
  readonly states: State[];
}

function sameWords(a: Cohort["words"], b: Cohort["words"]): boolean {
  for (const name in a) if (!Object.is(a[name], b[name])) return false;
  return true;
}

/** The class that a recipe describes; it can be called with and without `new`. */
export function optimizer<O extends object>(recipe: Recipe<O>): OptimizerClass<O> {
  const kept = Object.entries(recipe.state),
    names = kept.map(([name]) => name);
  class Made extends Optimizer<O> {
    constructor(...args: unknown[]) {
      const [params, options] = optionsOf(recipe.name, "params", recipe.defaults, args, recipe.byName);
      naming(recipe.name, () => {
        checkKernels(options);
        recipe.check(options);
      });
      super(params, options);
    }

    protected override holdsNumber(key: string): boolean {
      return !names.includes(key);
    }

    protected override shapeOfState(key: string, group: Group<O>, param: Tensor): readonly number[] {
      const numbers = Object.fromEntries(
        Object.entries(group).map(([name, value]) => [name, value instanceof Tensor ? 0 : value]),
      );
      const first = Object.hasOwn(recipe.state, key) ? recipe.state[key]!(numbers as Plain<O>, param) : null;
      return first instanceof Tensor ? first.shape : param.shape;
    }

    protected override get fed(): boolean {
      return true;
    }

    protected override update(group: Group<O>): void {
      const options = group as unknown as Plain<O>,
        moved = group.params.filter((param) => param.ownGradient());
      const cohorts = this.cohorts(options, moved, (param) => {
        let state = this.state.get(param);
        if (!state) this.state.set(param, (state = {}));
        return [state, complete(state, recipe, kept, options, param)];
      });
      const place = this.param_groups.indexOf(group),
        step =
          capturing?.launching(recipe.name, {
            state: this.state,
            moved,
            before: cohorts,
            group: () => this.param_groups[place],
            isComplete: (param, own) => isComplete(this.state.get(param), kept, own as Plain<O>, param),
            cohorts: (own, stateOf) =>
              this.cohorts(own as Plain<O>, moved, (param) => [stateOf(param) as State, false]),
            numbersOf,
          }) ?? -1;
      cohorts.forEach((cohort, i) => {
        capturing?.feed(step, i);
        launch(recipe.stacks ? sorted(cohort) : cohort, names, group, this, recipe.stacks);
      });
      capturing?.feed(-1, 0);
    }

    /** Counts a step of the parameters, and groups them.  `stateOf`: with whether a tensor of it was made just now. */
    private cohorts(
      options: Plain<O>,
      params: readonly Tensor[],
      stateOf: (param: Tensor) => [State, boolean],
    ): Cohort[] {
      const cohorts: Cohort[] = [];
      for (const param of params) {
        const [state, fresh] = stateOf(param);
        (state as Numbers).step++;
        const op = recipe.op(options, param),
          words = recipe.words?.(options, state as Numbers, param, fresh) ?? {};
        const cohort = cohorts.find((known) => known.op === op && sameWords(known.words, words));
        if (!cohort) cohorts.push({ op, words, params: [param], states: [state] });
        else {
          cohort.params.push(param);
          cohort.states.push(state);
        }
      }
      return cohorts;
    }
  }
  return callable(
    Made,
    recipe.name,
    "holdsNumber !, shapeOfState !, update !, cohorts !",
  ) as unknown as OptimizerClass<O>;
}

/**
 * Makes what the options want kept and the state has not: at the first step, or when an option was turned on since.
 * Whether a tensor was.
 */
function complete<O extends object>(
  state: State,
  recipe: Recipe<O>,
  kept: readonly [string, Recipe<O>["state"][string]][],
  options: Plain<O>,
  param: Tensor,
): boolean {
  if (state["step"] === undefined) Object.assign(state, { step: 0, ...recipe.numbers?.(options) }, { ...state });
  let made = false;
  for (const [name, first] of kept) {
    if (state[name] !== undefined && state[name] !== null) continue;
    const value = first(options, param);
    if (value === null) continue;
    state[name] = keep(
      value instanceof Tensor ? value : filledOn(param.storage.device, param.shape, value, param.dtype, name),
    );
    made = true;
  }
  return made;
}

/** Whether nothing that the options want kept is missing. */
function isComplete<O extends object>(
  state: State | undefined,
  kept: readonly [string, Recipe<O>["state"][string]][],
  options: Plain<O>,
  param: Tensor,
): boolean {
  return (
    state !== undefined &&
    kept.every(([name, first]) => (state[name] !== undefined && state[name] !== null) || first(options, param) === null)
  );
}

/** What is kept for a parameter at first where that is not 0: both parts of complex numbers are `value`. */
export const bothParts = (param: Tensor, value: number): Tensor | number =>
  param.dtype === "complex64"
    ? filledOn(param.storage.device, param.shape, new Complex(value, value), "complex64", "step")
    : value;

/** The options of a launch that are no tensors. */
function numbersOf({ op: { op }, words }: Launched, options: Record<string, unknown>): Record<string, unknown> {
  const given: Record<string, unknown> = {};
  for (const { name, slot } of op.params) if (slot < 0) given[name] = words[name] ?? options[name];
  return given;
}

/** Parameters of one shape one after another. */
function sorted({ params, states, ...cohort }: Cohort): Cohort {
  const order = params.map((_, i) => i).sort((a, b) => byShape(params[a]!, params[b]!));
  return { ...cohort, params: order.map((i) => params[i]!), states: order.map((i) => states[i]!) };
}

function launch(
  cohort: Cohort,
  names: readonly string[],
  options: Record<string, unknown>,
  owner: object,
  stacks = false,
): void {
  const { op, params, states } = cohort,
    { params: takes } = op.op,
    given = numbersOf(cohort, options);
  // The tensors of the state go by name; one that has no name in the language (`sum`) goes by position.
  const kept = takes
    .filter(({ slot }) => slot >= 0)
    .slice(2)
    .map(({ name }, i) => {
      const key = names.includes(name) ? name : names[i]!;
      return states[0]![key] ? states.map((state) => state[key] as Tensor) : null;
    });
  const lists = [params, params.map((p) => p.ownGradient()!), ...kept],
    present = lists.flatMap((list) => (list ? [list] : []));
  if (params.length > 1 && !capturing && (stacks || op.op.elementwise))
    params[0]!.storage.device.collect?.(owner, present);
  if (!stacks) return runForeach(op, [...lists, given]);
  forEachStack(
    present,
    present.filter((_, role) => role !== 1),
    (tensors) => {
      runForeach(op, [...tensors.map((x) => [x]), given]);
    },
  );
}
