// When a profile records, step by step: torch.profiler.schedule.

import { OpError, describe } from "../../base/errors.js";
import { taken } from "../../base/named-arguments.js";

/**
 * What a profiler does in a step.
 *
 * @example
 * torch.profiler.ProfilerAction  // { NONE: 0, WARMUP: 1, RECORD: 2, RECORD_AND_SAVE: 3 }
 */
export const ProfilerAction = { NONE: 0, WARMUP: 1, RECORD: 2, RECORD_AND_SAVE: 3 } as const;
export type ProfilerAction = (typeof ProfilerAction)[keyof typeof ProfilerAction];
/** What is done in a step. */
export type Schedule = (step: number) => ProfilerAction;

export interface ScheduleOptions {
  /** Steps of a cycle in which nothing is done. */
  wait: number;
  /** Steps of a cycle in which what is recorded is dropped. */
  warmup: number;
  /** Steps of a cycle that are recorded. */
  active: number;
  /** Cycles; 0: without end. */
  repeat?: number;
  /** Steps before the first cycle. */
  skip_first?: number;
}

/**
 * `wait` steps of nothing, `warmup` steps for nothing, `active` steps that are recorded, and so on.
 *
 * @param wait steps of a cycle in which nothing is done
 * @param warmup steps of a cycle in which what is recorded is dropped
 * @param active steps of a cycle that are recorded
 * @param repeat how many cycles there are; 0: without end
 * @param skip_first steps before the first cycle
 *
 * @example
 * const { ProfilerAction, schedule } = torch.profiler;
 * const when = schedule({ wait: 1, warmup: 1, active: 2 });
 * [0, 1, 2, 3, 4].map((step) => when(step))  // [0, 1, 2, 3, 0]
 */
export function schedule(
  ...args:
    | [options: ScheduleOptions]
    | [wait: number, warmup: number, active: number, repeat?: number, skip_first?: number]
): Schedule {
  const [wait, warmup, active, repeat = 0, skip = 0] = taken(
    "schedule wait warmup active repeat? skip_first?",
    args,
  ) as number[];
  for (const n of [wait, warmup, active, repeat, skip]) {
    if (!Number.isInteger(n) || n! < 0)
      throw new OpError(
        `schedule: wait, warmup, active, repeat and skip_first are numbers of steps, got ${describe(n)}`,
      );
  }
  if (!active) throw new OpError("schedule: active must be at least 1");
  const length = wait! + warmup! + active;
  return (step) => {
    const at = step - skip;
    if (at < 0 || (repeat > 0 && at >= repeat * length)) return ProfilerAction.NONE;
    const place = at % length;
    if (place < wait!) return ProfilerAction.NONE;
    if (place < wait! + warmup!) return ProfilerAction.WARMUP;
    return place < length - 1 ? ProfilerAction.RECORD : ProfilerAction.RECORD_AND_SAVE;
  };
}
