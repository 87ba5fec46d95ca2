// torch.nn.utils.parametrize: a parameter or buffer that is computed from another each time it is asked for.

import { classOf, nameOf } from "../../base/class-name.js";
import { OpError, TypeMismatchError, describe } from "../../base/errors.js";
import { callable } from "../../base/argument-kinds.js";
import { callable as callableClass } from "../../base/callable.js";
import { taken } from "../../base/named-arguments.js";
import { sameShape, showShape } from "../../base/shape.js";
import { unrecorded } from "../../tape/grad-mode.js";
import { tensorsOf } from "../../tensor/tensor-arguments.js";
import { Tensor } from "../../tensor/tensor.js";
import { copy_ } from "../../views/transfer.js";
import { ModuleDict, ModuleList } from "../containers.js";
import type { Module } from "../module.js";
import { checkModule } from "../tree.js";
import { forget } from "../members.js";
import { Parameter } from "../parameter.js";

/** What computes a tensor of one or several originals; `right_inverse` finds originals for a tensor. */
export interface Parametrization extends Module {
  forward(...originals: Tensor[]): Tensor;
  right_inverse?(value: Tensor): Tensor | readonly Tensor[];
}
const own = (module: Module) => module as unknown as Record<string, unknown>;
let cache: Map<Module, Tensor> | null = null;

class ParametrizationListClass extends ModuleList {
  /** How many originals there are; 0: one, which is called so. */
  declare private several: number;

  constructor(modules: Iterable<Parametrization>, original: Tensor) {
    super(modules);
    const value = unrecorded(() => this.inverse(original.detach(), false)),
      list =
        value instanceof Tensor ? [value] : tensorsOf(value, "register_parametrization", "what right_inverse answers");
    Object.defineProperty(this, "several", { value: value instanceof Tensor ? 0 : list.length });
    list.forEach((x, i) => {
      const name = value instanceof Tensor ? "original" : `original${i}`;
      if (original instanceof Parameter) this.register_parameter(name, new Parameter(x, original.requires_grad));
      else this.register_buffer(name, x);
    });
  }
  private inverse(value: Tensor, must: boolean): Tensor | readonly Tensor[] {
    let out: Tensor | readonly Tensor[] = value;
    for (const module of [...this].reverse() as Parametrization[]) {
      if (module.right_inverse) out = module.right_inverse(out as Tensor);
      else if (must) throw new OpError(`parametrization ${nameOf(module)} does not implement right_inverse.`);
    }
    return out;
  }
  /** Changes the originals so that the tensor is this one. */
  right_inverse(value: Tensor): void {
    unrecorded(() => {
      const found = this.inverse(value, true);
      (found instanceof Tensor ? [found] : found).forEach((x, i) => copy_(this.originals()[i]!, x));
    });
  }
  get isSequence(): boolean {
    return this.several > 0;
  }
  /** Lets an original that is alone be the tensor that the module had, which optimizers may have. */
  keep(before: Tensor): void {
    if (this.several) return;
    const { original } = own(this) as { original: Tensor };
    before.set_data(original.detach());
    if (before instanceof Parameter) own(this)["original"] = before;
    else this.register_buffer("original", before);
  }
  originals(): Tensor[] {
    return this.several
      ? Array.from({ length: this.several }, (_, i) => own(this)[`original${i}`] as Tensor)
      : [own(this)["original"] as Tensor];
  }
  override forward(): Tensor {
    const known = cache?.get(this);
    if (known) return known;
    const [first, ...rest] = [...this] as Parametrization[],
      out = rest.reduce((x, module) => module(x), first!(...this.originals()));
    cache?.set(this, out);
    return out;
  }
}
/**
 * The parametrizations of one tensor, in the order in which they are applied.
 *
 * @param modules what is applied, one after another
 * @param original the tensor that they compute from
 *
 * @example
 * class Square extends torch.nn.Module { forward(x) { return x.square(); } }
 * const layer = torch.nn.Linear(2, 1);
 * torch.nn.utils.parametrize.register_parametrization(layer, "weight", new Square());
 * layer.parametrizations.weight.length  // 1
 */
export const ParametrizationList = /* @__PURE__ */ callableClass(
  ParametrizationListClass,
  "ParametrizationList",
  "constructor modules original unsafe?, inverse !, keep !, right_inverse value",
);
export type ParametrizationList = ParametrizationListClass;

