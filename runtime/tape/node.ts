// Nodes of the tape: what an operation leaves behind so that gradients can flow back through it, and saved tensors.
// The order in which nodes run is autograd/engine.ts.  Of tensors only the type is imported: other modules extend these
// classes when they are loaded.

import { capturing } from "../base/capturing.js";
import { titled } from "../base/class-name.js";
import type { Bound } from "../../host/model.js";
import { differentiable } from "../elements/dtype.js";
import { AutogradError } from "../base/errors.js";
import { isRecording } from "./grad-mode.js";
import { showShape } from "../base/shape.js";
import type { Kept } from "../tensor/storage.js";
import type { Tensor } from "../tensor/tensor.js";

export type Grad = Tensor | null;
export type Hook = (grad: Tensor) => Tensor | null | undefined | void;

let sequence = 0;

/** Who looks on while nodes are made and run: tools/anomaly.ts. */
export interface NodeWatcher {
  /** Where a node is made. */
  whereabouts(): string | null;
  /** What a node has just made. */
  inspect(node: Node, grads: readonly Grad[]): void;
}

export let watcher: NodeWatcher | null = null;

export function watchNodes(by: NodeWatcher | null): void {
  watcher = by;
}

/**
 * A step of the graph of gradients.
 *
 * @example
 * const x = torch.tensor([1], { requires_grad: true });
 * const node = x.mul(2).exp().grad_fn;
 * [node.name(), node.next_functions[0][0].name()]  // ["ExpBackward0", "MulBackward0"]
 */
export abstract class Node {
  abstract readonly label: string;
  /** Where the gradient of each differentiable input goes: a node and which of its outputs the input is. */
  readonly next: (Node | null)[] = [];
  readonly nextOutput: number[] = [];
  readonly sequence = sequence++;
  /** Where it was made, for messages; only while anomalies are looked for. */
  readonly made = watcher?.whereabouts() ?? null;
  /** Hooks on the gradient of each output, and tensors that keep it. */
  hooks: Map<number, Hook[]> | null = null;
  retained: Map<number, WeakRef<Tensor>> | null = null;

  /** From the gradients of the outputs to those of the inputs; `wanted[i]` says whether anyone asks for the i-th. */
  abstract apply(grads: readonly Grad[], wanted: readonly boolean[]): Grad[];

  /** Frees what was saved. */
  release(): void {}

  /** Whether `apply` may leave the gradients it was given in tensors that outlive it. */
  get keepsGradients(): boolean {
    return false;
  }

  link(input: Tensor): void {
    const edge = gradientEdge(input);
    this.next.push(edge);
    this.nextOutput.push(edge && input.node ? input.outputNumber : 0);
  }

  addHook(output: number, hook: Hook): () => void {
    const hooks = (this.hooks ??= new Map<number, Hook[]>());
    const list = hooks.get(output) ?? [];
    list.push(hook);
    hooks.set(output, list);
    return () => {
      const at = list.indexOf(hook);
      if (at >= 0) list.splice(at, 1);
      if (list.length === 0 && hooks.get(output) === list) hooks.delete(output); // what is captured may have none
    };
  }

  /** What it is the way back of: "MulBackward0". */
  name(): string {
    return this.label;
  }
  toString(): string {
    return `<${this.label}>`;
  }
}
titled(Node, "Node");

/**
 * Calls a hook with a gradient, or with a leaf that has its gradient.  One that answers nothing and changes nothing may
 * keep what it sees, which a captured program would not do; one that scales a gradient in place, or takes an optimizer's step,
 * is captured with what it does.
 */
export function callHook<T>(hook: (x: T) => unknown, x: T): unknown {
  const changes = capturing?.changes,
    answer = hook(x);
  if ((answer ?? null) === null && capturing?.changes === changes) capturing?.sideEffect();
  return answer;
}

/** The end of the tape at a leaf: adds to its `.grad`. */
export class AccumulateGrad extends Node {
  readonly label = "AccumulateGrad";
  readonly variable: Tensor;
  /**
   * Where an optimizer wants the gradient: an empty tensor for one laid out like this, null while there is none.  See
   * devices/webgpu/buckets.ts.
   */
  declare room?: (like: Bound, op: string) => Grad;
  /** Hooks on the leaf once its gradient is there: Tensor.register_post_accumulate_grad_hook. */
  declare after?: Set<(leaf: Tensor) => void>;

  constructor(variable: Tensor) {
    super();
    this.variable = variable;
  }

  override get keepsGradients(): boolean {
    return true;
  }

  apply([grad]: readonly Grad[]): Grad[] {
    if (grad) this.variable.receive(grad);
    return [];
  }
}

/** A node whose way back is a function: views, copies, and other things the runtime does itself. */
export class FunctionNode extends Node {
  readonly label: string;
  private readonly back: (grad: Tensor) => Grad;

  constructor(name: string, input: Tensor, back: (grad: Tensor) => Grad) {
    super();
    this.label = name;
    this.back = back;
    this.link(input);
  }

  apply([grad]: readonly Grad[], [wanted]: readonly boolean[]): Grad[] {
    return [grad && wanted ? this.back(grad) : null];
  }
}

/** A node with several inputs, linked by whoever makes it. */
export class JoinNode extends Node {
  readonly label: string;
  private readonly back: (grads: readonly Grad[], wanted: readonly boolean[]) => Grad[];

  constructor(
    name: string,
    inputs: readonly Tensor[],
    back: (grads: readonly Grad[], wanted: readonly boolean[]) => Grad[],
  ) {
    super();
    this.label = name;
    this.back = back;
    for (const input of inputs) this.link(input);
  }

  apply(grads: readonly Grad[], wanted: readonly boolean[]): Grad[] {
    return this.back(grads, wanted);
  }
}

