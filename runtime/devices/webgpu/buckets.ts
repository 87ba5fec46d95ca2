// Which tensors should lie side by side on a GPU, and that they do: a model's parameters, their gradients and what an
// optimizer keeps for each.  Each list has an arena in which every parameter has its place; whatever is elsewhere
// moves there by a copy.  Gradients are computed right into their places where those are free.

import type { Bound } from "../../../host/model.js";
import type { DType } from "../../elements/dtype.js";
import { numelOf, sameShape } from "../../base/shape.js";
import type { Storage } from "../../tensor/storage.js";
import { Tensor } from "../../tensor/tensor.js";
import type { WebGpuDevice } from "./gpu-device.js";
import { byteLength } from "./element-layout.js";
import { Arena, Part } from "./arena.js";
import { type PoolBuffer, sizeClass } from "./pool.js";

const dropped = new FinalizationRegistry<(Arena | undefined)[]>((arenas) => {
  for (const arena of arenas) arena?.drop();
});

const sizeOf = ({ cell: { buffer } }: Storage): number => buffer?.size ?? 0;

/** Parameters whose tensors have places of the same sizes, in the same order, in an arena for each list. */
class Row {
  private readonly arenas: (Arena | undefined)[] = [];

  constructor(
    readonly device: WebGpuDevice,
    private readonly dtype: DType,
    readonly sizes: readonly number[],
  ) {
    dropped.register(this, this.arenas);
  }

  /** A tensor at a place of list `role`; null where the place is taken or the tensor would not fill it. */
  room(role: number, at: number, { dtype, shape, strides }: Bound, op: string): Tensor | null {
    const arena = this.arenas[role],
      n = numelOf(shape);
    if (
      !arena ||
      this.device.lost !== null ||
      arena.parts[at]!.taken ||
      dtype !== this.dtype ||
      n === 0 ||
      sizeClass(byteLength(this.dtype, n)) !== this.sizes[at]
    )
      return null;
    return new Tensor(arena.hold(at, this.dtype, n, op), this.dtype, shape, strides, 0);
  }

  /** Whether a storage is at a place of list `role`. */
  holds(role: number, at: number, storage: Storage): boolean {
    return this.arenas[role]?.parts[at] === storage.cell.buffer;
  }

  /** Brings the storages of list `role` to their places `at`. */
  settle(role: number, at: readonly number[], storages: readonly Storage[]): void {
    const old = this.arenas[role],
      away = storages.filter((storage, i) => old?.parts[at[i]!] !== storage.cell.buffer);
    if (!away.length) return;
    // A place is taken where another tensor still lies in it: a gradient that somebody kept, a state before another was
    // loaded.
    const blocked =
      old && storages.some((storage, i) => !(storage.cell.buffer instanceof Part) && old.parts[at[i]!]!.taken);
    const arena =
      old && !blocked ? old : (this.arenas[role] = new Arena(this.device, this.sizesOf(at, storages), "foreach"));
    storages.forEach((storage, i) => {
      const from = storage.cell.buffer as PoolBuffer;
      if (arena.parts[at[i]!]!.taken || from.size > arena.parts[at[i]!]!.size) return;
      // What lies in the places of another optimizer stays there, or both would move it at each step.
      if (!(from instanceof Part) || (arena !== old && from.arena !== arena && (!old || from.arena === old)))
        arena.put(storage, at[i]!);
    });
    if (arena !== old) old?.drop();
  }

  /** The bytes of a list's places: what a parameter takes, or less. */
  private sizesOf(at: readonly number[], storages: readonly Storage[]): number[] {
    const sizes = [...this.sizes];
    at.forEach((place, i) => {
      sizes[place] = sizeOf(storages[i]!);
    });
    return sizes;
  }
}

interface Place {
  readonly row: Row;
  readonly at: number;
  readonly room: (like: Bound, op: string) => Tensor | null;
}

const known = new WeakMap<object, Buckets>();

/** What Device.collect is on a GPU. */
export function collect(owner: object, lists: readonly (readonly Tensor[])[]): void {
  let buckets = known.get(owner);
  if (!buckets) known.set(owner, (buckets = new Buckets()));
  buckets.collect(lists);
}