const listsOf = (module: Module): ModuleDict<ParametrizationList> | undefined => {
  const lists = own(module)["parametrizations"];
  return lists instanceof ModuleDict ? (lists as ModuleDict<ParametrizationList>) : undefined;
};

/**
 * Whether a tensor of the module, or any, is computed from another.
 *
 * @param module any module
 * @param tensor_name which tensor; null: any
 *
 * @example
 * const layer = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(2, 1));
 * torch.nn.utils.parametrize.is_parametrized(layer, "weight")  // true
 */
export function is_parametrized(module: Module, tensor_name?: string | null): boolean {
  [module, tensor_name] = taken("is_parametrized module tensor_name?", arguments);
  const lists = listsOf(checkModule(module, "is_parametrized"));
  return lists !== undefined && (tensor_name == null ? lists.size > 0 : lists.has(tensor_name));
}

/**
 * Lets `module[tensor_name]` be what `parametrization` makes of its original, which is trained in its place:
 * `parametrizations.NAME.original`. Answers the module. Throws where the shape or type would be another, but with
 * `unsafe`.
 *
 * @param module the module that has the tensor
 * @param tensor_name the parameter's or buffer's name
 * @param parametrization the module that computes the tensor from its original
 * @param unsafe true or false: whether a tensor of another shape or type may come out
 *
 * @example
 * class Positive extends torch.nn.Module { forward(x) { return x.abs(); } }
 * const layer = torch.nn.Linear(2, 1);
 * torch.nn.utils.parametrize.register_parametrization(layer, "weight", new Positive());
 * layer.weight.ge(0).all()  // true
 */
export function register_parametrization<M extends Module>(
  module: M,
  tensor_name: string,
  parametrization: Module,
  options?: boolean | { unsafe?: boolean },
): M;
export function register_parametrization(...args: unknown[]): Module {
  const [module, name, parametrization, unsafe = false] = taken(
      "register_parametrization module tensor_name parametrization unsafe?",
      args,
    ) as [Module, string, Parametrization, boolean?],
    op = "register_parametrization";
  checkModule(module, op);
  checkModule(parametrization, op);
  parametrization.train(module.training);
  const before = own(module)[name];
  if (!(before instanceof Tensor))
    throw new OpError(
      `Module '${nameOf(module)}' does not have a parameter, a buffer, or a parametrized element with name '${name}'`,
    );
  const known = is_parametrized(module, name),
    list = known ? listsOf(module)!.get(name)! : new ParametrizationList([parametrization], before);
  if (known) list.append(parametrization);
  const after = unrecorded(() => list());
  if (!(after instanceof Tensor)) {
    if (known) list.pop();
    throw new TypeMismatchError(`${op}: A parametrization must return a tensor. Got ${describe(after)}.`);
  }
  if (!unsafe && !(sameShape(after.shape, before.shape) && after.dtype === before.dtype)) {
    if (known) list.pop();
    throw new OpError(
      `Registering a parametrization may not change the shape or the dtype of the tensor, unless the \`unsafe\` flag is enabled.\n` +
        `Unparametrized: ${showShape(before.shape)} ${before.dtype}\nParametrized: ${showShape(after.shape)} ${after.dtype}`,
    );
  }
  if (known) return module;
  list.keep(before);
  forget(module, name);
  if (!listsOf(module)) module.add_module("parametrizations", ModuleDict());
  listsOf(module)!.set(name, list);
  // Of `this`, so that copies of the module have their own.
  Object.defineProperty(module, name, {
    get(this: Module) {
      return listsOf(this)!.get(name)!();
    },
    set(this: Module, value: Tensor) {
      listsOf(this)!.get(name)!.right_inverse(value);
    },
    enumerable: false,
    configurable: true,
  });
  return module;
}

/**
 * Makes the tensor one of the module's own again: what it is now, or with `leave_parametrized` false its original.
 *
 * @param module the module that has the tensor
 * @param tensor_name its name
 * @param leave_parametrized whether it stays what it is now, or becomes its original
 *
 * @example
 * const layer = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(2, 1));
 * torch.nn.utils.parametrize.remove_parametrizations(layer, "weight");
 * [...layer.named_parameters()].map(([name]) => name)  // ["bias", "weight"]
 */
