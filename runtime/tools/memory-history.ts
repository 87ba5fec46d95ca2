// For those who look for what keeps memory: the lines of the program that made each buffer, and memory() as a table.

import { count } from "../base/argument-kinds.js";
import { ownPlace } from "../base/own-place.js";
import { lookForLines, memory } from "../tensor/memory.js";
import { taken } from "../base/named-arguments.js";

/** How many lines of the program are kept, and how many calls of the package may lie between them and a new buffer. */
const LINES = 3,
  DEPTH = 100;

/** One call in a stack, as V8 ("at f (file:1:2)") and others ("f@file:1:2") write it. */
const CALL = /^(?:\s*at (?:async )?)?(?:(.*?)(?: \(|@))?((?:[a-z-]+:\/\/|\/|[A-Za-z]:\\).*?):(\d+):\d+\)?$/;

interface Call {
  name: string;
  file: string;
  line: string;
}

function calls(): Call[] {
  const host = Error as { stackTraceLimit?: number },
    before = host.stackTraceLimit;
  host.stackTraceLimit = DEPTH;
  const stack = new Error().stack ?? "";
  if (before !== undefined) host.stackTraceLimit = before;
  const out: Call[] = [];
  for (const text of stack.split("\n")) {
    const [, name = "", file, line] = CALL.exec(text) ?? [];
    if (file !== undefined && line !== undefined)
      out.push({ name: name.replace(/^(?:new|Object\.|Module\.)\s*/, ""), file, line });
  }
  return out;
}

/** Where the package is: its folder, or the one file that it was bundled into. */
const packagePlace = (): string => ownPlace(calls()[0]?.file ?? "");

/**
 * The lines outside of the package that led here, the innermost first; where the program is in one file with the
 * package, the outermost.
 */
function lines(own: string): string | null {
  const all = calls(),
    outside = all.filter(({ file }) => !file.startsWith(own));
  const kept = outside.length ? outside.slice(0, LINES) : all.slice(-LINES);
  return (
    kept
      .map(({ name, file, line }) => `${name ? `${name} ` : ""}${file.replace(/^.*[/\\]/, "")}:${line}`)
      .join(" < ") || null
  );
}

/** The lines of the program that are running now. */
export const programLines = (): string | null => lines(packagePlace());

/**
 * From now on (or no longer) `memory` says which lines of the program made the buffers.  Slow: for looking for what
 * keeps memory.  Buffers made before have no lines.
 *
 * @param enabled true from now on, or false
 *
 * @example
 * torch.record_memory_history(true);
 * const kept = torch.zeros([1000]);
 * const lines = torch.memory().cpu.origins;
 * torch.record_memory_history(false);
 * lines.length > 0  // true
 */
export function record_memory_history(enabled = true): void {
  [enabled = true] = taken("record_memory_history enabled?", arguments);
  const own = enabled ? packagePlace() : "";
  lookForLines(enabled ? () => lines(own) : null);
}

const size = (bytes: number): string =>
  bytes < 2 ** 10
    ? `${bytes} B`
    : bytes < 2 ** 20
      ? `${(bytes / 2 ** 10).toFixed(1)} KiB`
      : `${(bytes / 2 ** 20).toFixed(1)} MiB`;

/**
 * memory() as a table: for each device the `most` origins that hold the most bytes.
 *
 * @param most how many origins are listed
 *
 * @example
 * const kept = torch.zeros([1000]);
 * torch.memory_summary().includes("cpu")  // true
 */
export function memory_summary(most = 10): string {
  [most = 10] = taken("memory_summary most?", arguments);
  const out: string[] = [];
  most = count(most, "memory_summary", "most");
  for (const [device, { bytes, buffers, deviceBytes, origins }] of Object.entries(memory())) {
    out.push(
      `${device}: ${size(bytes)} in ${buffers} buffers${deviceBytes === undefined ? "" : `, ${size(deviceBytes)} of the device`}`,
    );
    for (const { op, where, ...held } of origins.slice(0, most)) {
      out.push(
        `${size(held.bytes).padStart(12)} ${String(held.buffers).padStart(8)}  ${op}${where ? `  ${where}` : ""}`,
      );
    }
    if (origins.length > most) out.push(`${"".padStart(23)}and ${origins.length - most} others`);
  }
  return out.join("\n");
}