/** The places of an optimizer's parameters. */
class Buckets {
  private readonly places = new WeakMap<Tensor, Place>();

  /**
   * Moves tensors together where they can be.  The first list are parameters, the second their gradients, the k-th of
   * the others
   *  what belongs to the k-th parameter. */
  collect(lists: readonly (readonly Tensor[])[]): void {
    const [params] = lists as [readonly Tensor[]];
    if (params.every((param, k) => this.home(this.places.get(param), lists, k))) return;
    const fit = params.map((_, k) => fits(lists.map((list) => list[k]!)));
    this.arrange(params.filter((param, k) => fit[k] && this.places.get(param)?.row.device !== param.storage.device));
    const rows = new Map<Row, number[]>();
    params.forEach((param, k) => {
      const place = this.places.get(param);
      if (!place || !fit[k] || sizeOf(param.storage) !== place.row.sizes[place.at]) return;
      if (param.accumulator) param.accumulator.room = place.room;
      const known = rows.get(place.row);
      if (known) known.push(k);
      else rows.set(place.row, [k]);
    });
    for (const [row, members] of rows) {
      const at = members.map((k) => this.places.get(params[k]!)!.at);
      lists.forEach((list, role) => {
        row.settle(
          role,
          at,
          members.map((k) => list[k]!.storage),
        );
      });
    }
  }

  /** Whether the k-th tensors of all lists are at their places, and the next gradient knows its own. */
  private home(place: Place | undefined, lists: readonly (readonly Tensor[])[], k: number): boolean {
    if (!place || lists[0]![k]!.accumulator?.room !== place.room) return false;
    for (let role = 0; role < lists.length; role++)
      if (!place.row.holds(role, place.at, lists[role]![k]!.storage)) return false;
    return true;
  }

  /** Gives parameters places: those of one type on one device, as many in a row as a launch can bind. */
  private arrange(params: readonly Tensor[]): void {
    const kinds = new Map<string, Tensor[][]>();
    for (const param of params) {
      const device = param.storage.device as WebGpuDevice;
      const key = `${device.number} ${param.dtype}`,
        rows = kinds.get(key),
        last = rows?.[rows.length - 1];
      const bytes = (last ?? []).reduce((sum, { storage }) => sum + sizeOf(storage), sizeOf(param.storage));
      if (last && sizeClass(bytes) <= device.largest) last.push(param);
      else if (rows) rows.push([param]);
      else kinds.set(key, [[param]]);
    }
    for (const members of [...kinds.values()].flat()) {
      if (members.length < 2) continue;
      const row = new Row(
        members[0]!.storage.device as WebGpuDevice,
        members[0]!.dtype,
        members.map(({ storage }) => sizeOf(storage)),
      );
      members.forEach((param, at) => this.places.set(param, { row, at, room: roomOf(row, at) }));
    }
  }
}

/** How a parameter's next gradient comes to its place; the optimizer may go meanwhile. */
function roomOf(row: Row, at: number): Place["room"] {
  const known = new WeakRef(row);
  return (like, op) => known.deref()?.room(1, at, like, op) ?? null;
}

/**
 * Whether tensors that belong to one parameter can lie at the same place of their lists: each alone in its memory, of
 * the parameter's
 *  type, and the gradient of its shape; what else is kept may be smaller. */
function fits(tensors: readonly Tensor[]): boolean {
  const { storage, shape, dtype } = tensors[0]!;
  return (
    storage.device.type === "webgpu" &&
    numelOf(shape) > 0 &&
    tensors.every(
      (x, i) =>
        x.storage.device === storage.device &&
        x.dtype === dtype &&
        (i > 1 || sameShape(x.shape, shape)) &&
        x.offset === 0 &&
        x.storage.length === x.numel() &&
        x.numel() > 0 &&
        x.is_contiguous() &&
        !x.is_disposed &&
        (i > 1 ? sizeOf(x.storage) <= sizeOf(storage) : sizeOf(x.storage) === sizeOf(storage)),
    )
  );
}
