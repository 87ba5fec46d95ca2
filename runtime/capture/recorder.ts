// Records what devices are told to do while a function runs: steps over values, of which it knows memory by memory
// where they come from.

import {
  type Capturing,
  type HostStep,
  type KeptByModule,
  type Launching,
  type Stepping,
  captureInto,
  capturing,
} from "../base/capturing.js";
import { type Device, type Layout, type RandomWords, type Strided, registeredDevices } from "../devices/device.js";
import { OpError } from "../base/errors.js";
import type { DType } from "../elements/dtype.js";
import type { RandomSource } from "../elements/random.js";
import { programLines } from "../tools/memory-history.js";
import type { Elements } from "../program/compiled-op.js";
import type { Storage } from "../tensor/storage.js";
import type { Tensor } from "../tensor/tensor.js";
import type { Leaf, Source, Step, Value, View } from "./program.js";
import { type ModuleSeen, layoutOf, moduleSeen } from "./guards.js";
import { launchesOf, restoring, stepOf } from "./optimizer-step.js";

/** What a leaf's gradient was when it was first looked at; `set`: it was replaced before anybody looked. */
export interface GradientSeen {
  readonly before: Tensor | null;
  readonly set: boolean;
}

const contiguous = ({ dtype, length }: { dtype: DType; length: number }): Layout => ({
  dtype,
  shape: [length],
  strides: [1],
  offset: 0,
});

type Methods = Pick<Device, "execute" | "fill" | "copy" | "upload" | "download">;

export class Recorder implements Capturing {
  readonly values: Value[] = [];
  steps: Step[] = [];
  readonly hosts: HostStep[] = [];
  readonly draws: (RandomSource | null)[] = [];
  readonly words: RandomWords[] = [];
  readonly leaves = new Map<Tensor, GradientSeen>();
  readonly modules = new Map<object, ModuleSeen>();
  readonly tensors = new Map<Tensor, Layout>();
  /** Why this cannot be replayed, and where that happened. */
  trouble: string | null = null;
  /** Why a replay would do less than a call, for those who make calls; for a model that is exported it is nothing. */
  sideEffects: string | null = null;
  changes = 0;
  /** The value that a storage holds now; the given storages with the value that each began with. */
  private readonly held = new Map<Storage, number>();
  private readonly given = new Map<Storage, number>();
  /** What was uploaded and not used yet: a number that is kept from an earlier call is only used. */
  private readonly brought = new Map<Storage, Elements>();
  private readonly drawn = new Map<RandomWords, number>();
  private readonly own = new Map<Device, Methods>();
  private readonly inside = new Set<Tensor>();
  /** How many calls of devices we are inside of. */
  private depth = 0;
  private hosting = false;
  private fed: { host: number; list: number } | null = null;
  private late = false;
  /** Of an op that looks at elements: the answer, which the op reads. */
  private spared: Storage | null = null;

  /** `rehearsing`: nothing runs, and what brings all back is put there. */
  constructor(
    private readonly inputs: readonly Tensor[],
    private readonly rehearsing: (() => void)[] | null = null,
    /** Who rehearses, for errors. */
    private readonly purpose = "warmup",
  ) {
    rehearsing?.push(() => {
      // Numbers in tensors' places are kept for all calls.
      for (const x of this.inside) if (!x.weak && !this.given.has(x.storage)) x.dispose();
    });
    inputs.forEach(({ storage }, index) => {
      if (!this.given.has(storage)) this.give(storage, { kind: "input", index });
    });
  }

  // --- While it listens -------------------------------------------------------------------------------

  get undo(): Capturing["undo"] {
    const { rehearsing } = this;
    return rehearsing && ((action) => void rehearsing.push(action));
  }

  listen(): void {
    captureInto(this);
    for (const device of registeredDevices()) {
      const { execute, fill, copy, upload, download } = device;
      this.own.set(device, { execute, fill, copy, upload, download });
      device.execute = (prepared, storages, random) => {
        if (!this.depth)
          this.steps.push({
            kind: "run",
            prepared,
            slots: storages.map((storage) => (storage ? this.value(storage) : -1)),
            draw: random ? this.draw(random) : -1,
            fed: this.fed,
            joined: null,
          });
        this.run(() => execute.call(device, prepared, storages, random));
      };
      device.fill = (storage, number) => {
        if (!this.depth) this.steps.push({ kind: "fill", value: this.value(storage), number });
        this.run(() => fill.call(device, storage, number));
      };
      device.copy = (target, source) => {
        if (!this.depth) this.steps.push({ kind: "copy", target: this.view(target), source: this.view(source) });
        this.run(() => copy.call(device, target, source));
      };
      device.upload = (elements, dtype, op) => {
        if (this.depth) return upload.call(device, elements, dtype, op);
        const kept: Elements = elements.slice(),
          storage = this.within(() => upload.call(device, elements, dtype, op));
        this.brought.set(storage, kept);
        return storage;
      };
      device.download = (storage, start, end) => {
        this.refuseReading();
        return download.call(device, storage, start, end);
      };
    }
  }

