// The types that ops compute in within torch.autocast.  Which op follows which rule is data: ops/autocast.names.

import { AUTOCAST } from "../../autocast-rules.js";
import { capturing } from "../base/capturing.js";
import type { Scoped } from "../base/scoped.js";
import { type Casting, castBy } from "../dispatch/casting.js";
import { type DType, isFloat } from "../elements/dtype.js";
import type { Op } from "../program/compiled-op.js";
import { isRecording } from "../tape/grad-mode.js";
import { cast } from "../tensor/copy.js";
import { Tensor } from "../tensor/tensor.js";

/** What holds on a kind of device. */
export interface Region {
  readonly dtype: DType;
  readonly enabled: boolean;
}

/** Parameters in the lower type, while they are what they were. */
export type Cache = Map<Tensor, Lowered>;
interface Lowered {
  readonly lower: Tensor;
  readonly version: number;
  readonly recorded: boolean;
  /** What a captured program casts, it casts at each replay: nobody else has that. */
  readonly by: typeof capturing;
}

export interface Modes {
  readonly cpu: Region;
  readonly webgpu: Region;
  readonly caches: boolean;
  /** Of the outermost region. */
  readonly cache: Cache | null;
}

type Kind = "cpu" | "webgpu";
const ruleTables = new Map<Kind, ReadonlyMap<string, string>>();

function rulesOf(kind: Kind): ReadonlyMap<string, string> {
  let table = ruleTables.get(kind);
  if (!table) {
    const rows = Object.entries(AUTOCAST[kind]!).flatMap(([rule, names]) =>
      names.split(" ").map((name) => [name, rule] as const),
    );
    ruleTables.set(kind, (table = new Map(rows)));
  }
  return table;
}

/** The kind of device of a call's tensors: numbers of the CPU may stand beside those of a GPU. */
function kindOf(values: readonly unknown[]): Kind | null {
  let kind: Kind | null = null;
  for (const value of values) {
    if (!(value instanceof Tensor)) continue;
    const { type } = value.storage.device;
    if (type === "meta") return null;
    if (kind !== "webgpu") kind = type;
  }
  return kind;
}

/** Whether autocast may give a value another type: floats there, but for those of 64 bits. */
const eligible = (value: unknown, kind: Kind): value is Tensor =>
  value instanceof Tensor &&
  isFloat(value.dtype) &&
  value.dtype !== "float64" &&
  !value.weak &&
  value.storage.device.type === kind;

/** The word of an op's option `mode`, and for how many axes it has pairs of numbers in `pad`: "reflect:2". */
function optionsIn({ params }: Op, values: readonly unknown[]): string {
  const at = (wanted: string): number => params.findIndex(({ name }) => name === wanted);
  return `${String(values[at("mode")])}:${(params[at("pad")]?.rank ?? 0) / 2}`;
}

function castValues(modes: Modes, op: Op, values: readonly unknown[]): readonly unknown[] {
  if (!modes.cpu.enabled && !modes.webgpu.enabled) return values;
  const kind = kindOf(values);
  if (!kind || !modes[kind].enabled) return values;
  const rules = rulesOf(kind),
    rule = rules.get(op.name) ?? rules.get(`${op.name}:${optionsIn(op, values)}`);
  if (!rule) return values;
  const as = (dtype: DType): readonly unknown[] =>
    values.map((value) => (eligible(value, kind) ? inType(modes, value, dtype, modes[kind].dtype) : value));
  if (rule === "lower") return as(modes[kind].dtype);
  if (rule === "float32") return as("float32");
  if (rule === "result") {
    if (!values.some((value) => eligible(value, kind))) return values;
    const at = op.params.findIndex((param) => param.kind === "dtype");
    if (at < 0) return as("float32");
    return (values[at] ?? null) === null ? values.map((value, i) => (i === at ? "float32" : value)) : values;
  }
  const types = new Set(values.filter((value) => eligible(value, kind)).map(({ dtype }) => dtype));
  return types.size > 1 ? as("float32") : values;
}

/** A tensor in another type.  A parameter is cast once while a region runs, so that its gradients are added up once. */
function inType({ caches, cache }: Modes, x: Tensor, dtype: DType, lower: DType): Tensor {
  if (x.dtype === dtype) return x;
  const recorded = isRecording();
  if (!caches || !cache || dtype !== lower || x.dtype !== "float32" || !x.requires_grad || !x.is_leaf)
    return cast(x, dtype, "autocast");
  const kept = cache.get(x),
    { version } = x.storage;
  if (
    kept?.version === version &&
    kept.recorded === recorded &&
    kept.by === capturing &&
    !kept.lower.is_disposed &&
    kept.lower.dtype === dtype
  )
    return kept.lower;
  const made = cast(x, dtype, "autocast");
  cache.set(x, { lower: made, version, recorded, by: capturing });
  return made;
}

class Casts implements Casting {
  constructor(private readonly modes: Scoped<Modes>) {}

  cast(op: Op, values: readonly unknown[]): readonly unknown[] {
    return castValues(this.modes.value, op, values);
  }
  lowered(what: string, tensors: readonly Tensor[]): readonly Tensor[] {
    const modes = this.modes.value,
      kind = kindOf(tensors);
    if (!kind || !modes[kind].enabled || rulesOf(kind).get(what) !== "lower") return tensors;
    const { dtype } = modes[kind];
    return tensors.map((x) => (eligible(x, kind) ? inType(modes, x, dtype, dtype) : x));
  }
  get state(): string {
    const { cpu, webgpu } = this.modes.value;
    return `${cpu.enabled ? cpu.dtype : ""} ${webgpu.enabled ? webgpu.dtype : ""}`.trim();
  }
  without<T>(body: () => T): T {
    const now = this.modes.value;
    return this.modes.during(
      { ...now, cpu: { ...now.cpu, enabled: false }, webgpu: { ...now.webgpu, enabled: false } },
      body,
    );
  }
  again(): <T>(body: () => T) => T {
    const then = { ...this.modes.value, cache: null };
    return (body) => this.modes.during(then, body);
  }
}

let made: Casts | null = null;

/** Lets calls of ops ask these modes. */
export function casts(modes: Scoped<Modes>): void {
  if (!made) castBy((made = new Casts(modes)));
}
