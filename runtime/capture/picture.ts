// A captured program as a picture (SVG): its steps from top to bottom, which of them pass values to which, and beside them
// the blocks of memory with the values that take turns in them.

import { nameOf } from "./agree.js";
import { launchesOf, shapesOf } from "./explain.js";
import { whyApart } from "./fuse.js";
import type { Step } from "./program.js";
import type { Replay } from "./replay.js";
import type { Segment } from "./segment.js";

/** In pixels: a row, where steps begin, how wide they are, and a block of memory. */
const ROW = 24,
  LEFT = 110,
  WIDTH = 520,
  BLOCK = 18;
/** About how wide a letter is, and how many fit into a step. */
const LETTER = 6.6,
  MOST_LETTERS = Math.floor((WIDTH - 16) / LETTER);

const ENTITIES = new Map([
  ["&", "&amp;"],
  ["<", "&lt;"],
  [">", "&gt;"],
  ['"', "&quot;"],
]);
const escaped = (text: string): string => text.replace(/[&<>"]/g, (letter) => ENTITIES.get(letter)!);
const text = (x: number, y: number, words: string, more = ""): string =>
  `<text x="${x}" y="${y}"${more}>${escaped(words)}</text>`;

/** What is drawn, and how high and wide that is. */
interface Drawing {
  readonly shapes: string[];
  height: number;
  width: number;
}

function drawSegment(
  title: string,
  steps: readonly Step[],
  { slots, bytes }: Segment,
  replay: Replay,
  lasting: ReadonlySet<number>,
  into: Drawing,
): void {
  const { shapes } = into,
    top = into.height + 2 * ROW,
    at = (step: number): number => top + step * ROW,
    made = shapesOf(steps),
    launches = steps.map(launchesOf);
  shapes.push(
    text(
      8,
      top - 10,
      `${title}: ${launches.flat().length} launches, ${slots.length} blocks of memory, ${bytes} bytes`,
      ' font-weight="bold"',
    ),
  );
  steps.forEach((step, n) => {
    const joined = step.kind === "run" && step.joined !== null,
      value = [...made.keys()].find((one) => step.kind === "run" && step.slots.includes(one)),
      name = `${n}: ${nameOf(step)}`,
      shape = step.kind === "run" && value !== undefined ? ` ${made.get(value)!}` : "",
      words = name.length + shape.length > MOST_LETTERS ? `${name.slice(0, MOST_LETTERS - shape.length - 1)}…` : name,
      fill = launches[n]!.length ? (joined ? "#cfe3ff" : "#e8e8e8") : "#ffffff";
    shapes.push(
      `<g><title>${escaped([name, ...launches[n]!].join("\n"))}</title>` +
        `<rect x="${LEFT}" y="${at(n)}" width="${WIDTH}" height="${ROW - 4}" rx="3" fill="${fill}" stroke="#888"/>` +
        `${text(LEFT + 6, at(n) + 14, words + shape)}</g>`,
    );
  });
  for (const { first, second, value, why } of whyApart(replay.values, steps, lasting)) {
    const from = at(first) + ROW / 2 - 2,
      to = at(second) + ROW / 2 - 2,
      out = LEFT - Math.min(12 + 7 * (second - first), LEFT - 6);
    shapes.push(
      `<path d="M${LEFT} ${from}C${out} ${from} ${out} ${to} ${LEFT} ${to}" fill="none" stroke="#b55" stroke-opacity="0.6">` +
        `<title>${escaped(`%${value} ${made.get(value) ?? ""}\napart, since ${why}`)}</title></path>`,
    );
  }
  slots.forEach(({ bytes: size, lives }, n) => {
    const x = LEFT + WIDTH + 16 + n * BLOCK;
    for (const { value, from, to } of lives)
      shapes.push(
        `<rect x="${x}" y="${at(from)}" width="${BLOCK - 4}" height="${(to - from + 1) * ROW - 4}" rx="2" ` +
          `fill="hsl(${(value * 47) % 360} 60% 75%)" stroke="#777">` +
          `<title>block ${n}, ${size} bytes: %${value} ${made.get(value) ?? ""}</title></rect>`,
      );
  });
  into.height = at(steps.length);
  into.width = Math.max(into.width, LEFT + WIDTH + 24 + slots.length * BLOCK);
}

/** Programs as one picture, as the text of an SVG file. */
export function drawPrograms(heading: string, replays: readonly Replay[]): string {
  const drawing: Drawing = { shapes: [text(8, ROW, heading)], height: ROW, width: LEFT + WIDTH + 24 };
  for (const replay of replays) {
    const { program, forward, backward, lasting } = replay;
    drawSegment(`${program.name}, forward`, forward.steps, forward, replay, lasting.forward, drawing);
    if (backward) drawSegment(`${program.name}, backward`, backward.steps, backward, replay, lasting.backward, drawing);
  }
  const { width, height, shapes } = drawing;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height + ROW}" font-family="monospace" ` +
    `font-size="11"><rect width="100%" height="100%" fill="#fff"/>\n${shapes.join("\n")}\n</svg>`
  );
}