export function remove_parametrizations<M extends Module>(
  module: M,
  tensor_name: string,
  leave_parametrized?: boolean | { leave_parametrized?: boolean },
): M;
export function remove_parametrizations(...args: unknown[]): Module {
  const [module, name, leave = true] = taken(
    "remove_parametrizations module tensor_name leave_parametrized?",
    args,
  ) as [Module, string, boolean?];
  if (!is_parametrized(module, name))
    throw new OpError(`Module ${nameOf(module)} does not have a parametrization on ${name}`);
  const list = listsOf(module)!.get(name)!,
    originals = list.originals(),
    [original] = originals as [Tensor];
  if (!leave && originals.length > 1)
    throw new OpError(
      "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a sequence of tensors.",
    );
  // An original that is alone is what optimizers have, and stays that.
  const alone = originals.length === 1 && !list.isSequence,
    value = leave ? unrecorded(() => list().detach()) : original,
    trained = originals.some((x) => x.requires_grad);
  if (alone && leave) original.set_data(value);
  forget(module, name);
  listsOf(module)!.pop(name);
  if (listsOf(module)!.size === 0) forget(module, "parametrizations");
  if (original instanceof Parameter && (alone || trained))
    module.register_parameter(name, alone ? original : new Parameter(value));
  else module.register_buffer(name, alone ? original : value);
  return module;
}

/**
 * Gives `to_module` the parametrizations of `from_module`, of one tensor or of all, and their originals; a parameter that
 * it lacks is made. Answers `to_module`.
 *
 * @param from_module the module that has them
 * @param to_module the module that gets them
 * @param tensor_name which tensor; null: all
 *
 * @example
 * const from = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(2, 1)), to = torch.nn.Linear(2, 1);
 * torch.nn.utils.parametrize.transfer_parametrizations_and_params(from, to);
 * torch.equal(from.weight, to.weight)  // true
 */
export function transfer_parametrizations_and_params<M extends Module>(
  from_module: Module,
  to_module: M,
  tensor_name?: string | null,
): M;
export function transfer_parametrizations_and_params(...args: unknown[]): Module {
  const op = "transfer_parametrizations_and_params",
    [from, to, name] = taken(`${op} from_module to_module tensor_name?`, args) as [Module, Module, string?];
  checkModule(from, op);
  checkModule(to, op);
  const lists = listsOf(from),
    names = lists ? (name === undefined || name === null ? lists.keys() : [name]) : [];
  for (const key of names) {
    const list = lists!.get(key);
    if (!list) throw new OpError(`${op}: Module ${nameOf(from)} does not have a parametrization on ${key}`);
    if (!(key in to)) to.register_parameter(key, new Parameter(unrecorded(() => list().detach())));
    for (const parametrization of list) register_parametrization(to, key, parametrization);
    const made = listsOf(to)!.get(key)!;
    for (const [part, original] of list.named_parameters("", false)) made.register_parameter(part, original);
    for (const [part, original] of list.named_buffers("", false)) made.register_buffer(part, original);
  }
  return to;
}

/**
 * While `body` runs, each such tensor is computed once: `with parametrize.cached()` in Python.
 *
 * @param body what runs meanwhile; its answer is answered
 *
 * @example
 * const layer = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(2, 1));
 * torch.nn.utils.parametrize.cached(() => layer.weight === layer.weight)  // true
 */
export function cached<T>(body: () => T): T {
  [body] = taken("cached body", arguments);
  callable(body, "cached", "body");
  const before = cache;
  let result: unknown;
  cache ??= new Map();
  const back = (): void => {
    cache = before;
  };
  try {
    result = body();
  } finally {
    if (!(result instanceof Promise)) back();
  }
  return (result instanceof Promise ? result.finally(back) : result) as T;
}

/**
 * The class that the module was made of.
 *
 * @param module any module
 *
 * @example
 * const layer = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(2, 1));
 * torch.nn.utils.parametrize.type_before_parametrizations(layer).name  // "Linear"
 */
export function type_before_parametrizations(module: Module): unknown {
  [module] = taken("type_before_parametrizations module", arguments);
  return classOf(checkModule(module, "type_before_parametrizations"));
}
