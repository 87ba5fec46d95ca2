// ONNX's recurrent layers.  Plain ones are PyTorch's; the others go step by step.

import { OpError } from "../../base/errors.js";
import { RECURRENT as LAYERS } from "../../exchange/aten/recurrent-layers.js";
import type { Tensor } from "../../tensor/tensor.js";
import { type Attributes, type Compute, type Table, range } from "./definition.js";
import { cast, create, F, join, likeAnother, splitting, T, turned, views } from "./library.js";

type Maybe<X> = X | null | undefined;
type Activation = (x: Tensor) => Tensor;
/** Of the activations that ONNX names. */
function activation(name: string, alpha: Maybe<number>, beta: Maybe<number>): Activation {
  const known: Readonly<Record<string, Activation>> = {
    tanh: T.tanh,
    sigmoid: T.sigmoid,
    relu: T.relu,
    softsign: F.softsign,
    softplus: F.softplus,
    affine: (x) => T.add(T.mul(x, alpha ?? 1), beta ?? 0) as Tensor,
    leakyrelu: (x) => F.leaky_relu(x, alpha ?? 0.01) as Tensor,
    thresholdedrelu: (x) => F.threshold(x, alpha ?? 1, 0) as Tensor,
    scaledtanh: (x) => T.mul(T.tanh(T.mul(x, beta ?? 1)), alpha ?? 1) as Tensor,
    hardsigmoid: (x) => T.clamp(T.add(T.mul(x, alpha ?? 0.2), beta ?? 0.5), 0, 1) as Tensor,
    elu: (x) => F.elu(x, alpha ?? 1) as Tensor,
  };
  const found = Object.hasOwn(known, name.toLowerCase()) ? known[name.toLowerCase()] : null;
  if (!found) throw new OpError(`there is no activation ${name}`);
  return found;
}

/** What one direction of a layer computes with. */
interface Weights {
  readonly w: Tensor;
  readonly r: Tensor;
  /** Of the inputs and of the state; null: none. */
  readonly wb: Tensor | null;
  readonly rb: Tensor | null;
  readonly peepholes: Tensor | null;
}
interface Cell {
  readonly gates: number;
  /** The activations that are meant where none are named. */
  readonly activations: readonly string[];
  /** PyTorch's order of gates; `layer` is its operator. */
  readonly order: readonly number[];
  layer(attributes: Attributes): string | null;
  /** The next states, the first of which is the output. */
  step(x: Tensor, states: Tensor[], weights: Weights, f: Activation[], attributes: Attributes): Tensor[];
}

/** inputs times weights, with a bias */
const affine = (x: Tensor, w: Tensor, bias: Tensor | null): Tensor => F.linear(x, w, bias) as Tensor;
const plus = (a: Tensor, b: Tensor): Tensor => T.add(a, b) as Tensor;
const times = (a: Tensor, b: Tensor): Tensor => T.mul(a, b) as Tensor;
const parts = (x: Tensor, n: number): Tensor[] => splitting.chunk(x, n, -1) as Tensor[];

const CELLS: Readonly<Record<"LSTM" | "GRU" | "RNN", Cell>> = {
  LSTM: {
    gates: 4,
    activations: ["Sigmoid", "Tanh", "Tanh"],
    order: [0, 2, 3, 1],
    layer: ({ input_forget }) => (input_forget ? null : "lstm.input"),
    step(x, [h, c], { w, r, wb, rb, peepholes }, [f, g, last], { input_forget }) {
      const [i, o, forget, cell] = parts(plus(affine(x, w, wb), affine(h!, r, rb)), 4),
        [pi, po, pf] = peepholes ? parts(peepholes, 3) : [],
        seen = (gate: Tensor, p: Maybe<Tensor>, by: Tensor) => f!(p ? plus(gate, times(p, by)) : gate),
        input = seen(i!, pi, c!),
        kept = input_forget ? (T.sub(1, input) as Tensor) : seen(forget!, pf, c!),
        next = plus(times(kept, c!), times(input, g!(cell!)));
      return [times(seen(o!, po, next), last!(next)), next];
    },
  },
  GRU: {
    gates: 3,
    activations: ["Sigmoid", "Tanh"],
    order: [1, 0, 2],
    layer: ({ linear_before_reset }) => (linear_before_reset ? "gru.input" : null),
    step(x, [h], { w, r, wb, rb }, [f, g], { linear_before_reset }) {
      const [xz, xr, xh] = parts(affine(x, w, wb), 3),
        [rz, rr, rh] = splitting.chunk(r, 3, 0) as Tensor[],
        [bz, br, bh] = rb ? parts(rb, 3) : [null, null, null],
        z = f!(plus(xz!, affine(h!, rz!, bz!))),
        reset = f!(plus(xr!, affine(h!, rr!, br!))),
        candidate = g!(
          plus(xh!, linear_before_reset ? times(reset, affine(h!, rh!, bh!)) : affine(times(reset, h!), rh!, bh!)),
        );
      return [plus(times(T.sub(1, z) as Tensor, candidate), times(z, h!))];
    },
  },
  RNN: {
    gates: 1,
    activations: ["Tanh"],
    order: [0],
    layer: () => "rnn_tanh.input",
    step: (x, [h], { w, r, wb, rb }, [f]) => [f!(plus(affine(x, w, wb), affine(h!, r, rb)))],
  },
};

