// Results that require gradients: a node of the tape whose way back is a captured list of steps, and how that is recorded.

import { AutogradError } from "../base/errors.js";
import { contiguousStrides, frozen } from "../base/shape.js";
import { addGradients } from "../autograd/accumulate.js";
import { grad } from "../autograd/gradients.js";
import type { RandomWords } from "../devices/device.js";
import { isRecording } from "../tape/grad-mode.js";
import { AccumulateGrad, type Grad, Node } from "../tape/node.js";
import { filledOn } from "../tensor/allocate.js";
import { cast, clone, isPlain } from "../tensor/copy.js";
import { Tensor } from "../tensor/tensor.js";
import { type Program, type WayBack, leafIn } from "./program.js";
import type { Recorder } from "./recorder.js";
import type { Memory, Segment } from "./segment.js";

/** The leaves that gradients of `roots` come to, not through `inputs`. */
function leavesOf(recorder: Recorder, roots: readonly Tensor[], inputs: readonly Tensor[]): Tensor[] {
  const ends = new Set(inputs.map((x) => x.currentNode() ?? x.accumulator).filter((node) => node !== null)),
    seen = new Set<Node>(),
    leaves: Tensor[] = [],
    waiting = roots.map((x) => x.currentNode()!);
  while (waiting.length) {
    const node = waiting.pop()!;
    if (seen.has(node) || ends.has(node as AccumulateGrad)) continue;
    seen.add(node);
    if (node.hooks?.size || node.retained?.size) recorder.refuse("gradients go through hooks, or are kept");
    if (node instanceof AccumulateGrad) leaves.push(node.variable);
    for (const next of node.next) if (next) waiting.push(next);
  }
  return leaves;
}

/** Of so many results at most each has a way back of its own. */
const MOST_APART = 32;

/** Records the way back from those of `roots` that have one still. */
export function recordWayBack(
  recorder: Recorder,
  roots: readonly Tensor[],
  given: readonly Tensor[],
): Pick<Program, "roots" | "back" | "apart"> {
  const inputs = given.filter((x, i) => x.requires_grad && given.indexOf(x) === i),
    none = { roots: [], back: null, apart: [] };
  const targets = [...inputs, ...leavesOf(recorder, roots, inputs)];
  if (recorder.trouble) return none;
  /** The way back from some of them by these numbers; the error where somebody went it already. */
  const recorded = (from: readonly Tensor[], numbers: readonly number[]): WayBack | AutogradError => {
    let starts: Tensor[], made: Grad[];
    recorder.steps = []; // those until now are the program's
    recorder.listen(); // nothing shall run where that is a rehearsal
    try {
      starts = from.map((x) => filledOn(x.storage.device, x.shape, 1, x.dtype, "compiled"));
      starts.forEach(({ storage }, i) => recorder.give(storage, { kind: "cotangent", index: numbers[i]! }));
      recorder.steps = [];
      const options = { grad_outputs: starts, retain_graph: true, allow_unused: true };
      // What comes back as it came belongs to whoever sent it.
      made = grad(from, targets, options).map((x) => (x && recorder.gives(x.storage) ? clone(x) : x));
    } catch (error) {
      if (error instanceof AutogradError) return error;
      throw error;
    } finally {
      recorder.stop();
    }
    const { steps } = recorder;
    if (steps.some(({ kind }) => kind === "change" || kind === "check"))
      recorder.refuse("the way back changes tensors");
    return {
      steps,
      roots: starts.map((x, i) => [numbers[i]!, recorder.viewOf(x)]),
      targets: made.map((gradient, i) => ({
        to: i < inputs.length ? given.indexOf(inputs[i]!) : targets[i]!,
        gradient: gradient && recorder.viewOf(gradient),
      })),
    };
  };
  let count = 0;
  const alone = roots.map((x) => {
    const way = recorded([x], [count]);
    if (!(way instanceof AutogradError)) count++;
    return way;
  });
  const live = roots.filter((_, i) => !(alone[i] instanceof AutogradError)),
    apart = alone.filter((way): way is WayBack => !(way instanceof AutogradError)),
    numbers = alone.map((way) => (way instanceof AutogradError ? way : apart.indexOf(way)));
  const back = count > 1 ? recorded(live, [...live.keys()]) : (apart[0] ?? null);
  if (recorder.trouble) return none;
  if (back instanceof AutogradError) throw back;
  return { roots: numbers, back, apart: count > 1 && count <= MOST_APART ? apart : [] };
}

