// Runs captured programs: everything that can be is made once, a replay is a loop over steps.

import type { HostStep, Numbers } from "../base/capturing.js";
import { OpError } from "../base/errors.js";
import type { Prepared, RandomWords, Strided } from "../devices/device.js";
import { nextCall } from "../elements/random.js";
import type { Call } from "../../host/model.js";
import { rebound } from "../../fusion/work.js";
import { bind_with } from "../../host/binding.js";
import { attach } from "../tape/node.js";
import { keep } from "../tensor/memory.js";
import type { Storage } from "../tensor/storage.js";
import { Tensor } from "../tensor/tensor.js";
import { sameNumbers } from "./agree.js";
import { joinedSteps } from "./fuse.js";
import { type Slot, occupy, shareOut } from "./memory-plan.js";
import { type Program, type Result, type RunStep, type Step, type View, touched } from "./program.js";
import { CompiledNode, SpentNode } from "./way-back.js";

/** The memory of each value during a replay. */
export type Memory = (Storage | null)[];

/** A launch with the memory that never changes in place. */
interface Launch {
  readonly step: RunStep;
  prepared: Prepared;
  readonly storages: (Storage | null)[];
  /** Slots whose memory is another one at each replay: slot, value, slot, value, ... */
  readonly moving: readonly number[];
  /** The numbers that `prepared` has, and the calls: of each part. */
  numbers: Numbers[] | null;
  calls: Call[];
}

type Ready = Launch | Exclude<Step, RunStep>;

const NONE: readonly Storage[] = [];

/** Steps in order, and the memory of the values that only they need. */
export class Segment {
  readonly slots: readonly Slot[];
  private readonly ready: readonly Ready[];
  /** On devices that tell later what is wrong: the memory that a step begins to use. */
  private readonly begins = new Map<Ready, Storage[]>();

  /** `fixed`: the memory of values that is always the same; what `inner` are is added to it. */
  constructor(
    private readonly program: Program,
    readonly steps: readonly Step[],
    inner: ReadonlySet<number>,
    fixed: Memory,
  ) {
    const { values } = program;
    this.slots = shareOut(values, steps, inner);
    occupy(this.slots, values, (value, storage) => {
      fixed[value] = storage;
    });
    this.ready = steps.map((step) => {
      if (step.kind !== "run") return step;
      const moving = step.slots.flatMap((value, slot) => (value >= 0 && !fixed[value] ? [slot, value] : []));
      return {
        step,
        prepared: step.prepared,
        storages: step.slots.map((value) => (value < 0 ? null : (fixed[value] ?? null))),
        moving,
        numbers: null,
        calls: (step.joined?.parts ?? [step]).map((part) =>
          part.kind === "run" ? part.prepared.call : step.prepared.call,
        ),
      };
    });
    for (const { device, lives } of this.slots) {
      if (!device.forgive) continue;
      for (const { value, from } of lives) {
        const ready = this.ready[from]!,
          known = this.begins.get(ready);
        if (known) known.push(fixed[value]!);
        else this.begins.set(ready, [fixed[value]!]);
      }
    }
  }

