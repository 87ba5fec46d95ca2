// The formulas of nests for who computes with them: WGSL with its spaces for both classes of T, and the words and constants that it
// mentions.  notation.ts reads the rest of a nest and keeps their texts until someone asks.

import type { Code, Nest, Param, Slot } from "../host/model.js";
import { type Texts, parts, pending } from "./notation.js";

/** The kinds of options, "b" for those that are constants of a kernel's text. */
const OPTIONS: Readonly<Record<string, string>> = { num: "T", real: "f", bool: "b", choice: "b" };
/** The kinds of elements, by their type, or the class of a parameter that has a type of its own. */
const ELEMENTS: Readonly<Record<string, string>> = { T: "T", int32: "i", bool: "b", Int: "i", Bits: "i", Bool: "b" };

/** What the elements of a slot are computed as. */
export function kindOf(slots: readonly Slot[], params: readonly Param[], slot: number): string {
  const { dtype, name } = slots[slot]!;
  return ELEMENTS[dtype === "own" ? params.find((p) => p.name === name)!.cls : dtype] ?? "f";
}

const spaced = (text: string): string =>
  text.replace(/\d[\w.]*|[A-Za-z_][\w.]*\(?/g, (name) => (/^(?:\d.*|.*\(|(?:r\d+|acc\d+|place|true|false|p\.inf|p\.nan)_*)$/.test(name) ? name : `${name}_`))
    .replace(/,/g, ", ").replace(/([\w.)])(&&|\|\||[<>=!]=|[-+*<>&|^])/g, "$1 $2 ").replace(/(\de) ([-+]) (\d)/g, "$1$2$3");

/** The nest, with its formulas. */
export function withFormulas(nest: Nest): Nest {
  const texts = pending.get(nest);
  if (texts) {
    pending.delete(nest);
    for (const access of nest.accesses) access.kind = kindOf(texts.slots, texts.params, access.slot);
    nest.steps.forEach((step, n) => {
      const [start] = texts.steps[n]!, store = step.target >= 0, [red, kinds = "TT"] = start.split(":") as [string, string?];
      Object.assign(step, store ? { value: nest.accesses[step.target]!.kind, inner: start[0] === "!" } : { red, value: kinds[0], compared: kinds[1] });
    });
    [nest.floating, nest.integral] = ["f", "i"].map((T, n) => (texts.classes.includes(T) ? code(nest, texts, n) : null)) as [Code | null, Code | null];
    scalars(nest, texts);
  }
  return nest;
}

/** `floating#integral`, or one text for both. */
function code({ accesses }: Nest, texts: Texts, T: number): Code {
  const of = (text: string): string => spaced(text.split("#")[T] ?? text.split("#")[0]!);
  return {
    accesses: texts.accesses.map(([index, when], n) => {
      const [, guard = "", fallback = ""] = when.split(/[?:]/);
      return { index: accesses[n]!.axes.map((axis, i) => (axis ? "" : of(parts(index)[i]!))), guard: of(guard), fallback: of(fallback) };
    }),
    steps: texts.steps.map(([, formula]) => {
      const [body, pred = ""] = formula.split("?") as [string, string?];
      return { pred: of(pred), body: of(body) };
    }),
  };
}

/** Words of the uniform, constants, and which steps' values others use; see codegen/wgsl/mentioned.py. */
function scalars(nest: Nest, texts: Texts): void {
  const { steps, words, statics, floating, integral } = nest;
  const kinds = new Map(texts.reals.map((name) => [name, "f"])), hosts = parts(/; (\$[^;]*)$/.exec(texts.line)?.[1] ?? "");
  for (const { name, kind } of texts.params) kinds.set(name === "inf" || name === "nan" ? `${name}_` : name, OPTIONS[kind] ?? "i");
  const said = [floating, integral].flatMap((code) => (code ? [...code.accesses.flatMap((a) => [...a.index, a.guard, a.fallback]), ...code.steps.flatMap((s) => [s.body, s.pred])] : [])).join(" ");
  const names = new Set<string>();
  for (const [, name, call] of said.matchAll(/\d[\w.]*|([A-Za-z_][\w.]*)(\(?)/g)) if (name && !call) names.add(name);
  const loops = [...nest.loops, ...nest.rloops].map(({ name }) => name);
  for (const name of [...names].sort()) {
    const text = name.replace("p.", ""), known = text.replace(/_$/, ""), kind = kinds.get(known);
    if (/^host\d+__$/.test(text)) words.push({ name: known, kind: "f", value: texts.value(hosts.shift()!) });
    else if (text !== name) words.push({ name: known, kind: kind ?? (text === "inf" || text === "nan" ? "f" : "i"), value: null });
    else if (/^acc\d+$/.test(text)) steps[+text.slice(3)]!.name = text;
    else if (text !== known && !loops.includes(known) && (kind ? kind === "b" : known.startsWith("has_"))) statics.push(known);
  }
}
