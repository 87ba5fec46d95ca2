// Tables of vectors, looked up one by one or by bags.

import { embedding_bag } from "../../composite/torch/embedding-bag.js";
import { nameOf } from "../../base/class-name.js";
import { number } from "../../base/argument-kinds.js";
import { fill_ } from "../../views/transfer.js";
import { OpError } from "../../base/errors.js";
import { unrecorded } from "../../tape/grad-mode.js";
import { tensorOf } from "../../tensor/tensor-arguments.js";
import type { Tensor } from "../../tensor/tensor.js";
import * as F from "../../../names/functional.js";
import * as views from "../../views/views.js";
import { callable } from "../../base/callable.js";
import { normal_ } from "../init.js";
import { Module } from "../module.js";
import {
  DEVICE_AND_TYPE,
  construct,
  parameter,
  required,
  size,
  type Arguments,
  type Factory,
  type DeviceAndType,
} from "../options.js";
import { Parameter } from "../parameter.js";
import { flag, float } from "../shown.js";

interface TableOptions {
  /** The row that gets no gradient (and counts in no bag); zeros at first. */
  padding_idx?: number | null;
  /** Rows that are longer than this are made this long when they are looked up; null: none is. */
  max_norm?: number | null;
  /** Of which norm `max_norm` speaks: the p-norm. */
  norm_type?: number;
  /** Whether a row's gradient is divided by how often the row was looked up. */
  scale_grad_by_freq?: boolean;
  /** Taken for PyTorch's sake: gradients are as large as the table. */
  sparse?: boolean;
}
type Table = {
  /** How many rows the table has: indices go from 0 up to it. */
  num_embeddings: number;
  /** How many numbers a row has. */
  embedding_dim: number;
};

/** What both keep. */
abstract class TableModule extends Module {
  readonly num_embeddings: number;
  readonly embedding_dim: number;
  readonly padding_idx: number | null;
  readonly max_norm: number | null;
  readonly norm_type: number;
  readonly scale_grad_by_freq: boolean;
  readonly sparse: boolean;
  weight: Parameter;

  protected constructor(o: Required<TableOptions> & Table & { _weight: Tensor | null; _freeze?: boolean } & Factory) {
    super();
    this.num_embeddings = o.num_embeddings;
    this.embedding_dim = o.embedding_dim;
    const at = o.padding_idx;
    if (at !== null && (at >= o.num_embeddings || at < -o.num_embeddings))
      throw new OpError("Padding_idx must be within num_embeddings");
    this.padding_idx = at !== null && at < 0 ? at + o.num_embeddings : at;
    this.max_norm = o.max_norm === null ? null : number(o.max_norm, nameOf(this), "max_norm");
    this.norm_type = o.norm_type;
    this.scale_grad_by_freq = o.scale_grad_by_freq;
    this.sparse = o.sparse;
    if (o._weight) {
      if (o._weight.ndim !== 2 || o._weight.shape[0] !== o.num_embeddings || o._weight.shape[1] !== o.embedding_dim) {
        throw new OpError("Shape of weight does not match num_embeddings and embedding_dim");
      }
      this.weight = new Parameter(o._weight, !o._freeze); // whole numbers have no gradient, frozen ones may be those
    } else {
      this.weight = parameter([o.num_embeddings, o.embedding_dim], o);
      this.reset_parameters();
    }
    if (o._freeze) this.weight.requires_grad_(false);
  }
  reset_parameters(): void {
    normal_(this.weight);
    if (this.padding_idx !== null) unrecorded(() => fill_(views.select(this.weight, 0, this.padding_idx!), 0));
  }
  protected common(): string {
    let text = this.max_norm === null ? "" : `, max_norm=${float(this.max_norm)}`;
    if (this.norm_type !== 2) text += `, norm_type=${float(this.norm_type)}`;
    return this.scale_grad_by_freq ? `${text}, scale_grad_by_freq=${flag(true)}` : text;
  }
}

