// When a captured program stands for a call: the call's arguments, the modes, the modules it went through and the tensors
// it took from elsewhere are as they were.

import type { KeptByModule } from "../base/capturing.js";
import { isOurs, nameOf } from "../base/class-name.js";
import type { Device, Layout } from "../devices/device.js";
import { casting } from "../dispatch/casting.js";
import { isOptions } from "../base/named-arguments.js";
import { is_grad_enabled, is_inference_mode_enabled } from "../tape/grad-mode.js";
import { defaultDevice } from "../devices/device.js";
import type { Storage } from "../tensor/storage.js";
import { Tensor } from "../tensor/tensor.js";
import { type Leaf, type Value, leafIn } from "./program.js";

// --- Arguments ----------------------------------------------------------------------------------------

/** The arguments of a call: its tensors in order, and all else in a flat list that says the structure, too. */
export interface Arguments {
  readonly tensors: Tensor[];
  readonly rest: unknown[];
  /** As they were given. */
  readonly args: readonly unknown[];
}

const TENSOR = Symbol("tensor"),
  LIST = Symbol("list"),
  OBJECT = Symbol("object");

function flatten(value: unknown, into: Arguments): void {
  if (value instanceof Tensor) {
    into.rest.push(TENSOR);
    into.tensors.push(value);
  } else if (Array.isArray(value)) {
    into.rest.push(LIST, value.length);
    for (const item of value as unknown[]) flatten(item, into);
  } else if (isOptions(value)) {
    const names = Object.keys(value);
    into.rest.push(OBJECT, names.length, ...names);
    for (const name of names) flatten(value[name], into);
  } else into.rest.push(value);
}

export function argumentsOf(args: readonly unknown[]): Arguments {
  const into: Arguments = { tensors: [], rest: [], args };
  for (const arg of args) flatten(arg, into);
  return into;
}

/** The same arguments with tensors of other memory, whose elements are whatever was there; null where one has a graph. */
export function likeArguments(args: readonly unknown[]): unknown[] | null {
  const memory = new Map<Storage, Storage>(),
    tensors = new Map<Tensor, Tensor>();
  const of = (value: unknown): unknown => {
    if (value instanceof Tensor) {
      const { storage, dtype, shape, strides, offset, weak, requires_grad } = value,
        known = tensors.get(value);
      if (known) return known;
      const other = memory.get(storage) ?? storage.device.allocate(storage.dtype, storage.length, "warmup");
      memory.set(storage, other);
      const like = new Tensor(other, dtype, shape, strides, offset);
      like.weak = weak;
      tensors.set(value, like);
      return like.requires_grad_(requires_grad);
    }
    if (Array.isArray(value)) return value.map(of);
    if (!isOptions(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, of(item)]));
  };
  return argumentsOf(args).tensors.every((x) => x.is_leaf) ? args.map(of) : null;
}

/** What is asked of a tensor that is given. */
interface Given extends Layout {
  readonly device: Device;
  readonly weak: boolean;
  readonly requires_grad: boolean;
  readonly leaf: boolean;
  readonly hooks: readonly unknown[];
  /** Which tensor given before it has the same memory; -1: none.  first: where the very tensor was given first. */
  readonly shares: number;
  readonly first: number;
  /** The memory, while no other was seen here: it may be meant by itself. */
  storage: Storage | null;
  /** The elements of all its memory: that of a view is larger than the view. */
  readonly length: number;
}

export const layoutOf = ({ dtype, shape, strides, offset }: Tensor): Layout => ({ dtype, shape, strides, offset });

/** The hooks on a tensor's gradient. */
function hooksOf(x: Tensor): readonly unknown[] {
  if (!x.accumulator && !x.node && !x.base) return NONE;
  const hooks = (x.currentNode() ?? x.accumulator)?.hooks?.get(x.node ? x.outputNumber : 0) ?? NONE,
    after = x.accumulator?.after;
  return after?.size ? [...hooks, ...after] : hooks;
}
const NONE: readonly unknown[] = [];
/** A list as it is now; that of none is one list. */
const kept = (list: readonly unknown[]): readonly unknown[] => (list.length ? [...list] : NONE);

