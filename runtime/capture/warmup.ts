// What a compiled function's first calls would do, ahead of them: calls are rehearsed, in which devices do nothing and of
// which nothing is left, and the kernels that they would run are compiled, all at a time.

import { OpError } from "../base/errors.js";
import { type Device, type Layout, type Prepared, registeredDevices } from "../devices/device.js";
import { get_rng_state, set_rng_state } from "../elements/random.js";
import { difference } from "./agree.js";
import { type Recording, recorded, withWayBack } from "./capture.js";
import { argumentsOf, likeArguments } from "./guards.js";
import type { Step, Value } from "./program.js";
import { Entry } from "./entry.js";
import type { Blocks } from "./memory-plan.js";

/** An optimizer makes its state in the first call, so the second and third are alike; arguments take turns. */
const MOST_REHEARSALS = 4;

/** Compiles what steps of a program launch. */
async function compile(values: readonly Value[], steps: readonly Step[]): Promise<void> {
  const found = new Map<Device, Prepared[]>(),
    add = (value: number, prepared: Prepared | undefined): void => {
      const { device } = values[value]!;
      if (prepared) found.set(device, [...(found.get(device) ?? []), prepared]);
    };
  const copy = (value: number, target: Layout, source: Layout): void =>
    add(value, values[value]!.device.copier?.(target, source).prepared);
  for (const step of steps)
    if (step.kind === "run") add(step.slots.find((value) => value >= 0)!, step.prepared);
    else if (step.kind === "copy") copy(step.target.value, step.target, step.source);
    else if (step.kind === "fill" && step.number) {
      const { dtype, length } = values[step.value]!,
        all = { dtype, shape: [length], strides: [1], offset: 0 };
      copy(step.value, all, { ...all, strides: [0] });
    }
  await Promise.all([...found].map(([device, prepared]) => device.compile?.(prepared)));
}

/** Rehearses calls of a function, and compiles what they launch.  Answers the program, where it holds for the next call. */
export async function warmed(
  name: string,
  args: readonly unknown[],
  run: (args: readonly unknown[]) => unknown,
  blocks: Blocks,
): Promise<Entry | null> {
  const postponed = registeredDevices().map((device) => device.postpone?.());
  let entry: Entry | null, compiling: Promise<unknown>;
  try {
    const seen: Recording[] = [];
    entry = await rehearsed(name, args, run, seen, blocks);
    const parts = entry ? [entry.replay.forward, entry.replay.backward] : [],
      values = entry?.replay.values ?? [];
    // Not where a call first makes what later ones find.
    if (entry && (entry.guards.broken(argumentsOf(args)) !== null || !entry.replay.feeds())) entry = null;
    compiling = Promise.all([
      ...parts.map((part) => part && compile(values, part.steps)),
      ...(entry ? [] : seen).map(({ program }) => compile(program.values, program.steps)),
    ]);
  } finally {
    for (const stop of postponed) stop?.();
  }
  await compiling;
  return entry;
}

async function rehearsed(
  name: string,
  args: readonly unknown[],
  run: (args: readonly unknown[]) => unknown,
  seen: Recording[],
  blocks: Blocks,
): Promise<Entry | null> {
  const others = likeArguments(args) ?? args,
    undo: (() => void)[] = [],
    random = get_rng_state();
  try {
    while (seen.length < MOST_REHEARSALS) {
      const before = seen.at(-1),
        turn = seen.length % 2 ? others : args;
      await recorded(
        name,
        argumentsOf(turn),
        () => run(turn),
        (recording) => void seen.push(recording),
        undo,
      );
      const now = seen.at(-1)!;
      refuse(name, now.trouble);
      if (!before || difference(before.program, now.program) !== null) continue;
      refuse(name, withWayBack(now));
      const [own, like] = turn === args ? [now, before] : [before, now];
      own.guards.meets(like.guards);
      return new Entry(own.guards, now.program, now.async, blocks);
    }
    return null;
  } finally {
    for (const action of undo.reverse()) action();
    set_rng_state(random);
  }
}

function refuse(name: string, why: string | null): void {
  if (why !== null) throw new OpError(`torch.compile: ${name} cannot be captured: ${why}`);
}