const TABLE = { num_embeddings: /* @__PURE__ */ size(), embedding_dim: /* @__PURE__ */ size() };
const none = <T>(): T | null => null;
function checkTable(embeddings: unknown, op: string): void {
  if (tensorOf(embeddings, op, "embeddings").ndim !== 2)
    throw new OpError("Embeddings parameter is expected to be 2-dimensional");
}

export interface EmbeddingOptions extends TableOptions, Factory {
  /** The table to begin with; null: drawn from the normal distribution. */
  _weight?: Tensor | null;
  /** Whether the table stays as it is in training. */
  _freeze?: boolean;
}

class EmbeddingClass extends TableModule {
  /** A table of `num_embeddings` rows of length `embedding_dim`, normal at first. */
  constructor(
    ...args: Arguments<
      [num_embeddings: number, embedding_dim: number],
      [
        padding_idx: number | null,
        max_norm: number | null,
        norm_type: number,
        scale_grad_by_freq: boolean,
        sparse: boolean,
        _weight: Tensor | null,
        _freeze: boolean,
        ...DeviceAndType,
      ],
      EmbeddingOptions,
      Table
    >
  ) {
    super(
      construct(
        "Embedding",
        {
          ...TABLE,
          padding_idx: none<number>(),
          max_norm: none<number>(),
          norm_type: 2,
          scale_grad_by_freq: false,
          sparse: false,
          _weight: none<Tensor>(),
          _freeze: false,
          ...DEVICE_AND_TYPE,
        },
        args,
      ),
    );
  }
  /** A table of rows that are there already; they are not trained unless `freeze` is false. */
  static from_pretrained(
    ...args: Arguments<
      [embeddings: Tensor],
      [
        freeze: boolean,
        padding_idx: number | null,
        max_norm: number | null,
        norm_type: number,
        scale_grad_by_freq: boolean,
        sparse: boolean,
      ],
      TableOptions & { freeze?: boolean },
      { embeddings: Tensor }
    >
  ): EmbeddingClass {
    const { embeddings, freeze, ...others } = construct(
      "Embedding.from_pretrained",
      {
        embeddings: required<Tensor>(),
        freeze: true,
        padding_idx: none<number>(),
        max_norm: none<number>(),
        norm_type: 2,
        scale_grad_by_freq: false,
        sparse: false,
      },
      args,
    );
    checkTable(embeddings, "Embedding.from_pretrained");
    return new EmbeddingClass(embeddings.shape[0]!, embeddings.shape[1]!, {
      ...others,
      _weight: embeddings,
      _freeze: freeze,
    });
  }
  override forward(input: Tensor): Tensor {
    const { padding_idx, scale_grad_by_freq, max_norm, norm_type } = this;
    return F.embedding(input, this.weight, { padding_idx, scale_grad_by_freq, max_norm, norm_type });
  }
  override extra_repr(): string {
    const padding = this.padding_idx === null ? "" : `, padding_idx=${this.padding_idx}`;
    return `${this.num_embeddings}, ${this.embedding_dim}${padding}${this.common()}${this.sparse ? ", sparse=True" : ""}`;
  }
}
/**
 * @example
 * torch.nn.Embedding.from_pretrained(torch.tensor([[1, 2], [3, 4]]))(torch.tensor([1, 0], { dtype: torch.long }))  // [[3, 4], [1, 2]]
 */
export const Embedding = /* @__PURE__ */ callable(EmbeddingClass, "Embedding", "from_pretrained !, forward input");
export type Embedding = EmbeddingClass;

type BagMode = "sum" | "mean" | "max";
export interface EmbeddingBagOptions extends TableOptions, Factory {
  /** What is made of the rows of a bag: their mean, sum, or largest elements. */
  mode?: BagMode;
  /** The table to begin with; null: drawn from the normal distribution. */
  _weight?: Tensor | null;
  /** Whether the last of the offsets is the number of all indices. */
  include_last_offset?: boolean;
}