  stop(): void {
    if (capturing === this) captureInto(null);
    for (const [device, own] of this.own) Object.assign(device, own);
    this.own.clear();
  }

  /** Whether it listens still: nobody else took its place. */
  get listening(): boolean {
    return capturing === this;
  }

  private run(work: () => void): void {
    if (this.depth || !this.rehearsing) this.within(work);
  }
  private refuseReading(): void {
    this.refuse("a value is read");
    if (this.rehearsing) throw new OpError(`${this.purpose}: ${this.trouble!}`);
  }

  private within<T>(work: () => T): T {
    this.depth++;
    try {
      return work();
    } finally {
      this.depth--;
    }
  }

  // --- Values -----------------------------------------------------------------------------------------

  private add({ device, dtype, length }: Storage, source: Source): number {
    const number = this.values.length;
    this.values.push({ number, source, device, dtype, length });
    return number;
  }

  /** Memory that is none of the function's own. */
  give(storage: Storage, source: Source): number {
    const number = this.add(storage, source);
    this.given.set(storage, number);
    this.held.set(storage, number);
    return number;
  }

  /** What a storage holds now. */
  value(storage: Storage): number {
    const number = this.held.get(storage),
      elements = this.brought.get(storage);
    if (number !== undefined) return number;
    if (!elements) return this.give(storage, { kind: "captured", storage, departures: storage.departures });
    const constant = this.add(storage, { kind: "constant", elements, storage });
    this.held.set(storage, constant);
    return constant;
  }

  /** Memory that holds a value. */
  holder(value: number): Storage | null {
    for (const [storage, number] of this.held) if (number === value && !storage.disposed) return storage;
    return null;
  }

  private view({ storage, dtype, shape, strides, offset }: Strided): View {
    return { value: this.value(storage), dtype, shape, strides, offset };
  }
  viewOf({ storage, dtype, shape, strides, offset }: Tensor): View {
    return this.view({ storage, dtype, shape, strides, offset });
  }
  /** Whether a tensor was made inside. */
  forms(x: Tensor): boolean {
    return this.inside.has(x);
  }
  /** What a leaf is in the program. */
  leaf(x: Tensor): Leaf {
    const index = this.inputs.indexOf(x);
    return index < 0 ? x : index;
  }
  /** Whether memory was there before. */
  gives(storage: Storage): boolean {
    return this.given.has(storage);
  }

  private draw(words: RandomWords): number {
    const number = this.drawn.get(words);
    if (number === undefined) this.refuse("random numbers are used again that were drawn before");
    return number ?? -1;
  }

  private copied(target: number, source: number): void {
    const all = (value: number): View => ({ value, ...contiguous(this.values[value]!) });
    this.steps.push({ kind: "copy", target: all(target), source: all(source) });
  }
  /** A copy of a value. */
  private aside(value: number): number {
    const copy = this.values.length;
    this.values.push({ ...this.values[value]!, number: copy, source: { kind: "made" } });
    this.copied(copy, value);
    return copy;
  }

  /** Brings what given storages hold in the end to where it is looked for. */
  settle(): void {
    const away = [...this.given].filter(([storage, number]) => this.held.get(storage) !== number),
      homes = new Set(away.map(([, number]) => number));
    const moves = away.map(([storage, home]) => {
      const now = this.held.get(storage)!;
      return { home, from: homes.has(now) ? this.aside(now) : now };
    });
    for (const { home, from } of moves) this.copied(home, from);
    for (const [storage, number] of this.given) this.held.set(storage, number);
    // A gradient that a leaf had is looked for at the leaf.
    for (const [of, { before, set }] of this.leaves) {
      const number = before && this.given.get(before.storage);
      if (typeof number !== "number" || this.values[number]!.source.kind !== "captured") continue;
      if (set) this.refuse("a gradient is replaced, and what it was is used");
      this.values[number]!.source = { kind: "gradient", of: this.leaf(of) };
    }
  }

  // --- What it is told --------------------------------------------------------------------------------