const sameLayout = (a: Layout, b: Layout): boolean =>
  a.offset === b.offset && sameList(a.shape, b.shape) && sameList(a.strides, b.strides);

const sharing = (tensors: readonly Tensor[], at: number): number => {
  for (let i = 0; i < at; i++) if (tensors[i]!.storage === tensors[at]!.storage) return i;
  return -1;
};

const sameList = (a: readonly unknown[], b: readonly unknown[]): boolean => {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
};

/** In what a tensor is not as the one given was.  `exact`: its memory counts, too. */
function difference(x: Tensor, was: Given, exact: boolean): string | null {
  if (x.dtype !== was.dtype || x.storage.device !== was.device || x.weak !== was.weak) return "the type or device";
  if (!sameList(x.shape, was.shape)) return "the shape";
  if (!sameLayout(x, was) || x.storage.length !== was.length) return "the layout";
  if (x.requires_grad !== was.requires_grad || x.is_leaf !== was.leaf) return "requires_grad";
  return exact && was.storage && was.storage !== x.storage ? "the memory" : null;
}

// --- Modules ------------------------------------------------------------------------------------------

/** What a module held when it was first called: its own properties by name, and how many hooks. */
export interface ModuleSeen {
  readonly names: readonly string[];
  readonly values: readonly unknown[];
  /** What computes a property whenever it is asked for (nn.utils.parametrize): asking may change something. */
  readonly computed: readonly (readonly [name: string, get: unknown])[];
  /** How many properties it had, if its class may ask for one that is not there yet; else -1. */
  readonly count: number;
  readonly hooks: readonly (readonly [ReadonlySet<unknown>, readonly unknown[]])[];
}

export function moduleSeen(module: object, { hooks, buffers }: KeptByModule): ModuleSeen {
  const own = Object.entries(Object.getOwnPropertyDescriptors(module)).filter(([name]) => name !== "prototype"),
    isComputed = ([name, { get }]: (typeof own)[number]): boolean => get !== undefined && !buffers.has(name),
    held = own.filter((property) => !isComputed(property)),
    computed = own.filter(isComputed).map(([name, { get }]) => [name, get] as const);
  return {
    names: held.map(([name]) => name),
    values: held.map(([, { get, value }]) => (get ? get.call(module) : (value as unknown)) as unknown),
    computed,
    count: isOurs(module) ? -1 : Object.keys(module).length,
    hooks: Object.values(hooks)
      .filter((set) => set instanceof Set)
      .map((set: Set<unknown>) => [set, [...set]] as const),
  };
}

/** The first property that is not what it was. */
function changed(module: object, { names, values, computed, hooks }: ModuleSeen): string | null {
  for (let i = 0; i < names.length; i++)
    if (!Object.is((module as Record<string, unknown>)[names[i]!], values[i])) return names[i]!;
  for (const [name, get] of computed) if (Object.getOwnPropertyDescriptor(module, name)?.get !== get) return name;
  for (const [set, before] of hooks)
    if (set.size !== before.length || !before.every((hook) => set.has(hook))) return "hooks";
  return null;
}

const called = (module: object): string => nameOf(module);

// --- All together -------------------------------------------------------------------------------------

interface Modes {
  readonly grad: boolean;
  readonly inference: boolean;
  readonly device: Device;
  readonly casts: string | undefined;
}
const modes = (): Modes => ({
  grad: is_grad_enabled(),
  inference: is_inference_mode_enabled(),
  device: defaultDevice(),
  casts: casting?.state,
});

