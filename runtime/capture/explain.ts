// A captured program as text: its steps with types and shapes, where its values lie, and what it launches.

import { nameOf } from "./agree.js";
import { bytesOf } from "./memory-plan.js";
import type { Program, Step, Value, View } from "./program.js";
import type { Replay, Segment } from "./replay.js";

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

function showSegment(title: string, steps: readonly Step[], { bytes, slots }: Segment, program: Program): string[] {
  const launches = steps.filter(({ kind }) => kind === "run" || kind === "copy" || kind === "fill").length,
    alone = slots.reduce(
      (sum, { lives }) => sum + lives.reduce((all, { value }) => all + bytesOf(program.values[value]!), 0),
      0,
    );
  return [
    `${title}: ${steps.length} steps, ${launches} of them on the device; ${slots.length} blocks of memory, ${bytes} bytes (${alone} without sharing)`,
    ...steps.map((step) => `  ${showStep(step, program)}`),
    ...slots.map(
      ({ bytes: size, lives }, i) =>
        `  block ${i}, ${size} bytes: ${lives.map(({ value, from, to }) => `%${value} (steps ${from} to ${to})`).join(", ")}`,
    ),
  ];
}

export function showProgram({ program, forward, backward, count }: Replay): string {
  const outside = program.values.filter(({ source }) => source.kind !== "made");
  return [
    `program ${program.name}, replayed ${count} times`,
    ...outside.map((value) => `  ${showValue(value)}`),
    ...program.hosts.map(({ name }) => `  ${name} runs on the host`),
    ...showSegment("forward", forward.steps, forward, program),
    ...(backward && program.back ? showSegment("backward", backward.steps, backward, program) : []),
  ].join("\n");
}