  made(storage: Storage): void {
    if (!this.depth) this.held.set(storage, this.add(storage, { kind: "made" }));
  }
  formed(tensor: Tensor): void {
    this.inside.add(tensor);
  }
  changed(storage: Storage): void {
    this.changes++;
    if (this.depth) return;
    const { kept } = storage;
    if (this.rehearsing) storage.kept = null;
    this.undo?.(() => {
      storage.version--;
      storage.kept = kept;
    });
    const now = this.value(storage),
      number = this.given.get(storage);
    if (number !== undefined) this.steps.push({ kind: "change", value: number });
    if (this.values[now]!.source.kind === "constant") this.held.set(storage, this.aside(now));
  }
  swapped(a: Storage, b: Storage): boolean {
    const first = this.value(a),
      second = this.value(b);
    this.held.set(a, second);
    this.held.set(b, first);
    return !this.rehearsing;
  }
  read(storage: Storage): void {
    if (!this.depth && storage !== this.spared) this.refuseReading();
  }
  gradient(of: Tensor, set: boolean): void {
    if (set) this.changes++;
    if (this.depth || this.leaves.has(of)) return;
    this.depth++;
    this.leaves.set(of, { before: null, set });
    const hidden = of.hiddenGradient(),
      before = this.rehearsing ? of.grad : of.ownGradient(); // which nobody gives back who sees that it was asked for
    this.depth--;
    if (!this.forms(of))
      this.undo?.(() => {
        if (hidden) of.adoptGradient(hidden);
        else of.grad = before;
      });
    this.leaves.set(of, { before, set });
    if (before && !set) this.value(before.storage);
  }
  uses(tensors: readonly (Tensor | null)[]): void {
    for (let x of tensors) {
      while (x?.base && this.forms(x)) x = x.base;
      if (x && !x.weak && !this.forms(x) && !this.tensors.has(x)) this.tensors.set(x, layoutOf(x));
    }
  }
  drawing(source: RandomSource): void {
    const before = Object.entries(source).map(
      ([key, value]) => [key, ArrayBuffer.isView(value) ? (value as Uint32Array).slice() : value] as const,
    );
    this.undo?.(() => {
      for (const [key, value] of before)
        if (ArrayBuffer.isView(value)) (source[key as never] as Uint32Array).set(value as Uint32Array);
        else Object.assign(source, { [key]: value });
    });
  }
  drew(words: RandomWords, source: RandomSource | null): void {
    this.drawn.set(words, this.draws.length);
    this.draws.push(source);
    this.words.push(words);
  }
  reached(module: object, kept: KeptByModule): void {
    if (!this.modules.has(module)) this.modules.set(module, moduleSeen(module, kept));
  }
  asked(storage: Storage, offset: number, refusal: string): void {
    this.steps.push({ kind: "check", value: this.value(storage), offset, refusal });
    this.spared = storage;
    // whole numbers of 64 bits are kept as such
    if (this.rehearsing) storage.elements.fill((storage.dtype === "int64" ? 1n : 1) as number, offset, offset + 1);
  }
  blamed(storage: Storage, by: Storage): void {
    this.steps.push({ kind: "blame", value: this.value(storage), by: this.value(by) });
  }
  stepping(optimizer: Stepping, hooks: readonly ReadonlySet<unknown>[], fed: boolean, update: () => void): void {
    this.changes++;
    this.undo?.(restoring(optimizer));
    update();
    const step = stepOf(optimizer, hooks, fed);
    if (hooks.some((set) => set.size > 0)) this.refuse(`${step.name}() calls hooks`);
    this.host(step);
  }
  launching(name: string, how: Launching): number {
    return this.host(launchesOf(name, how));
  }
  host(step: HostStep): number {
    if (this.late && !step.late) this.refuse(`${step.name} comes after a step of a scheduler`);
    if (step.late) this.late = true;
    return this.hosts.push(step) - 1;
  }
  again(name: string, action: () => void): void {
    if (this.hosting) return action();
    this.host({ name, late: true, next: () => ({ numbers: [], commit: action }) });
    if (this.rehearsing) return;
    this.hosting = true;
    try {
      action();
    } finally {
      this.hosting = false;
    }
  }
  feed(host: number, list: number): void {
    this.fed = host < 0 ? null : { host, list };
  }
  apart<T>(work: () => T): T {
    captureInto(null);
    try {
      return this.within(work);
    } finally {
      captureInto(this);
    }
  }
  sideEffect(): void {
    this.sideEffects ??= `a hook answers nothing, and what else it does a replay would not, at ${programLines() ?? "an unknown line"}`;
  }
  refuse(why: string): void {
    this.trouble ??= `${why} at ${programLines() ?? "an unknown line"}`;
  }
}
