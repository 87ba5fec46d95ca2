// torch.func's functions of modules: called with other parameters, and many of them as one.

import { classOf, nameOf } from "../base/class-name.js";
import { OpError, TypeMismatchError, describe } from "../base/errors.js";
import { isOptions, taken } from "../base/named-arguments.js";
import { listOf } from "../base/argument-kinds.js";
import { capturing } from "../base/capturing.js";
import { stack } from "../functions/join.js";
import { Tensor } from "../tensor/tensor.js";
import { hidden } from "./members.js";
import type { Module } from "./module.js";
import { checkModule } from "./tree.js";

type State = Readonly<Record<string, Tensor>>;

/** Calls `f` with other tensors in the places that `state` names, which get their own back when it is over. */
export function swapped<R>(module: Module, state: State, f: () => R): R {
  const undo: (() => void)[] = [],
    back = (): void => {
      for (const step of undo.reverse()) step();
    };
  let later = false;
  try {
    for (const [path, tensor] of Object.entries(state)) {
      const at = path.lastIndexOf("."),
        within = module.get_submodule(path.slice(0, Math.max(at, 0))),
        owner = within as unknown as Record<string, unknown>,
        name = path.slice(at + 1),
        before = owner[name];
      if (!(tensor instanceof Tensor))
        throw new TypeMismatchError(`functional_call: '${path}' must be a tensor, got ${describe(tensor)}`);
      // What it holds is as before when the call is over.
      capturing?.reached(within, hidden.get(within)!);
      undo.push(() => {
        owner[name] = before;
      });
      owner[name] = tensor;
    }
    const result = f();
    if (!(result instanceof Promise)) return result;
    later = true;
    return result.finally(back) as R;
  } finally {
    if (!later) back();
  }
}

export interface FunctionalCallOptions {
  /** Whether a tensor that has several names is replaced under all of them. */
  tie_weights?: boolean;
  /** Whether every parameter and buffer must be given. */
  strict?: boolean;
}

/**
 * The module's answer with other tensors as its parameters and buffers, by path (an object, or several): those that are
 * not named stay. `args`: one argument, or a list of them; `kwargs`: an object behind them. Throws for names that it
 * has not.
 *
 * @example
 * const layer = torch.nn.Linear(2, 1), others = { weight: torch.tensor([[1, 2]]), bias: torch.tensor([10]) };
 * torch.func.functional_call(layer, others, torch.tensor([[3, 4]]))  // [[21]]
 */
export function functional_call(
  module: Module,
  parameter_and_buffer_dicts: State | readonly State[],
  args?: unknown,
  kwargs?: Readonly<Record<string, unknown>> | null,
  options?: FunctionalCallOptions,
): any;
export function functional_call(...given: unknown[]): unknown {
  // Plain objects are states here, and options those that come last with such names.
  const last = given[given.length - 1],
    named = isOptions(last) && given.length !== 2 && Object.keys(last).some((n) => OPTIONS.includes(n));
  const [module, dicts, args = [], kwargs, tie = true, strict = false] = taken(
    "functional_call module parameter_and_buffer_dicts{} args? kwargs? tie_weights? strict?",
    named || given.length === 1 ? given : [...given, {}],
  );
  checkModule(module, "functional_call");
  const states = (Array.isArray(dicts) ? dicts : [dicts]) as State[],
    wanted: Record<string, Tensor> = Object.assign({}, ...states),
    own = new Map<string, Tensor>([
      ...(module as Module).named_parameters({ remove_duplicate: false }),
      ...(module as Module).named_buffers({ remove_duplicate: false }),
    ]);
  const names = states.flatMap(Object.keys),
    twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice !== undefined)
    throw new OpError(
      `functional_call: ${twice} appears in multiple dictionaries; behavior of functional call is ambiguous`,
    );
  const extra = Object.keys(wanted).filter((name) => !own.has(name)),
    quoted = (names: string[]) => names.map((n) => `'${n}'`).join(", ");
  if (tie) {
    for (const name of Object.keys(wanted)) {
      const shared = own.get(name);
      for (const [other, tensor] of own)
        if (shared && tensor === shared && !Object.hasOwn(wanted, other)) wanted[other] = wanted[name]!;
    }
  }
  const missing = strict ? [...own.keys()].filter((name) => !Object.hasOwn(wanted, name)) : [];
  if (extra.length + missing.length) {
    const said = [
      ...(extra.length ? [`Unexpected key(s): ${quoted(extra)}.`] : []),
      ...(missing.length ? [`Missing key(s): ${quoted(missing.sort())}.`] : []),
    ];
    throw new OpError(`Error(s) in reparametrizing for ${nameOf(module)}:\n\t${said.join("\n\t")}`);
  }
  const list: unknown[] = Array.isArray(args) ? [...args] : [args];
  if (kwargs) list.push(kwargs);
  return swapped(module as Module, wanted, () => (module as Module)(...list));
}
const OPTIONS = ["args", "kwargs", "tie_weights", "strict", "parameter_and_buffer_dicts"];

/**
 * The parameters and the buffers of modules that are alike, by path, stacked: what vmap takes for an ensemble.
 *
 * @param models modules of one class, whose parameters have the same shapes
 *
 * @example
 * const [parameters] = torch.func.stack_module_state([torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)]);
 * [parameters.weight.shape, parameters.bias.shape]  // [[2, 1, 2], [2, 1]]
 */
export function stack_module_state(models: readonly Module[]): [Record<string, Tensor>, Record<string, Tensor>];
export function stack_module_state(...given: unknown[]): Record<string, Tensor>[] {
  const models = listOf<Module>(taken("stack_module_state models", given)[0], "stack_module_state", "models");
  if (models.length === 0) throw new OpError("stack_module_state: Expected at least one model, got 0.");
  for (const model of models) checkModule(model, "stack_module_state");
  if (models.some((model) => classOf(model) !== classOf(models[0]!)))
    throw new OpError("stack_module_state: Expected all models to be of the same class.");
  if (models.some((model) => model.training !== models[0]!.training))
    throw new OpError("stack_module_state: Expected all models to have the same training/eval mode.");
  return (["named_parameters", "named_buffers"] as const).map((of) => {
    const all = models.map((model) => new Map<string, Tensor>(model[of]()));
    return Object.fromEntries(
      [...all[0]!].map(([name, { requires_grad }]) => [
        name,
        stack(all.map((state) => state.get(name)!.detach())).requires_grad_(requires_grad),
      ]),
    );
  });
}
