// Results that require gradients: a node of the tape whose way back is a captured list of steps, and how that is recorded.

import { AutogradError } from "../base/errors.js";
import { contiguousStrides, frozen } from "../base/shape.js";
import { grad } from "../autograd/engine.js";
import type { RandomWords } from "../devices/device.js";
import { isRecording } from "../tape/grad-mode.js";
import { AccumulateGrad, type Grad, Node } from "../tape/node.js";
import { filledOn } from "../tensor/allocate.js";
import { cast, clone, isPlain } from "../tensor/copy.js";
import { Tensor } from "../tensor/tensor.js";
import { type Program, type WayBack, leafIn, touched } from "./program.js";
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

/** Goes the way back once, with gradients of ones; the error where somebody went it already. */
function gone(roots: readonly Tensor[], targets: readonly Tensor[], starts: readonly Tensor[]): Grad[] | AutogradError {
  try {
    return grad(roots, targets, { grad_outputs: starts, retain_graph: true, allow_unused: true });
  } catch (error) {
    if (error instanceof AutogradError) return error;
    throw error;
  }
}

/** Records the way back from those of `roots` that have one still. */
export function recordWayBack(
  recorder: Recorder,
  roots: readonly Tensor[],
  given: readonly Tensor[],
): Pick<Program, "roots" | "back"> {
  const inputs = given.filter((x, i) => x.requires_grad && given.indexOf(x) === i),
    none = { roots: [], back: null };
  const targets = [...inputs, ...leavesOf(recorder, roots, inputs)];
  if (recorder.trouble) return none;
  const ones = (x: Tensor): Tensor => filledOn(x.storage.device, x.shape, 1, x.dtype, "compiled");
  if (recorder.undo) recorder.listen(); // nothing shall run
  const spent = roots.map((x) => gone([x], targets, [ones(x)])).map((found) => (Array.isArray(found) ? null : found));
  recorder.stop();
  const live = roots.filter((_, i) => !spent[i]),
    numbers = roots.map((x, i) => spent[i] ?? live.indexOf(x));
  if (!live.length) return { roots: numbers, back: null };
  const starts = live.map(ones);
  starts.forEach(({ storage }, index) => recorder.give(storage, { kind: "cotangent", index }));
  recorder.steps = [];
  recorder.listen();
  let made: Grad[] | AutogradError;
  try {
    made = gone(live, targets, starts);
    // What comes back as it came belongs to whoever sent it.
    if (Array.isArray(made)) made = made.map((x) => (x && recorder.gives(x.storage) ? clone(x) : x));
  } finally {
    recorder.stop();
  }
  if (!Array.isArray(made)) throw made;
  const { steps } = recorder;
  if (steps.some(({ kind }) => kind === "change" || kind === "check")) recorder.refuse("the way back changes tensors");
  const ends = made.map((gradient, i) => ({
    to: i < inputs.length ? given.indexOf(inputs[i]!) : targets[i]!,
    gradient: gradient && recorder.viewOf(gradient),
  }));
  if (recorder.trouble) return none;
  return { roots: numbers, back: { steps, roots: starts.map((x) => recorder.viewOf(x)), targets: ends } };
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
  /** The memory that the way back reads of what is not the call's own, and the version that it had. */
  private readonly versions: readonly (readonly [value: number, version: number])[];
  private gone = false;

  constructor(
    private readonly program: Program & { readonly back: WayBack },
    private readonly segment: Segment,
    private readonly memory: Memory,
    private readonly saved: readonly number[],
    given: readonly Tensor[],
    private readonly draws: readonly RandomWords[],
  ) {
    super();
    const { values, back } = program;
    this.label = `${program.name}Backward`;
    for (const { to } of back.targets) this.link(leafIn(to, given));
    const read = new Set<number>();
    for (const step of back.steps)
      for (const value of touched(step).reads) if (!/made|cotangent/.test(values[value]!.source.kind)) read.add(value);
    this.versions = [...read].map((value) => [value, memory[value]!.version] as const);
  }

  apply(grads: readonly Grad[]): Grad[] {
    const { program, memory } = this,
      { values, back } = program,
      { roots, targets } = back;
    if (this.gone) {
      throw new AutogradError(
        `${this.label}: Trying to backward through the graph a second time (or directly access saved tensors after they ` +
          "have already been freed). Specify retain_graph=True if you need to backward through the graph a second time.",
      );
    }
    if (isRecording())
      throw new AutogradError(`${this.label}: a compiled function's gradients cannot be differentiated again`);
    for (const [value, version] of this.versions) {
      if (memory[value]!.version === version) continue;
      throw new AutogradError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: a tensor that " +
          `${program.name} used is at version ${memory[value]!.version}; expected version ${version} instead.`,
      );
    }
    const now = memory.slice(),
      made: Tensor[] = [];
    roots.forEach(({ value, dtype, shape }, i) => {
      const { device } = values[value]!,
        grad = grads[i];
      const plain = grad
        ? cast(isPlain(grad) ? grad : clone(grad), dtype, program.name)
        : filledOn(device, shape, 0, dtype, program.name);
      if (plain !== grad) made.push(plain);
      now[value] = plain.storage;
    });
    const answers = targets.map(({ gradient }) => {
      if (!gradient) return null;
      const { value, dtype, shape, strides, offset } = gradient,
        { device, length } = values[value]!;
      now[value] ??= device.allocate(dtype, length, this.label);
      return new Tensor(now[value], dtype, frozen(shape), strides ?? contiguousStrides(shape), offset);
    });
    this.segment.run(now, this.draws);
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
