// What recurrent networks share: weights of layers and directions, steps over packed or padded sequences.
import { Function as AutogradFunction, type FunctionContext } from "../../autograd/custom-function.js";
import { casting } from "../../dispatch/casting.js";
import { zeros } from "../../creation/create.js";
import { nameOf } from "../../base/class-name.js";
import { OpError, TypeMismatchError, describe } from "../../base/errors.js";
import { cat, stack } from "../../functions/join.js";
import { Tensor } from "../../tensor/tensor.js";
import { sliceAxis } from "../../views/views.js";
import { split, unbind } from "../../views/splitting.js";
import * as F from "../../../names/functional.js";
import { index_select } from "../../../names/torch.js";
import * as views from "../../views/views.js";
import { uniform_ } from "../init.js";
import { Module } from "../module.js";
import { parameter, size, type Factory } from "../options.js";
import { PackedSequence } from "../utils/packed.js";
import type { Parameter } from "../parameter.js";
import { flag, float } from "../shown.js";

/** The slices along the first axis, or pieces of these sizes; gradients come back in one piece. */
class Steps extends AutogradFunction {
  static override forward(context: FunctionContext, x: Tensor, sizes: readonly number[] | null): Tensor[] {
    context.packed = sizes !== null;
    return sizes ? split(x, sizes, 0) : unbind(x, 0);
  }
  static override backward(context: FunctionContext, ...grads: Tensor[]): [Tensor, null] {
    return [context.packed ? cat(grads) : stack(grads), null];
  }
}

export interface RecurrentOptions extends Factory {
  /** How many layers there are, each over the outputs of the one before. */
  num_layers?: number;
  /** Whether learned vectors are added. */
  bias?: boolean;
  /** Whether sequences are (batch, time, features) and not (time, batch, features). */
  batch_first?: boolean;
  /** The part of each layer's output but the last that is set to 0 in training, from 0 to 1. */
  dropout?: number;
  /** Whether a second network goes from the end to the beginning; outputs hold both. */
  bidirectional?: boolean;
}

export type Sizes = {
  /** How many features each input has. */
  input_size: number;
  /** How many numbers a state has. */
  hidden_size: number;
};

export interface Settings extends Sizes, Required<RecurrentOptions> {
  proj_size: number;
}

export type State = Tensor[];

/** One direction of one layer: the weights of its two products, and of a projection if it has one. */
interface Weights {
  input: Parameter;
  hidden: Parameter;
  inputBias: Parameter | null;
  hiddenBias: Parameter | null;
  projection: Parameter | null;
}

export abstract class RecurrentModule extends Module {
  readonly input_size: number;
  readonly hidden_size: number;
  readonly num_layers: number;
  readonly bias: boolean;
  readonly batch_first: boolean;
  readonly dropout: number;
  readonly bidirectional: boolean;
  readonly proj_size: number;

  protected constructor(o: Settings, gates: number) {
    super();
    for (const key of ["input_size", "hidden_size", "num_layers"] as const) {
      if (typeof o[key] !== "number" || !Number.isInteger(o[key]))
        throw new TypeMismatchError(`${key} should be of type int, got: ${describe(o[key])}`);
      if (o[key] <= 0) throw new OpError(`${key} must be greater than zero`);
    }
    for (const key of ["bias", "batch_first"] as const) {
      if (typeof o[key] !== "boolean")
        throw new TypeMismatchError(`${key} should be of type bool, got: ${describe(o[key])}`);
    }
    if (!(o.dropout >= 0 && o.dropout <= 1))
      throw new OpError(
        "dropout should be a number in range [0, 1] representing the probability of an element being zeroed",
      );
    if (o.proj_size < 0) throw new OpError("proj_size should be a positive integer or zero to disable projections");
    if (o.proj_size >= o.hidden_size) throw new OpError("proj_size has to be smaller than hidden_size");
    this.input_size = o.input_size;
    this.hidden_size = o.hidden_size;
    this.num_layers = o.num_layers;
    this.bias = o.bias;
    this.batch_first = o.batch_first;
    this.dropout = o.dropout;
    this.bidirectional = o.bidirectional;
    this.proj_size = o.proj_size;
    for (let layer = 0; layer < o.num_layers; layer++) {
      const into = layer === 0 ? o.input_size : this.out_size * this.directions;
      for (let direction = 0; direction < this.directions; direction++) {
        const put = (name: string, ...shape: number[]) => {
          this.register_parameter(this.named(name, layer, direction), parameter(shape, o));
        };
        put("weight_ih", gates * o.hidden_size, into);
        put("weight_hh", gates * o.hidden_size, this.out_size);
        if (o.bias) put("bias_ih", gates * o.hidden_size);
        if (o.bias) put("bias_hh", gates * o.hidden_size);
        if (o.proj_size > 0) put("weight_hr", o.proj_size, o.hidden_size);
      }
    }
    this.reset_parameters();
  }
  /** Evenly, to 1 over the root of hidden_size. */
  reset_parameters(): void {
    const bound = 1 / Math.sqrt(this.hidden_size);
    for (const p of this.parameters()) uniform_(p, -bound, bound);
  }
  /** Nothing: weights lie where they lie. */
  flatten_parameters(): void {
    /* a promise to a library of other GPUs */
  }
  /** The parameters of each direction of each layer. */
  get all_weights(): Parameter[][] {
    return Array.from({ length: this.num_layers * this.directions }, (_, i) =>
      Object.values<Parameter | null>({ ...this.weights(Math.floor(i / this.directions), i % this.directions) }).filter(
        (p) => p !== null,
      ),
    );
  }
  private get directions(): number {
    return this.bidirectional ? 2 : 1;
  }
  private get out_size(): number {
    return this.proj_size || this.hidden_size;
  }
  private named(name: string, layer: number, direction: number): string {
    return `${name}_l${layer}${direction ? "_reverse" : ""}`;
  }
  private weights(layer: number, direction: number): Weights {
    const of = (name: string) =>
      (this as unknown as Record<string, Parameter | undefined>)[this.named(name, layer, direction)] ?? null;
    return {
      input: of("weight_ih")!,
      hidden: of("weight_hh")!,
      inputBias: of("bias_ih"),
      hiddenBias: of("bias_hh"),
      projection: of("weight_hr"),
    };
  }