  get bytes(): number {
    return this.slots.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Puts new numbers into the launches that host steps feed; false, with nothing done, where a launch has no place. */
  feed(lists: readonly (readonly Numbers[])[]): boolean {
    const changed: [Launch, Prepared, Numbers[], Call[]][] = [];
    for (const ready of this.ready) {
      if (!("step" in ready) || !ready.step.fed) continue;
      const { step } = ready,
        parts = step.joined?.parts ?? [step],
        numbers: Numbers[] = [];
      for (const part of parts) {
        const fed = part.kind === "run" ? part.fed : null,
          own = fed ? lists[fed.host]?.[fed.list] : {};
        if (!own) return false;
        numbers.push(own);
      }
      if (ready.numbers && numbers.every((own, i) => sameNumbers(ready.numbers![i]!, own))) continue;
      const calls = parts.map((part, i) =>
          part.kind === "run" && part.fed ? called(part.prepared, numbers[i]!) : ready.calls[i]!,
        ),
        call = step.joined ? rebound(step.joined.work, calls) : calls[0]!,
        next =
          call && this.program.values[step.slots.find((value) => value >= 0)!]!.device.reword(ready.prepared, call);
      if (!next) return false;
      changed.push([ready, next, numbers, calls]);
    }
    for (const [launch, prepared, numbers, calls] of changed) Object.assign(launch, { prepared, numbers, calls });
    return true;
  }

  /** The calls of the steps that host steps feed. */
  get fed(): Map<Step, Call> {
    const found = new Map<Step, Call>();
    for (const ready of this.ready) {
      if (!("step" in ready) || !ready.step.fed) continue;
      (ready.step.joined?.parts ?? [ready.step]).forEach((part, i) => found.set(part, ready.calls[i]!));
    }
    return found;
  }

  /** `apart`: nothing is where it was when this was made. */
  run(memory: Memory, draws: readonly RandomWords[], apart = false): void {
    const { values } = this.program;
    for (const ready of this.ready) {
      for (const storage of this.begins.get(ready) ?? NONE) storage.device.forgive!(storage);
      if ("step" in ready) {
        const { step, prepared, moving } = ready,
          storages = apart ? step.slots.map((value) => (value < 0 ? null : memory[value]!)) : ready.storages;
        for (let i = 0; i < moving.length; i += 2) storages[moving[i]!] = memory[moving[i + 1]!]!;
        const first = step.slots.find((value) => value >= 0)!;
        values[first]!.device.execute(prepared, storages, step.draw < 0 ? null : draws[step.draw]!);
        for (let i = 0; i < moving.length; i += 2) storages[moving[i]!] = null;
        continue;
      }
      switch (ready.kind) {
        case "fill":
          memory[ready.value]!.device.fill(memory[ready.value]!, ready.number);
          break;
        case "copy": {
          const target = seen(ready.target, memory);
          target.storage.device.copy(target, seen(ready.source, memory));
          break;
        }
        case "change":
          memory[ready.value]!.change();
          break;
        case "check":
          if (memory[ready.value]!.elements[ready.offset] === 0) throw new OpError(ready.refusal);
          break;
        case "blame": {
          const by = memory[ready.by]!;
          by.device.blame?.(memory[ready.value]!, by.device.faultOf?.(by) ?? null);
        }
      }
    }
  }
}

const seen = ({ value, dtype, shape, strides, offset }: View, memory: Memory): Strided => ({
  storage: memory[value]!,
  dtype,
  shape,
  strides,
  offset,
});

/** A call with other numbers. */
function called({ op: { op, parts }, call }: Prepared, numbers: Numbers): Call {
  return bind_with(
    op,
    op.params.map(({ slot, name }) => {
      if (slot < 0) return numbers[name] ?? null;
      const { given, dtype, shape, strides, offset } = call.slots[slot]!;
      return given ? { dtype, shape: [...shape], strides: [...strides], offset, weak: false } : null;
    }) as never,
    parts,
  );
}

/** What a replay answers where it could not run, with nothing done. */
export const MISSED = Symbol("missed");

export class Replay {
  readonly forward: Segment;
  readonly backward: Segment | null;
  /** The memory of values that is the same at every replay. */
  private readonly fixed: Memory;
  /** Values that are made anew for each replay: results, and what the way back needs. */
  private readonly fresh: readonly number[];
  /** Those of them that no result holds. */
  private readonly saved: readonly number[];
  private readonly inputs: readonly (readonly [value: number, index: number])[];
  private readonly gradients: readonly (readonly [value: number, of: Tensor])[];
  /** Gradients that replays left, which they take again where nobody else has seen them. */
  private readonly left: (Tensor | null)[];
  private readonly reusable: readonly boolean[];
  count = 0;

