// A captured program as text: its steps with types and shapes, what they launch, why they are not fewer, and where values
// lie.

import type { CpuPrepared } from "../devices/cpu/cpu-device.js";
import type { GpuPrepared } from "../devices/webgpu/prepared.js";
import { nameOf } from "./agree.js";
import { whyApart } from "./fuse.js";
import { bytesOf } from "./memory-plan.js";
import { type Program, type Step, type Value, type View, touched } from "./program.js";
import type { Replay } from "./replay.js";
import type { Segment } from "./segment.js";

function showValue({ number, source, dtype, length }: Value): string {
  const from =
    source.kind === "input" || source.kind === "cotangent"
      ? `${source.kind} ${source.index}`
      : source.kind === "made"
        ? "made"
        : source.kind;
  return `%${number} ${dtype}[${length}] ${from}`;
}

const showView = ({ value, dtype, shape, strides, offset }: View): string =>
  `%${value} ${dtype}[${shape.join(", ")}] strides [${strides.join(", ")}]${offset ? ` from ${offset}` : ""}`;

/** What a step launches: how, and in how many workgroups; on the CPU whether that is compiled. */
export function launchesOf(step: Step): readonly string[] {
  if (step.kind !== "run") return step.kind === "copy" || step.kind === "fill" ? [step.kind] : [];
  const { launches = [], runs = [] } = step.prepared as Partial<GpuPrepared & CpuPrepared>;
  return [
    ...launches.map(({ launch: { strategy }, groups }) => `${strategy} ${groups.join("x")}`),
    ...runs.map(({ plain, wasm }) => `${plain.kernel.shape} ${wasm ? "compiled" : "interpreted"}`),
  ];
}

/** The types and shapes of values as steps store them. */
export function shapesOf(steps: readonly Step[]): Map<number, string> {
  const found = new Map<number, string>();
  for (const step of steps) {
    if (step.kind === "run")
      for (const value of touched(step).writes) {
        const { dtype, shape } = step.prepared.call.slots[step.slots.indexOf(value)]!;
        found.set(value, `${dtype}[${shape.join(", ")}]`);
      }
    else if (step.kind === "copy")
      found.set(step.target.value, `${step.target.dtype}[${step.target.shape.join(", ")}]`);
  }
  return found;
}

/** Each two steps that a value connects, and why they are two: those for the same reason together. */
function showApart(steps: readonly Step[], { values }: Replay, lasting: ReadonlySet<number>): string[] {
  const found = new Map<string, Set<string>>();
  for (const { first, second, value, why } of whyApart(values, steps, lasting)) {
    const pair = `${first} ${nameOf(steps[first]!)} and ${second} ${nameOf(steps[second]!)} (%${value})`;
    found.set(why, (found.get(why) ?? new Set()).add(pair));
  }
  return [...found].flatMap(([why, pairs]) => [
    `  apart, since ${why}:`,
    ...Array.from(pairs, (pair) => `    ${pair}`),
  ]);
}

function showStep(step: Step, { hosts }: Program): string {
  switch (step.kind) {
    case "run": {
      const {
          op: { op },
          program,
          call,
          changes,
        } = step.prepared,
        made = program === 0 ? op.outputs : op.programs[program]!.outputs,
        one = (slot: number): string =>
          `%${step.slots[slot]!} ${call.slots[slot]!.dtype}[${call.slots[slot]!.shape.join(", ")}]`,
        out = [...new Set([...made, ...changes])].filter((slot) => step.slots[slot]! >= 0),
        into = step.slots.flatMap((value, slot) => (value >= 0 && !made.includes(slot) ? [slot] : []));
      const notes = [
        ...launchesOf(step),
        ...(step.draw >= 0 ? [`draw ${step.draw}`] : []),
        ...(step.fed ? [`numbers of ${hosts[step.fed.host]!.name}`] : []),
      ];
      return `${out.map(one).join(", ")} = ${nameOf(step)}(${into.map(one).join(", ")})${notes.length ? `  # ${notes.join(", ")}` : ""}`;
    }
    case "fill":
      return `%${step.value} = fill ${step.number}`;
    case "copy":
      return `${showView(step.target)} = copy ${showView(step.source)}`;
    case "change":
      return `%${step.value} counts a change`;
    case "check":
      return `check %${step.value}[${step.offset}]: ${step.refusal}`;
    case "blame":
      return `what is wrong with %${step.by} is wrong with %${step.value}`;
  }
}

function showSegment(
  title: string,
  steps: readonly Step[],
  { bytes, slots }: Segment,
  replay: Replay,
  lasting: ReadonlySet<number>,
  before: number,
): string[] {
  const { program, values } = replay,
    launches = steps.reduce((sum, step) => sum + launchesOf(step).length, 0),
    alone = slots.reduce(
      (sum, { lives }) => sum + lives.reduce((all, { value }) => all + bytesOf(values[value]!), 0),
      0,
    );
  return [
    `${title}: ${before} steps recorded, ${steps.length} left, ${launches} launches; ${slots.length} blocks of memory, ${bytes} bytes (${alone} without sharing)`,
    ...steps.map((step, n) => `  ${n}: ${showStep(step, program)}`),
    ...showApart(steps, replay, lasting),
    ...slots.map(
      ({ bytes: size, lives }, i) =>
        `  block ${i}, ${size} bytes: ${lives.map(({ value, from, to }) => `%${value} (steps ${from} to ${to})`).join(", ")}`,
    ),
  ];
}

export function showProgram(replay: Replay): string {
  const { program, forward, backward, lasting, count } = replay,
    outside = program.values.filter(({ source }) => source.kind !== "made");
  return [
    `program ${program.name}, replayed ${count} times`,
    ...outside.map((value) => `  ${showValue(value)}`),
    ...program.hosts.map(({ name }) => `  ${name} runs on the host`),
    ...showSegment("forward", forward.steps, forward, replay, lasting.forward, program.steps.length),
    ...(backward && program.back
      ? showSegment("backward", backward.steps, backward, replay, lasting.backward, program.back.steps.length)
      : []),
  ].join("\n");
}
