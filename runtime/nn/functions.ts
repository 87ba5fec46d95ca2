// Modules without parameters: activations, pooling, shapes, dropout, losses.  Each applies one function to its inputs.

import { flatten, unflatten } from "../functions.js";
import type { Tensor } from "../tensor.js";
import * as F from "../../names/functional.js";
import { callable } from "./callable.js";
import { Module } from "./module.js";
import { construct } from "./options.js";

type Values = Record<string, unknown>;
type Arguments<D> = (D[keyof D] | Partial<D>)[];

/** A class of modules that have options but no parameters: positional in this order, or in an object. */
export interface SimpleModule<D> {
  (...args: Arguments<D>): Module;
  new (...args: Arguments<D>): Module;
}

/** A module called `name` whose constructor takes what `defaults` names (undefined: it must be given). */
function simple<D extends Values>(name: string, defaults: D, apply: (options: D, inputs: Tensor[], module: Module) => Tensor): SimpleModule<D> {
  class SimpleClass extends Module {
    private readonly given: D;
    constructor(...args: Arguments<D>) {
      super();
      this.given = construct(name, defaults, args) as D;
    }
    override forward(...inputs: Tensor[]): Tensor { return apply(this.given, inputs, this); }
    override extra_repr(): string { return Object.entries(this.given).map(([key, value]) => `${key}=${String(value)}`).join(", "); }
  }
  Object.defineProperty(SimpleClass, "name", { value: name });
  return callable(SimpleClass);
}

const number = undefined as unknown as number;
const sizes = undefined as unknown as number | number[];

export const Identity = /* @__PURE__ */ simple("Identity", {}, (_, [x]) => x!);
export const ReLU = /* @__PURE__ */ simple("ReLU", {}, (_, [x]) => F.relu(x!));
export const ReLU6 = /* @__PURE__ */ simple("ReLU6", {}, (_, [x]) => F.relu6(x!));
export const LeakyReLU = /* @__PURE__ */ simple("LeakyReLU", { negative_slope: 0.01 }, (o, [x]) => F.leaky_relu(x!, o.negative_slope));
export const ELU = /* @__PURE__ */ simple("ELU", { alpha: 1 }, (o, [x]) => F.elu(x!, o.alpha));
export const GELU = /* @__PURE__ */ simple("GELU", { approximate: "none" as "none" | "tanh" }, (o, [x]) => F.gelu(x!, { approximate: o.approximate }));
export const SiLU = /* @__PURE__ */ simple("SiLU", {}, (_, [x]) => F.silu(x!));
export const Sigmoid = /* @__PURE__ */ simple("Sigmoid", {}, (_, [x]) => F.sigmoid(x!));
export const Tanh = /* @__PURE__ */ simple("Tanh", {}, (_, [x]) => F.tanh(x!));
export const Softplus = /* @__PURE__ */ simple("Softplus", { beta: 1, threshold: 20 }, (o, [x]) => F.softplus(x!, o.beta, o.threshold));
export const Softmax = /* @__PURE__ */ simple("Softmax", { dim: number }, (o, [x]) => F.softmax(x!, o.dim));
export const LogSoftmax = /* @__PURE__ */ simple("LogSoftmax", { dim: number }, (o, [x]) => F.log_softmax(x!, o.dim));

export const Flatten = /* @__PURE__ */ simple("Flatten", { start_dim: 1, end_dim: -1 }, (o, [x]) => flatten(x!, o.start_dim, o.end_dim));
export const Unflatten = /* @__PURE__ */ simple("Unflatten", { dim: number, unflattened_size: sizes },
  (o, [x]) => unflatten(x!, o.dim, o.unflattened_size as number[]));

const pooling = { kernel_size: sizes, stride: null as number | number[] | null, padding: 0 as number | number[] };
/** Windows lie side by side unless a stride is given. */
const side = (o: typeof pooling) => ({ stride: o.stride ?? o.kernel_size, padding: o.padding });
const dilated = { ...pooling, dilation: 1 as number | number[] };
export const MaxPool1d = /* @__PURE__ */ simple("MaxPool1d", dilated,
  (o, [x]) => F.max_pool1d(x!, o.kernel_size, { ...side(o), dilation: o.dilation }));
export const MaxPool2d = /* @__PURE__ */ simple("MaxPool2d", dilated,
  (o, [x]) => F.max_pool2d(x!, o.kernel_size, { ...side(o), dilation: o.dilation }));
export const AvgPool1d = /* @__PURE__ */ simple("AvgPool1d", pooling, (o, [x]) => F.avg_pool1d(x!, o.kernel_size, side(o)));
export const AvgPool2d = /* @__PURE__ */ simple("AvgPool2d", pooling, (o, [x]) => F.avg_pool2d(x!, o.kernel_size, side(o)));

export const Dropout = /* @__PURE__ */ simple("Dropout", { p: 0.5 }, (o, [x], module) => F.dropout(x!, o.p, module.training));

type Reduction = "mean" | "sum" | "none";
const mean = { reduction: "mean" as Reduction };
export const MSELoss = /* @__PURE__ */ simple("MSELoss", mean, (o, [x, y]) => F.mse_loss(x!, y!, o));
export const L1Loss = /* @__PURE__ */ simple("L1Loss", mean, (o, [x, y]) => F.l1_loss(x!, y!, o));
export const NLLLoss = /* @__PURE__ */ simple("NLLLoss", { weight: null as Tensor | null, ignore_index: -100, ...mean },
  (o, [x, y]) => F.nll_loss(x!, y!, o));
export const CrossEntropyLoss = /* @__PURE__ */ simple("CrossEntropyLoss",
  { weight: null as Tensor | null, ignore_index: -100, ...mean, label_smoothing: 0 }, (o, [x, y]) => F.cross_entropy(x!, y!, o));
export const BCEWithLogitsLoss = /* @__PURE__ */ simple("BCEWithLogitsLoss",
  { weight: null as Tensor | null, ...mean, pos_weight: null as Tensor | null }, (o, [x, y]) => F.binary_cross_entropy_with_logits(x!, y!, o));