interface TensorSeen {
  readonly tensor: Tensor;
  readonly storage: Storage;
  readonly requires_grad: boolean;
  readonly layout: Layout;
  readonly hooks: readonly unknown[];
}
interface LeafSeen {
  readonly leaf: Leaf;
  /** The gradient's memory must be laid out as this; null: there is none. */
  readonly gradient: Layout | null;
}

/** What a recorder found on the way. */
export interface Seen {
  readonly modules: ReadonlyMap<object, ModuleSeen>;
  /** Tensors from elsewhere, and their layouts when they were first seen. */
  readonly tensors: ReadonlyMap<Tensor, Layout>;
  readonly leaves: ReadonlyMap<Tensor, { readonly before: Tensor | null; readonly set: boolean }>;
  readonly values: readonly Value[];
  forms(x: Tensor): boolean;
  leaf(x: Tensor): Leaf;
}

export class Guards {
  private readonly modes: Modes;
  private readonly rest: readonly unknown[];
  readonly inputs: readonly Given[];
  private tensors: TensorSeen[] = [];
  private leaves: LeafSeen[] = [];
  private modules: (readonly [object, ModuleSeen])[] = [];
  private values: readonly Value[] = [];

  /** Taken before the function runs; `found` afterwards. */
  constructor({ tensors, rest }: Arguments) {
    this.modes = modes();
    this.rest = rest;
    this.inputs = tensors.map((x, at) => {
      const { dtype, shape, strides, offset, weak, requires_grad, storage } = x;
      return {
        device: storage.device,
        dtype,
        shape,
        strides,
        offset,
        weak,
        requires_grad,
        leaf: x.is_leaf,
        hooks: kept(hooksOf(x)),
        shares: sharing(tensors, at),
        first: tensors.indexOf(x),
        storage,
        length: storage.length,
      };
    });
  }

  found(seen: Seen, given: readonly Tensor[]): void {
    const { modules, tensors, leaves, values } = seen;
    this.modules = [...modules];
    this.values = values.filter(({ source }) => source.kind === "captured");
    this.tensors = [...tensors]
      .filter(([x]) => !given.includes(x))
      .map(([tensor, layout]) => {
        const { storage, requires_grad } = tensor;
        return { tensor, storage, requires_grad, layout, hooks: kept(hooksOf(tensor)) };
      });
    for (const [leaf, { before, set }] of leaves) {
      if (set || seen.forms(leaf)) continue;
      this.leaves.push({ leaf: seen.leaf(leaf), gradient: before && layoutOf(before) });
    }
  }

  /** Whether the tensors given have the same sizes as those of another call. */
  sameSizes({ inputs }: Guards): boolean {
    return (
      inputs.length === this.inputs.length &&
      inputs.every(
        ({ shape, strides, offset, length }, i) =>
          sameList(shape, this.inputs[i]!.shape) &&
          sameList(strides, this.inputs[i]!.strides) &&
          offset === this.inputs[i]!.offset &&
          length === this.inputs[i]!.length,
      )
    );
  }

  /** Whether gradients go the same ways as in another call: the modes are the same, and what requires gradients is. */
  tracks({ modes, inputs, tensors }: Guards): boolean {
    const { grad, inference, device, casts } = this.modes,
      outside = new Map(tensors.map(({ tensor, requires_grad }) => [tensor, requires_grad]));
    // Another tensor on the same memory, as `functional_call` puts in a parameter's place, has gradients of its own.
    const others = ({ tensor, storage, requires_grad }: TensorSeen): boolean =>
      !(requires_grad && tensor.is_leaf) &&
      tensors.every((other) => other.storage !== storage || other.requires_grad === requires_grad);
    return (
      grad === modes.grad &&
      inference === modes.inference &&
      device === modes.device &&
      casts === modes.casts &&
      this.inputs.every((x, i) => x.requires_grad === inputs[i]?.requires_grad && x.leaf === inputs[i].leaf) &&
      this.tensors.every((x) => (outside.has(x.tensor) ? outside.get(x.tensor) === x.requires_grad : others(x)))
    );
  }