  constructor(readonly program: Program) {
    const { values, steps, back, result, gradients } = program,
      fixed: Memory = values.map(() => null),
      results = new Set<number>(),
      leaving = gradients.flatMap(({ view }) => (view ? [view.value] : []));
    viewsOf(result, results);
    const returned = new Set((back?.targets ?? []).flatMap(({ gradient }) => (gradient ? [gradient.value] : []))),
      outside = new Set(values.flatMap(({ number, source }) => (source.kind === "made" ? [] : [number]))),
      behindSteps = back && joinedSteps(values, back.steps, new Set([...outside, ...returned])),
      used = new Set<number>();
    for (const step of behindSteps ?? []) {
      const { reads, writes } = touched(step);
      for (const value of [...reads, ...writes]) used.add(value);
    }
    const lasting = new Set([...outside, ...results, ...leaving, ...used]),
      aheadSteps = joinedSteps(values, steps, lasting),
      ahead = new Set<number>();
    for (const step of steps) {
      const { reads, writes } = touched(step);
      for (const value of [...reads, ...writes]) ahead.add(value);
    }
    const fresh: number[] = [],
      inner = new Set<number>(),
      behind = new Set<number>();
    for (const { number, source, device, dtype } of values) {
      if (source.kind === "captured") fixed[number] = source.storage;
      else if (source.kind === "constant") {
        const storage = device.upload(source.elements.slice(), dtype, "compiled");
        storage.retain();
        fixed[number] = storage;
      } else if (source.kind === "made") {
        if (results.has(number) || leaving.includes(number) || (used.has(number) && ahead.has(number)))
          fresh.push(number);
        else if (ahead.has(number)) inner.add(number);
        else if (!returned.has(number)) behind.add(number);
      }
    }
    this.fixed = fixed;
    this.fresh = fresh.filter((value) => !leaving.includes(value) || results.has(value));
    this.saved = fresh.filter((value) => used.has(value) && !results.has(value));
    this.inputs = values.flatMap(({ number, source }) =>
      source.kind === "input" ? [[number, source.index] as const] : [],
    );
    this.gradients = values.flatMap(({ number, source }) =>
      source.kind === "gradient" ? [[number, source.of] as const] : [],
    );
    this.left = gradients.map(() => null);
    this.reusable = gradients.map(
      ({ of, view }) =>
        view !== null &&
        !results.has(view.value) &&
        leaving.indexOf(view.value) === leaving.lastIndexOf(view.value) &&
        !this.gradients.some(([, leaf]) => leaf === of),
    );
    this.forward = new Segment(program, aheadSteps, inner, fixed);
    this.backward = behindSteps && new Segment(program, behindSteps, behind, fixed);
  }

  /** What host steps will do; null where one would do something else. */
  private next(hosts: readonly HostStep[]): { numbers: readonly Numbers[]; commit(): void }[] | null {
    const pending = new Map<object, object>(),
      out = [];
    for (const host of hosts) {
      const next = host.next(pending);
      if (!next) return null;
      out.push(next);
    }
    return out;
  }

  run(given: readonly Tensor[]): unknown {
    const { program } = this,
      next = program.hosts.length ? this.next(program.hosts) : [];
    if (!next || (next.length && !this.forward.feed(next.map(({ numbers }) => numbers)))) return MISSED;
    const memory = this.memory(given),
      draws = program.draws.map((source) => nextCall(source));
    this.forward.run(memory, draws);
    for (const { commit } of next) commit();
    this.leave(memory);
    this.count++;
    return this.answer(memory, given, draws);
  }

  /** The memory of a replay: what is given, and new memory for what goes out. */
  private memory(given: readonly Tensor[]): Memory {
    const memory = this.fixed.slice(),
      { values, gradients } = this.program;
    for (const [value, index] of this.inputs) memory[value] = given[index]!.storage;
    for (const [value, of] of this.gradients) memory[value] = of.ownGradient()!.storage;
    for (const value of this.fresh) {
      const { device, dtype, length } = values[value]!;
      memory[value] = device.allocate(dtype, length, this.program.name);
    }
    gradients.forEach(({ of, view }, i) => {
      if (!view || memory[view.value]) return;
      const before = this.left[i],
        again = this.reusable[i] && before && of.hiddenGradient() === before && !before.storage.shared;
      if (again) {
        memory[view.value] = before.storage;
        before.storage.device.forgive?.(before.storage);
      } else {
        const { device, dtype, length } = values[view.value]!;
        memory[view.value] = device.allocate(dtype, length, this.program.name);
        this.left[i] = null;
      }
    });
    for (const value of this.saved) memory[value]!.retain();
    return memory;
  }