/** One direction, step by step: all outputs (time, batch, hidden) and the last states. */
function stepped(
  cell: Cell,
  x: Tensor,
  states: Tensor[],
  weights: Weights,
  f: Activation[],
  lengths: Tensor | null,
  attributes: Attributes,
): readonly [Tensor, Tensor[]] {
  const { clip } = attributes,
    bound = (g: Activation): Activation => (clip ? (v) => g(T.clamp(v, -clip, clip) as Tensor) : g),
    used = f.map(bound);
  let now = states;
  const outputs = (splitting.unbind(x, 0) as Tensor[]).map((row, t) => {
    const next = cell.step(row, now, weights, used, attributes);
    if (!lengths) {
      now = next;
      return next[0]!;
    }
    // a sequence that has ended keeps its state, and gives zeros
    const on = views.unsqueeze(T.gt(lengths, t), 1);
    now = next.map((value, k) => T.where(on, value, now[k]) as Tensor);
    return T.where(on, next[0], likeAnother.zeros_like(next[0])) as Tensor;
  });
  return [join.stack(outputs, 0) as Tensor, now];
}

/** The sequences turned round, each within its own length. */
function backwards(x: Tensor, lengths: Tensor | null): Tensor {
  if (!lengths) return turned(x, [0]);
  const n = x.shape[0]!,
    steps = views.reshape(create.arange(0, n, 1, { dtype: "int64", device: x.device }), [n, 1, 1]),
    ends = views.reshape(lengths, [1, -1, 1]),
    at = T.where(T.lt(steps, ends), T.sub(T.sub(ends, 1), steps), steps);
  return T.gather(x, 0, views.expand(at, x.shape)) as Tensor;
}

const layer =
  (name: keyof typeof CELLS): Compute =>
  (inputs, attributes) => {
    const cell = CELLS[name],
      [given, w, r, bias, sequence_lens, h0, c0, peepholes] = inputs as Maybe<Tensor>[],
      { direction = "forward", layout = 0, activations, activation_alpha, activation_beta } = attributes,
      hidden = r!.shape[2]!,
      x = layout ? (views.transpose(given!, 0, 1) as Tensor) : given!,
      batch = x.shape[1]!,
      directions = direction === "bidirectional" ? 2 : 1,
      lengths = sequence_lens ? cast(sequence_lens, "int64") : null,
      named = (activations ?? range(directions).flatMap(() => cell.activations)) as string[],
      usual = named.every((a, i) => a.toLowerCase() === cell.activations[i % cell.activations.length]!.toLowerCase()),
      count = name === "LSTM" ? 2 : 1;
    const initial = [h0, c0].slice(0, count).map((s) => {
      if (!s) return create.zeros([directions, batch, hidden], { dtype: x.dtype, device: x.device }) as Tensor;
      return layout ? (views.transpose(s, 0, 1) as Tensor) : s;
    });
    const of = (k: number): Weights => {
      const both = bias ? (splitting.chunk(views.select(bias, 0, k), 2, 0) as Tensor[]) : [null, null];
      return {
        w: views.select(w, 0, k),
        r: views.select(r, 0, k),
        wb: both[0]!,
        rb: both[1]!,
        peepholes: peepholes ? views.select(peepholes, 0, k) : null,
      };
    };
    const operator = usual && !attributes.clip && !lengths && !peepholes ? cell.layer(attributes) : null;
    let y: Tensor, last: Tensor[];
    if (operator) {
      const sorted = (m: Tensor): Tensor => {
          const gates = splitting.chunk(m, cell.gates, 0) as Tensor[];
          return cell.gates === 1
            ? m
            : (join.cat(
                cell.order.map((i) => gates[i]!),
                0,
              ) as Tensor);
        },
        weights = range(directions).flatMap((k) => {
          const { w: a, r: b, wb, rb } = of(k);
          return [a, b, ...(wb ? [wb, rb!] : [])].map(sorted);
        }),
        source = direction === "reverse" ? turned(x, [0]) : x,
        state = name === "LSTM" ? initial : initial[0],
        args = [source, state, weights, Boolean(bias), 1, 0, false, directions === 2, false],
        [out, ...ends] = LAYERS[operator]!({ args, options: {}, used: [], device: x.device, target: name }) as Tensor[],
        apart = views.permute(views.reshape(out!, [x.shape[0], batch, directions, hidden]), [0, 2, 1, 3]) as Tensor;
      y = direction === "reverse" ? turned(apart, [0]) : apart;
      last = ends;
    } else {
      const each = range(directions).map((k) => {
        const back = direction === "reverse" || k === 1,
          per = cell.activations.length,
          f = named
            .slice(k * per, (k + 1) * per)
            .map((a, i) => activation(a, activation_alpha?.[k * per + i], activation_beta?.[k * per + i])),
          states = initial.map((s) => views.select(s, 0, k) as Tensor),
          [out, ends] = stepped(cell, back ? backwards(x, lengths) : x, states, of(k), f, lengths, attributes);
        return [back ? backwards(out, lengths) : out, ends] as const;
      });
      y = join.stack(
        each.map(([out]) => out),
        1,
      ) as Tensor;
      last = range(count).map(
        (i) =>
          join.stack(
            each.map(([, ends]) => ends[i]!),
            0,
          ) as Tensor,
      );
    }
    return layout ? [views.permute(y, [2, 0, 1, 3]), ...last.map((s) => views.transpose(s, 0, 1))] : [y, ...last];
  };

export const RECURRENT: Table = {
  LSTM: layer("LSTM"),
  GRU: layer("GRU"),
  RNN: layer("RNN"),
};