/** A way back that is ready to be gone.  reads: the memory of others that it reads; inner: what it makes on the way. */
export interface ReadyWay {
  readonly back: WayBack;
  readonly segment: Segment;
  readonly reads: readonly number[];
  readonly inner: ReadonlySet<number>;
}

/** Where a compiled call's gradients go: from all results, or from one by its number. */
export interface Ways {
  readonly whole: ReadyWay;
  alone(root: number): ReadyWay | null;
  /** All memory of others that any of them reads. */
  readonly reads: readonly number[];
}

/** What a call leaves on the tape whose function went the way back itself. */
export class SpentNode extends Node {
  constructor(
    readonly label: string,
    private readonly error: AutogradError,
  ) {
    super();
  }
  apply(): Grad[] {
    throw new AutogradError(this.error.message);
  }
}

/** What a compiled call leaves on the tape. */
export class CompiledNode extends Node {
  readonly label: string;
  /** The memory of others that a way back reads, and the version that it had. */
  private readonly versions: ReadonlyMap<number, number>;
  private gone = false;

  constructor(
    private readonly program: Program,
    private readonly ways: Ways,
    private readonly memory: Memory,
    private readonly saved: readonly number[],
    given: readonly Tensor[],
    private readonly draws: readonly RandomWords[],
  ) {
    super();
    this.label = `${program.name}Backward`;
    for (const { to } of ways.whole.back.targets) this.link(leafIn(to, given));
    this.versions = new Map(ways.reads.map((value) => [value, memory[value]!.version]));
  }

  apply(grads: readonly Grad[]): Grad[] {
    if (this.gone) {
      throw new AutogradError(
        `${this.label}: Trying to backward through the graph a second time (or directly access saved tensors after they ` +
          "have already been freed). Specify retain_graph=True if you need to backward through the graph a second time.",
      );
    }
    if (isRecording())
      throw new AutogradError(`${this.label}: a compiled function's gradients cannot be differentiated again`);
    const { whole } = this.ways,
      asked = whole.back.roots.filter(([root]) => grads[root]).map(([root]) => this.ways.alone(root)),
      several = asked.length > 0 && asked.length < whole.back.roots.length && asked.every((way) => way !== null),
      chosen = several ? asked : [whole];
    for (const { reads } of chosen) this.check(reads);
    return chosen
      .map((way) => this.go(way, grads))
      .reduce((sum, next) => sum.map((x, i) => (x && next[i] ? addGradients(x, next[i]) : (x ?? next[i]!))));
  }

  private check(reads: readonly number[]): void {
    for (const value of reads) {
      const { version } = this.memory[value]!,
        expected = this.versions.get(value);
      if (version === expected) continue;
      throw new AutogradError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: a tensor that " +
          `${this.program.name} used is at version ${version}; expected version ${expected} instead.`,
      );
    }
  }

  private go({ back: { roots, targets }, segment, inner }: ReadyWay, grads: readonly Grad[]): Grad[] {
    const { name, values } = this.program,
      now = this.memory.slice(),
      made: Tensor[] = [];
    for (const value of inner) now[value] = segment.fixed[value]!;
    for (const [root, { value, dtype, shape }] of roots) {
      const { device } = values[value]!,
        grad = grads[root];
      const plain = grad
        ? cast(isPlain(grad) ? grad : clone(grad), dtype, name)
        : filledOn(device, shape, 0, dtype, name);
      if (plain !== grad) made.push(plain);
      now[value] = plain.storage;
    }
    const answers = targets.map(({ gradient }) => {
      if (!gradient) return null;
      const { value, dtype, shape, strides, offset } = gradient,
        { device, length } = values[value]!;
      now[value] ??= device.allocate(dtype, length, this.label);
      return new Tensor(now[value], dtype, frozen(shape), strides ?? contiguousStrides(shape), offset);
    });
    segment.run(now, this.draws);
    for (const tensor of made) tensor.dispose();
    return answers;
  }

  override release(): void {
    if (this.gone) return;
    this.gone = true;
    for (const value of this.saved) this.memory[value]!.release();
    this.memory.length = 0;
  }
}