  /** Leaves the gradients that the function leaves. */
  private leave(memory: Memory): void {
    this.program.gradients.forEach(({ of, view }, i) => {
      if (!view) of.grad = null;
      else if (!this.left[i] || of.hiddenGradient() !== this.left[i]) {
        const { value, dtype, shape, strides, offset } = view;
        of.adoptGradient(keep(new Tensor(memory[value]!, dtype, shape, strides, offset)));
        this.left[i] = of.hiddenGradient();
      }
    });
  }

  private answer(memory: Memory, given: readonly Tensor[], draws: readonly RandomWords[]): unknown {
    const { result, back, roots, name } = this.program,
      made: Tensor[] = [];
    const node = back && new CompiledNode({ ...this.program, back }, this.backward!, memory, this.saved, given, draws);
    const build = (of: Result): unknown => {
      switch (of.kind) {
        case "input":
          return given[of.index];
        case "again":
          return made[of.number];
        case "same":
          return of.value;
        case "list":
          return of.items.map(build);
        case "named": {
          const out = Object.create(Object.getPrototypeOf(of.like) as object | null) as Record<string, unknown>;
          for (const [name, item] of Object.entries(of.items)) out[name] = build(item);
          return out;
        }
        default: {
          const { value, dtype, shape, strides, offset } = of.view,
            tensor = new Tensor(memory[value]!, dtype, shape, strides, offset);
          made[of.number] = tensor;
          if (of.root >= 0) {
            const root = roots[of.root]!;
            if (typeof root === "number") attach(tensor, node!, root);
            else attach(tensor, new SpentNode(`${name}Backward`, root));
          }
          if (of.gradient)
            tensor.adoptGradient(
              new Tensor(
                memory[of.gradient.value]!,
                of.gradient.dtype,
                of.gradient.shape,
                of.gradient.strides,
                of.gradient.offset,
              ),
            );
          return tensor;
        }
      }
    };
    return build(result);
  }

  // --- Beside the function itself (verify.ts) ---------------------------------------------------------

  /** The memory of all that is given, as it is found now. */
  before(given: readonly Tensor[]): Memory {
    const memory = this.fixed.slice();
    for (const [value, index] of this.inputs) memory[value] = given[index]!.storage;
    for (const [value, of] of this.gradients) memory[value] = of.ownGradient()!.storage;
    return memory;
  }

  /** The calls that host steps would feed now; null where they would launch something else. */
  feeds(): Map<Step, Call> | null {
    const next = this.next(this.program.hosts);
    return next && this.forward.feed(next.map(({ numbers }) => numbers)) ? this.forward.fed : null;
  }

  /** Runs on memory of its own where `before` is changed, and answers what all values hold then. */
  aside(before: Memory, copies: ReadonlyMap<number, Storage>, draws: readonly RandomWords[]): Memory {
    const { values } = this.program,
      memory = before.slice();
    for (const [value, storage] of copies) memory[value] = storage;
    for (const { number, source, device, dtype, length } of values)
      if (source.kind === "made" && !memory[number]) memory[number] = device.allocate(dtype, length, this.program.name);
    this.forward.run(memory, draws, true);
    this.count++;
    return memory;
  }
}

/** The values that go out in a result. */
export function viewsOf(result: Result, into: Set<number>): void {
  if (result.kind === "tensor") {
    into.add(result.view.value);
    if (result.gradient) into.add(result.gradient.value);
  } else if (result.kind === "list") for (const item of result.items) viewsOf(item, into);
  else if (result.kind === "named") for (const item of Object.values(result.items)) viewsOf(item, into);
}
