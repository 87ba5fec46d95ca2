// Runs captured programs: everything that can be is made once, a replay is a loop over steps.

import type { HostStep, Numbers } from "../base/capturing.js";
import type { RandomWords } from "../devices/device.js";
import { nextCall } from "../elements/random.js";
import type { Call } from "../../host/model.js";
import { attach } from "../tape/node.js";
import { keep } from "../tensor/memory.js";
import type { Storage } from "../tensor/storage.js";
import { Tensor } from "../tensor/tensor.js";
import { joinedSteps } from "./fuse.js";
import type { Blocks } from "./memory-plan.js";
import {
  type Leaf,
  type Program,
  type Result,
  type Step,
  type Value,
  type WayBack,
  leafIn,
  neededFor,
  touched,
} from "./program.js";
import { type Memory, Segment } from "./segment.js";
import { CompiledNode, type ReadyWay, SpentNode, type Ways } from "./way-back.js";

/** What a replay answers where it could not run, with nothing done. */
export const MISSED = Symbol("missed");

export class Replay {
  readonly forward: Segment;
  readonly backward: Segment | null;
  private readonly ways: Ways | null;
  /** The values that are needed after the steps of each. */
  readonly lasting: { readonly forward: ReadonlySet<number>; readonly backward: ReadonlySet<number> };
  /** The memory of values that is the same at every replay. */
  private readonly fixed: Memory;
  /** The program's, and what passes between kernels of one of its steps. */
  readonly values: readonly Value[];
  /** Values that are made anew for each replay: results, and what the way back needs. */
  private readonly fresh: readonly number[];
  /** Those of them that no result holds. */
  private readonly saved: readonly number[];
  private readonly inputs: readonly (readonly [value: number, index: number])[];
  private readonly gradients: readonly (readonly [value: number, of: Leaf])[];
  /** Gradients that replays left, which they take again where nobody else has seen them. */
  private readonly left: (Tensor | null)[];
  private readonly reusable: readonly boolean[];
  count = 0;

  /** `blocks`: where what is needed between steps lies. */
  constructor(
    readonly program: Program,
    blocks: Blocks,
  ) {
    const { steps, back, apart, result, gradients } = program,
      values = [...program.values],
      results = new Set<number>(),
      leaving = gradients.flatMap(({ view }) => (view ? [view.value] : []));
    viewsOf(result, results);
    const returned = back ? returnedBy(back) : new Set<number>(),
      outside = new Set(values.flatMap(({ number, source }) => (source.kind === "made" ? [] : [number]))),
      after = new Set([...outside, ...returned]),
      behindSteps = back && joinedSteps(values, back.steps, after),
      used = new Set<number>();
    for (const step of behindSteps ?? []) {
      const { reads, writes } = touched(step);
      for (const value of [...reads, ...writes]) used.add(value);
    }
    const ahead = new Set<number>();
    for (const step of steps) {
      const { reads, writes } = touched(step);
      for (const value of [...reads, ...writes]) ahead.add(value);
    }
    // Ways back from single results are made ready when they are first gone; what they need is kept for them.
    for (const way of apart)
      for (const value of neededFor(returnedBy(way), way.steps))
        if (ahead.has(value) || outside.has(value)) used.add(value);
    const lasting = new Set([...outside, ...results, ...leaving, ...used]),
      aheadSteps = joinedSteps(values, steps, lasting);
    for (const step of aheadSteps)
      for (const value of [...touched(step).reads, ...touched(step).writes]) ahead.add(value);
    const fixed: Memory = values.map(() => null),
      fresh: number[] = [],
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
    this.lasting = { forward: lasting, backward: after };
    this.fixed = fixed;
    this.values = values;
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
    const whole = { ...program, values };
    this.forward = new Segment(whole, aheadSteps, inner, fixed, blocks);
    this.backward = behindSteps && new Segment(whole, behindSteps, behind, fixed, blocks);
    this.ways = back && this.waysBack(whole, back, this.backward!, behind, [...used], blocks);
  }

