// torch.compiler.

import { refuse } from "../base/argument-kinds.js";
import { capturing } from "../base/capturing.js";
import { taken } from "../base/named-arguments.js";
import { type CompileCounts, compiledFrom } from "./compile.js";

export { disable, reset, type CompileCounts } from "./compile.js";

/**
 * Whether a call is being recorded.
 *
 * @example
 * torch.compiler.is_compiling()  // false
 */
export function is_compiling(): boolean {
  taken("is_compiling", arguments);
  return capturing !== null;
}

/**
 * What became of a compiled function: its programs with their steps and launches, why these are not fewer, and their
 * memory.  `format`: "text", or "svg" for a picture.
 *
 * @param f what `torch.compile` answered
 *
 * @example
 * const f = torch.compile((x) => x.exp());
 * for (let i = 0; i < 3; i++) f(torch.tensor([i]));
 * torch.compiler.explain(f).includes("exp")  // true
 */
export function explain(f: unknown, options?: { format?: "text" | "svg" }): string;
export function explain(f: unknown, format?: "text" | "svg"): string;
export function explain(...args: unknown[]): string {
  const [f, format = "text"] = taken("explain f format?", args) as [unknown, "text" | "svg" | undefined];
  const compiled = compiledFrom(f, "explain");
  if (format !== "text" && format !== "svg") refuse("explain", "format", '"text" or "svg"', format);
  return compiled.explain(format);
}

/**
 * How many calls of a compiled function were recorded, replayed, or run as they are, and how many programs it has.
 *
 * @param f what `torch.compile` answered
 *
 * @example
 * const f = torch.compile((x) => x.exp().sum());
 * for (let i = 0; i < 5; i++) f(torch.tensor([i]));
 * torch.compiler.counts(f).replays  // 3
 */
export function counts(f: unknown): CompileCounts {
  [f] = taken("counts f", arguments);
  return { ...compiledFrom(f, "counts").counts };
}