/** Where the gradient of a tensor goes; null if it needs none. */
export function gradientEdge(tensor: Tensor): Node | null {
  const node = tensor.currentNode();
  if (node) return node;
  return tensor.requires_grad ? (tensor.accumulator ??= new AccumulateGrad(tensor)) : null;
}

/** Whether an operation on these tensors is to be recorded. */
export function recording(...inputs: readonly Tensor[]): boolean {
  capturing?.uses(inputs);
  if (!isRecording()) return false;
  for (const input of inputs) if (input.requires_grad) return true;
  return false;
}

/** Makes a tensor the output of a node; a tensor that keeps its gradient keeps the one of what it is from now on. */
export function attach<T extends Tensor>(output: T, node: Node, number = 0): T {
  const kept = output.node?.retained,
    reference = kept?.get(output.outputNumber);
  if (reference?.deref() === output) {
    kept!.delete(output.outputNumber);
    (node.retained ??= new Map()).set(number, reference);
  }
  output.node = node;
  output.outputNumber = number;
  return output;
}

/** Where tensors that nodes save are put, and how they come back: autograd/graph.ts. */
export interface SavedHooks {
  pack(tensor: Tensor): unknown;
  unpack(packed: unknown): Tensor;
}

let savedHooks: SavedHooks | null = null;

/** From now on saved tensors go through these; answers those before. */
export function useSavedHooks(hooks: SavedHooks | null): SavedHooks | null {
  const before = savedHooks;
  savedHooks = hooks;
  return before;
}

/** Whether what is saved may be changed in place: what it was is kept then. */
let keeping = false;
/** Sets that; answers what it was. */
export function keepSaved(all: boolean): boolean {
  const before = keeping;
  keeping = all;
  return before;
}

/** A tensor that a node needs again on the way back, with the version it had. */
export class Saved {
  private tensor: Tensor | null;
  private version: number;
  private readonly kept: Kept | null;
  private readonly owner: Node;
  private readonly output: number;
  /** The tensor itself, which may come to require a gradient after it was saved: derivatives of gradients see that. */
  private leaf: Tensor | null = null;
  /** What brings the tensor back where hooks have put it away. */
  private unpacked: (() => Tensor) | null = null;

  /**
   * `output`: which output of `owner` the tensor is; -1 for an input.  `held`: whether changing it in place is an
   * error: else what it was is kept.
   */
  constructor(tensor: Tensor, owner: Node, output = -1, held = true) {
    if (tensor.storage.inference && !tensor.weak) {
      throw new AutogradError(
        `${owner.label}: Inference tensors cannot be saved for backward. Please do not use Tensors created in inference ` +
          "mode in computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and " +
          "use it in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`.",
      );
    }
    this.owner = owner;
    this.output = output;
    this.version = tensor.storage.version;
    // A number is nobody's memory: it is neither changed nor freed.
    if (tensor.weak) {
      this.tensor = tensor;
      this.kept = null;
      return;
    }
    this.kept = held && !keeping ? null : (tensor.storage.kept ??= { holders: 0, aside: null });
    if (this.kept) this.kept.holders++;
    const copy = tensor.alias();
    if (output < 0) {
      copy.node = tensor.currentNode();
      copy.outputNumber = tensor.outputNumber;
      if (!copy.node && tensor.requires_grad) {
        copy.leafRequiresGrad = true;
        copy.accumulator = gradientEdge(tensor) as AccumulateGrad;
      } else if (!copy.node) this.leaf = tensor;
    }
    this.tensor = copy;
    if (savedHooks) this.pack(copy, savedHooks);
  }

  /** Hands the tensor to hooks, and keeps of it only its place on the tape. */
  private pack(copy: Tensor, { pack, unpack }: SavedHooks): void {
    const { node, outputNumber, leafRequiresGrad, accumulator } = copy,
      packed = pack(copy);
    this.unpacked = () => {
      const back = unpack(packed).detach();
      this.version = back.storage.version;
      return Object.assign(back, { node, outputNumber, leafRequiresGrad, accumulator });
    };
    if (this.kept) this.kept.holders--;
    this.tensor = null;
  }

  get(): Tensor {
    const tensor = this.tensor ?? this.unpacked?.();
    if (!tensor) {
      throw new AutogradError(
        `${this.owner.label}: Trying to backward through the graph a second time (or directly access saved tensors after ` +
          "they have already been freed). Saved intermediate values of the graph are freed when you call .backward() or " +
          "autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or if you " +
          "need to access saved tensors after calling backward.",
      );
    }
    const aside = this.tensor && this.kept?.aside;
    if (aside && tensor.storage !== aside) {
      aside.retain();
      tensor.storage.release();
      tensor.storage = aside;
      this.version = aside.version;
    }
    const now = tensor.storage.version;
    if (now !== this.version && !(this.kept && tensor.storage.length === 0)) {
      throw new AutogradError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: " +
          `[torch.${tensor.dtype} ${showShape(tensor.shape)}], which is ` +
          (this.output >= 0 ? `output ${this.output} of ${this.owner.label}` : `an input of ${this.owner.label}`) +
          `, is at version ${now}; expected version ${this.version} instead.`,
      );
    }
    if (this.output >= 0 && differentiable(tensor.dtype)) attach(tensor, this.owner, this.output);
    if (this.leaf?.leafRequiresGrad && !this.leaf.node) {
      tensor.leafRequiresGrad = true;
      tensor.accumulator = gradientEdge(this.leaf) as AccumulateGrad;
    }
    return tensor;
  }

  release(): void {
    this.unpacked = null;
    if (!this.tensor || this.tensor.weak) return;
    if (this.kept && --this.kept.holders === 0) this.kept.aside?.release();
    this.tensor.dispose();
    this.tensor = this.leaf = null;
  }
}