  /** used: the values that any way back takes. */
  private waysBack(
    program: Program,
    back: WayBack,
    segment: Segment,
    inner: ReadonlySet<number>,
    used: readonly number[],
    blocks: Blocks,
  ): Ways {
    const { values } = this,
      reads = used.filter((value) => !/made|cotangent/.test(values[value]!.source.kind)),
      ready = new Map<number, ReadyWay>(),
      { apart } = program;
    const alone = (root: number): ReadyWay | null => {
      const known = ready.get(root),
        own = apart[root];
      if (known || !own) return known ?? null;
      const returned = returnedBy(own),
        needed = neededFor(returned, own.steps),
        steps = joinedSteps(this.values as Value[], own.steps, new Set([...this.lasting.forward, ...returned])),
        made = new Set<number>();
      for (const step of steps)
        for (const value of touched(step).writes)
          if (!this.lasting.forward.has(value) && !returned.has(value)) made.add(value);
      const way = {
        back: own,
        segment: new Segment(program, steps, made, this.fixed, blocks),
        reads: reads.filter((value) => needed.has(value)),
        inner: made,
      };
      ready.set(root, way);
      return way;
    };
    return { whole: { back, segment, reads, inner }, alone, reads };
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
    this.leave(memory, given);
    this.count++;
    return this.answer(memory, given, draws);
  }

  /** The memory of a replay: what is given, and new memory for what goes out. */
  private memory(given: readonly Tensor[]): Memory {
    const memory = this.fixed.slice(),
      { values, gradients } = this.program;
    for (const [value, index] of this.inputs) memory[value] = given[index]!.storage;
    for (const [value, of] of this.gradients) memory[value] = leafIn(of, given).ownGradient()!.storage;
    for (const value of this.fresh) {
      const { device, dtype, length } = values[value]!;
      memory[value] = device.allocate(dtype, length, this.program.name);
    }
    gradients.forEach(({ of, view }, i) => {
      if (!view || memory[view.value]) return;
      const before = this.left[i],
        again = this.reusable[i] && before && leafIn(of, given).hiddenGradient() === before && !before.storage.shared;
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

  /** Leaves the gradients that the function leaves, and what requires them. */
  private leave(memory: Memory, given: readonly Tensor[]): void {
    for (const [index, requires_grad] of this.program.marked) given[index]!.requires_grad_(requires_grad);
    this.program.gradients.forEach(({ of, view }, i) => {
      const leaf = leafIn(of, given);
      if (!view) leaf.grad = null;
      else if (!this.left[i] || leaf.hiddenGradient() !== this.left[i]) {
        const { value, dtype, shape, strides, offset } = view;
        leaf.adoptGradient(keep(new Tensor(memory[value]!, dtype, shape, strides, offset)));
        this.left[i] = leaf.hiddenGradient();
      }
    });
  }

  private answer(memory: Memory, given: readonly Tensor[], draws: readonly RandomWords[]): unknown {
    const { result, back, roots, name } = this.program,
      made: Tensor[] = [];
    const node = back && new CompiledNode(this.program, this.ways!, memory, this.saved, given, draws);
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
    for (const [value, of] of this.gradients) memory[value] = leafIn(of, given).ownGradient()!.storage;
    return memory;
  }

  /** The calls that host steps would feed now; null where they would launch something else. */
  feeds(): Map<Step, Call> | null {
    const next = this.next(this.program.hosts);
    return next && this.forward.feed(next.map(({ numbers }) => numbers)) ? this.forward.fed : null;
  }

  /** Runs on memory of its own where `before` is changed, and answers what all values hold then. */
  aside(before: Memory, copies: ReadonlyMap<number, Storage>, draws: readonly RandomWords[]): Memory {
    const { values } = this,
      memory = before.slice();
    for (const [value, storage] of copies) memory[value] = storage;
    for (const { number, source, device, dtype, length } of values)
      if (source.kind === "made" && !memory[number]) memory[number] = device.allocate(dtype, length, this.program.name);
    this.forward.run(memory, draws, true);
    this.count++;
    return memory;
  }
}

/** The values of the gradients at the ends of a way back. */
const returnedBy = ({ targets }: WayBack): Set<number> =>
  new Set(targets.flatMap(({ gradient }) => (gradient ? [gradient.value] : [])));

/** The values that go out in a result. */
export function viewsOf(result: Result, into: Set<number>): void {
  if (result.kind === "tensor") {
    into.add(result.view.value);
    if (result.gradient) into.add(result.gradient.value);
  } else if (result.kind === "list") for (const item of result.items) viewsOf(item, into);
  else if (result.kind === "named") for (const item of Object.values(result.items)) viewsOf(item, into);
}