  /** What torch.autocast calls the whole, where it casts that and not only the ops within. */
  protected get castAs(): string | null {
    return null;
  }
  /** Tensors in the types that torch.autocast wants. */
  private lowered(tensors: readonly Tensor[]): readonly Tensor[] {
    return this.castAs === null || !casting ? tensors : casting.lowered(this.castAs, tensors);
  }
  /** The state after a step, from the products with the input and with the state before. */
  protected abstract step(input: Tensor, hidden: Tensor, state: State): State;

  /**
   * The results of all steps and the state after the last, of shapes as the input's.
   * `start`: the states of all layers before the first step, (layers * directions, batch, size) each; their sizes are
   * `sizes`.
   */
  protected run<X extends Tensor | PackedSequence>(
    input: X,
    start: State | null,
    sizes: readonly number[],
  ): [X, State] {
    if (start) start = [...this.lowered(start)];
    if (input instanceof PackedSequence) {
      const [data] = this.lowered([input.data]) as [Tensor],
        { batch_sizes, sorted_indices: there, unsorted_indices: back } = input;
      if (data.ndim !== 2) throw new OpError(`input must have 2 dimensions, got ${data.ndim}`);
      this.check(data);
      const turned = (states: State, by: Tensor | null) =>
        by ? states.map((s) => index_select(s, 1, by) as Tensor) : states;
      const [out, after] = this.layers(
        data,
        turned(this.before(data, start, sizes, batch_sizes[0]!, true), there),
        batch_sizes,
      );
      return [input.with(out) as X, turned(after, back)];
    }
    const [x] = this.lowered([input as Tensor]) as [Tensor],
      batched = x.ndim === 3;
    if (x.ndim !== 2 && !batched)
      throw new OpError(`${nameOf(this)}: Expected input to be 2D or 3D, got ${x.ndim}D instead`);
    this.check(x);
    const sequence = batched ? (this.batch_first ? views.transpose(x, 0, 1) : x) : views.unsqueeze(x, 1);
    if (sequence.shape[0] === 0) throw new OpError("Expected sequence length to be larger than 0 in RNN");
    const [out, after] = this.layers(sequence, this.before(x, start, sizes, sequence.shape[1]!, batched), null);
    if (!batched) return [views.squeeze(out, 1) as X, after.map((s) => views.squeeze(s, 1))];
    return [(this.batch_first ? views.transpose(out, 0, 1) : out) as X, after];
  }
  private check(input: Tensor): void {
    const [weight] = this.lowered([this.weights(0, 0).input]) as [Tensor];
    if (input.dtype !== weight.dtype) {
      throw new OpError(
        `RNN input dtype (torch.${input.dtype}) does not match weight dtype (torch.${weight.dtype}). ` +
          `Convert input: input.to(torch.${weight.dtype}), or convert model: model.to(torch.${input.dtype})`,
      );
    }
    if (input.shape[input.ndim - 1] !== this.input_size) {
      throw new OpError(
        `input.size(-1) must be equal to input_size. Expected ${this.input_size}, got ${input.shape[input.ndim - 1]}`,
      );
    }
  }
  /** The states before the first step: those given, or zeros. */
  private before(input: Tensor, start: State | null, sizes: readonly number[], batch: number, batched: boolean): State {
    const count = this.num_layers * this.directions;
    return sizes.map((size, k) => {
      const given = start?.[k];
      if (!given) return zeros([count, batch, size], { dtype: input.dtype, device: input.storage.device });
      if (given.ndim !== (batched ? 3 : 2)) {
        throw new OpError(
          batched
            ? `For batched 3-D input, hx should also be 3-D but got ${given.ndim}-D tensor`
            : `For unbatched 2-D input, hx should also be 2-D but got ${given.ndim}-D tensor`,
        );
      }
      const own = batched ? given : views.unsqueeze(given, 1);
      if (own.shape[0] !== count || own.shape[1] !== batch || own.shape[2] !== size) {
        throw new OpError(
          `Expected hidden${sizes.length > 1 ? `[${k}]` : ""} size (${count}, ${batch}, ${size}), got [${own.shape.join(", ")}]`,
        );
      }
      return own;
    });
  }
  /**
   * All layers over (time, batch, features), or over packed elements of which each step has so many as `steps` says.
   */
  private layers(input: Tensor, states: State, steps: readonly number[] | null): [Tensor, State] {
    const ends: State[] = [];
    let sequence = input;
    for (let layer = 0; layer < this.num_layers; layer++) {
      if (layer > 0 && this.dropout > 0) sequence = F.dropout(sequence, this.dropout, this.training);
      const sides: Tensor[] = [];
      for (let direction = 0; direction < this.directions; direction++) {
        const before = states.map((s) => views.select(s, 0, layer * this.directions + direction));
        const [out, end] = this.pass(sequence, before, this.weights(layer, direction), steps, direction === 1);
        sides.push(out);
        ends.push(end);
      }
      sequence = sides.length === 1 ? sides[0]! : cat(sides, -1);
    }
    return [sequence, states.map((_, k) => stack(ends.map((end) => end[k]!)))];
  }
  /** One layer in one direction.  Of packed sequences the shorter ones stop earlier, or join later from the end. */
  private pass(
    sequence: Tensor,
    start: State,
    w: Weights,
    steps: readonly number[] | null,
    backwards: boolean,
  ): [Tensor, State] {
    const products = Steps.apply<Tensor[]>(F.linear(sequence, w.input, w.inputBias), steps),
      out = new Array<Tensor>(products.length),
      last = products.length - 1;
    const part = (state: State, from: number, to: number): State =>
      state.map((s) => sliceAxis(s, 0, from, to - from, 1, "narrow"));
    const ended: State[] = [];
    let state = steps && backwards ? part(start, 0, steps[last]!) : start;
    for (let i = 0; i <= last; i++) {
      const t = backwards ? last - i : i,
        rows = state[0]!.shape[0]!,
        size = steps?.[t] ?? rows;
      if (size < rows) {
        ended.unshift(part(state, size, rows));
        state = part(state, 0, size);
      } else if (size > rows) {
        const more = part(start, rows, size);
        state = state.map((s, k) => cat([s, more[k]!]));
      }
      state = this.step(products[t]!, F.linear(state[0]!, w.hidden, w.hiddenBias), state);
      if (w.projection) state = [F.linear(state[0]!, w.projection), ...state.slice(1)];
      out[t] = state[0]!;
    }
    if (ended.length) state = state.map((s, k) => cat([s, ...ended.map((e) => e[k]!)]));
    return [steps ? cat(out) : stack(out), state];
  }
  override extra_repr(): string {
    let text = `${this.input_size}, ${this.hidden_size}`;
    if (this.proj_size) text += `, proj_size=${this.proj_size}`;
    if (this.num_layers !== 1) text += `, num_layers=${this.num_layers}`;
    if (!this.bias) text += `, bias=${flag(false)}`;
    if (this.batch_first) text += `, batch_first=${flag(true)}`;
    if (this.dropout) text += `, dropout=${float(this.dropout)}`;
    return this.bidirectional ? `${text}, bidirectional=${flag(true)}` : text;
  }
}

export type Places = [bias: boolean, batch_first: boolean, dropout: number, bidirectional: boolean];

export const SIZES = { input_size: /* @__PURE__ */ size(), hidden_size: /* @__PURE__ */ size() };

export const USUAL = { bias: true, batch_first: false, dropout: 0, bidirectional: false };

/** A state given by position or as `{hx}`. */
export function start<H>(hx: H | { hx?: H | null } | null | undefined): H | null {
  const given =
    hx && typeof hx === "object" && !(hx instanceof Tensor) && !Array.isArray(hx)
      ? (hx as { hx?: H | null }).hx
      : (hx as H | null | undefined);
  return given ?? null;
}
