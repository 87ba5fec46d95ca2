// mode "verify": the function itself runs, recorded, and its program is replayed on copies of what it found; results and
// what was changed in place are compared.

import { OpError } from "../base/errors.js";
import type { Elements } from "../program/compiled-op.js";
import { isFloat } from "../elements/dtype.js";
import type { Storage } from "../tensor/storage.js";
import { difference, sameNumbers } from "./agree.js";
import { recorded } from "./capture.js";
import type { Arguments } from "./guards.js";
import { type Program, type Step, touched } from "./program.js";
import { type Replay, viewsOf } from "./replay.js";

/** How far a float may be from its like: of rounding, which sums in another order round otherwise. */
const RELATIVE = 1e-4,
  ABSOLUTE = 1e-6;

/** Another storage with the same elements. */
function copied(storage: Storage): Storage {
  const { device, dtype, length } = storage,
    copy = device.allocate(dtype, length, "verify"),
    whole = (of: Storage) => ({ storage: of, dtype, shape: [length], strides: [1], offset: 0 });
  if (length) device.copy(whole(copy), whole(storage));
  copy.retain();
  return copy;
}

/** Runs the function beside a replay; `failed` gets the error where they differ once that is known. */
export function verified(
  name: string,
  replay: Replay,
  given: Arguments,
  run: () => unknown,
  failed: (error: Error) => void,
): unknown {
  const { program } = replay,
    before = replay.before(given.tensors),
    kept = new Map<number, Storage>();
  for (const value of changedBy(program)) kept.set(value, copied(before[value]!));
  const fed = replay.feeds();
  return recorded(name, given, run, (recording) => {
    const refuse = (what: string): never => {
      throw new OpError(`torch.compile: ${name} does not do again what was captured: ${what}`);
    };
    if (recording.trouble !== null) refuse(recording.trouble);
    const other = difference(program, recording.program);
    if (other !== null) refuse(other);
    const asked = (step: Step, i: number): boolean =>
      step.kind !== "run" || !step.fed || sameNumbers(step.prepared.call.env, fed!.get(program.steps[i]!)!.env);
    if (!fed || !recording.program.steps.every(asked)) refuse("an optimizer's step has other numbers");
    const memory = replay.aside(before, kept, recording.recorder.words),
      results = new Set<number>();
    viewsOf(program.result, results);
    for (const { view } of program.gradients) if (view) results.add(view.value);
    const pairs = [...results].flatMap((value) => {
      const wanted = recording.recorder.holder(value);
      return wanted ? [{ what: `result %${value}`, mine: memory[value]!, wanted: copied(wanted) }] : [];
    });
    for (const [value, mine] of kept)
      pairs.push({ what: `what is left in %${value}`, mine, wanted: copied(before[value]!) });
    Promise.all(
      pairs.map(async ({ what, mine, wanted }) => {
        const [a, b] = await Promise.all([
          mine.device.download(mine, 0, mine.length),
          wanted.device.download(wanted, 0, wanted.length),
        ]);
        const at = differing(a, b, isFloat(mine.dtype));
        wanted.release();
        if (at >= 0)
          throw new OpError(
            `torch.compile: ${name}: ${what} differs from what the function computes: ${a[at]} at element ${at}, where it is ${b[at]}`,
          );
      }),
    )
      .catch((error: Error) => {
        console.error(error.message);
        failed(error);
      })
      .finally(() => {
        for (const storage of kept.values()) storage.release();
      });
  });
}

/** The given memory that a program writes. */
export function changedBy({ steps, values }: Program): Set<number> {
  const found = new Set<number>();
  for (const step of steps as readonly Step[])
    for (const value of touched(step).writes)
      if (!/made|constant|cotangent/.test(values[value]!.source.kind)) found.add(value);
  return found;
}

function differing(a: Elements, b: Elements, float: boolean): number {
  let largest = 0;
  for (let i = 0; i < b.length; i++) if (Number.isFinite(b[i])) largest = Math.max(largest, Math.abs(b[i]!));
  for (let i = 0; i < b.length; i++) {
    const x = a[i]!,
      y = b[i]!;
    if (Object.is(x, y) || x === y) continue;
    if (!float || !(Math.abs(x - y) <= RELATIVE * Math.abs(y) + ABSOLUTE * Math.max(largest, 1))) return i;
  }
  return -1;
}