  /** Lets inputs be any memory that were seen with another one. */
  meets({ inputs }: Guards): void {
    this.inputs.forEach((own, i) => {
      if (own.storage !== inputs[i]?.storage) own.storage = null;
    });
  }

  /** The first thing that is not as it was; null where all is.  `exact`: the memory of inputs, too. */
  broken({ tensors, rest }: Arguments, exact = true): string | null {
    const now = this.modes;
    if (now.grad !== is_grad_enabled() || now.inference !== is_inference_mode_enabled()) return "the grad mode";
    if (now.device !== defaultDevice()) return "the default device";
    if ((now.casts ?? "") !== (casting?.state ?? "")) return "autocast";
    if (rest.length !== this.rest.length || tensors.length !== this.inputs.length) return "the arguments' structure";
    for (let i = 0; i < rest.length; i++)
      if (!Object.is(rest[i], this.rest[i])) return `the argument ${String(this.rest[i])}`;
    for (let i = 0; i < tensors.length; i++) {
      const other = difference(tensors[i]!, this.inputs[i]!, exact);
      if (other) return `${other} of tensor ${i}`;
      if (sharing(tensors, i) !== this.inputs[i]!.shares || tensors.indexOf(tensors[i]!) !== this.inputs[i]!.first)
        return `the memory that tensor ${i} shares`;
      if (!sameList(hooksOf(tensors[i]!), this.inputs[i]!.hooks)) return `the hooks on tensor ${i}`;
    }
    for (const { tensor, storage, requires_grad, layout, hooks } of this.tensors) {
      if (tensor.storage !== storage) return "the memory of a tensor that the function uses";
      if (!sameLayout(tensor, layout)) return "the layout of a tensor that the function uses";
      if (tensor.requires_grad !== requires_grad) return "requires_grad of a tensor that the function uses";
      if (!sameList(hooksOf(tensor), hooks)) return "the hooks on a tensor that the function uses";
    }
    for (const { source } of this.values) {
      if (source.kind !== "captured") continue;
      if (source.storage.departures !== source.departures || source.storage.disposed)
        return "the memory of a tensor that the function uses";
    }
    for (const { leaf, gradient } of this.leaves) {
      const own = leafIn(leaf, tensors).ownGradient();
      if ((own === null) !== (gradient === null)) return "whether a tensor has a gradient";
      if (own && gradient && (!sameList(own.strides, gradient.strides) || own.offset !== gradient.offset))
        return "the layout of a gradient";
    }
    for (const [module, seen] of this.modules) {
      const name = changed(module, seen);
      if (name !== null) return `${name} of ${called(module)}`;
      if (seen.count >= 0 && seen.count !== Object.keys(module).length) return `the properties of ${called(module)}`;
    }
    return null;
  }

  /** What the function itself changed of a module, or of a tensor besides its elements; null where it left all. */
  disturbed({ tensors: given, rest, args }: Arguments): string | null {
    const now = argumentsOf(args);
    if (!sameList(now.rest, rest) || !sameList(now.tensors, given))
      return "it changes an object or a list of its arguments, which a replay would not";
    for (const [i, x] of given.entries()) {
      const was = this.inputs[i]!,
        { requires_grad } = x.is_leaf && was.leaf ? x : was, // of a leaf, a replay changes that (Program.marked)
        other = difference(x, { ...was, requires_grad }, true);
      if (other) return `it changes ${other} of tensor ${i} of the arguments, which a replay would not`;
    }
    if (this.tensors.some(({ tensor, layout }) => !sameLayout(tensor, layout)))
      return "it changes the layout of a tensor from outside, which a replay would not";
    for (const [module, seen] of this.modules) {
      const name = changed(module, seen);
      if (name !== null) return `it changes '${name}' of ${called(module)}, which a replay would not`;
    }
    return null;
  }
}