class EmbeddingBagClass extends TableModule {
  readonly mode: BagMode;
  readonly include_last_offset: boolean;

  /** The sum, mean or largest of the rows of each bag. */
  constructor(
    ...args: Arguments<
      [num_embeddings: number, embedding_dim: number],
      [
        max_norm: number | null,
        norm_type: number,
        scale_grad_by_freq: boolean,
        mode: BagMode,
        sparse: boolean,
        _weight: Tensor | null,
        include_last_offset: boolean,
        padding_idx: number | null,
        ...DeviceAndType,
      ],
      EmbeddingBagOptions,
      Table
    >
  ) {
    const o = construct(
      "EmbeddingBag",
      {
        ...TABLE,
        max_norm: none<number>(),
        norm_type: 2,
        scale_grad_by_freq: false,
        mode: "mean" as BagMode,
        sparse: false,
        _weight: none<Tensor>(),
        include_last_offset: false,
        padding_idx: none<number>(),
        ...DEVICE_AND_TYPE,
      },
      args,
    );
    super(o);
    this.mode = o.mode;
    this.include_last_offset = o.include_last_offset;
  }
  /** A table of rows that are there already; they are not trained unless `freeze` is false. */
  static from_pretrained(
    ...args: Arguments<
      [embeddings: Tensor],
      [
        freeze: boolean,
        max_norm: number | null,
        norm_type: number,
        scale_grad_by_freq: boolean,
        mode: BagMode,
        sparse: boolean,
        include_last_offset: boolean,
        padding_idx: number | null,
      ],
      Omit<EmbeddingBagOptions, "_weight" | keyof Factory> & { freeze?: boolean },
      { embeddings: Tensor }
    >
  ): EmbeddingBagClass {
    const { embeddings, freeze, ...others } = construct(
      "EmbeddingBag.from_pretrained",
      {
        embeddings: required<Tensor>(),
        freeze: true,
        max_norm: none<number>(),
        norm_type: 2,
        scale_grad_by_freq: false,
        mode: "mean" as BagMode,
        sparse: false,
        include_last_offset: false,
        padding_idx: none<number>(),
      },
      args,
    );
    checkTable(embeddings, "EmbeddingBag.from_pretrained");
    const made = new EmbeddingBagClass(embeddings.shape[0]!, embeddings.shape[1]!, { ...others, _weight: embeddings });
    made.weight.requires_grad_(!freeze);
    return made;
  }
  /** `input`: bags as rows; or one after the other, and `offsets` says where each begins. */
  override forward(
    input: Tensor,
    offsets?: Tensor | null | BagInput,
    per_sample_weights?: Tensor | null | BagInput,
  ): Tensor {
    const { max_norm, norm_type, scale_grad_by_freq, mode, include_last_offset, padding_idx } = this;
    const bags = embedding_bag as (...args: unknown[]) => Tensor;
    return bags(input, this.weight, offsets ?? null, {
      max_norm,
      norm_type,
      scale_grad_by_freq,
      mode,
      per_sample_weights: per_sample_weights ?? null,
      include_last_offset,
      padding_idx,
    });
  }
  override extra_repr(): string {
    return `${this.num_embeddings}, ${this.embedding_dim}${this.common()}, mode='${this.mode}'${this.padding_idx === null ? "" : `, padding_idx=${this.padding_idx}`}`;
  }
}
interface BagInput {
  offsets?: Tensor | null;
  per_sample_weights?: Tensor | null;
}
/**
 * @example
 * torch.nn.EmbeddingBag(10, 3, { mode: "sum" })(torch.tensor([[1, 2], [4, 5]], { dtype: torch.long })).shape  // [2, 3]
 */
export const EmbeddingBag = /* @__PURE__ */ callable(
  EmbeddingBagClass,
  "EmbeddingBag",
  "from_pretrained !, forward input offsets? per_sample_weights?",
);
export type EmbeddingBag = EmbeddingBagClass;
