// The formulas of kernels for who computes with them: nodes for both classes of T, and the uniforms and options that they
// use.  notation.ts reads the rest of a kernel and keeps their texts until someone asks.

import { formulas_of } from "../../host/formulas.js";
import type { Code, Kernel, Param, Slot } from "../../host/model.js";
import { safe_name } from "../../host/names.js";
import { type Node, Option, Result, Uniform, nodes_of } from "../../host/nodes.js";
import { read_formula } from "../../host/written.js";
import { type Texts, parts, pending } from "./notation.js";

/** The kinds of options, "b" for those that are constants of a kernel's text. */
const OPTIONS: Readonly<Record<string, string>> = { num: "T", real: "f", bool: "b", choice: "b" };
/** The kinds of elements, by their type, or the class of a parameter that has a type of its own. */
const ELEMENTS: Readonly<Record<string, string>> = {
  T: "T",
  int64: "i",
  int32: "i",
  bool: "b",
  Int: "i",
  Bits: "i",
  Bool: "b",
};

/** What the elements of a slot are computed as. */
export function kindOf(slots: readonly Slot[], params: readonly Param[], slot: number): string {
  const { dtype, name } = slots[slot]!;
  return ELEMENTS[dtype === "own" ? params.find((p) => p.name === name)!.cls : dtype] ?? "f";
}

/** The kernel, with its formulas. */
export function withFormulas(kernel: Kernel): Kernel {
  const texts = pending.get(kernel);
  if (texts) {
    pending.delete(kernel);
    for (const access of kernel.accesses) access.kind = kindOf(texts.slots, texts.params, access.slot);
    kernel.steps.forEach((step, n) => {
      const [start] = texts.steps[n]!,
        store = step.target >= 0,
        [red, kinds = "TT"] = start.split(":") as [string, string?];
      Object.assign(
        step,
        store
          ? { value: kernel.accesses[step.target]!.kind, inner: start[0] === "!" }
          : { red, value: kinds[0], compared: kinds[1] },
      );
    });
    [kernel.floating, kernel.integral] = ["f", "i"].map((T, n) =>
      texts.classes.includes(T) ? code(kernel, texts, n) : null,
    ) as [Code | null, Code | null];
    scalars(kernel, texts);
  }
  return kernel;
}

/** `floating#integral`, or one text for both. */
function code({ accesses, loops, rloops }: Kernel, texts: Texts, T: number): Code {
  const names = [...loops, ...rloops].map(({ name }) => name);
  const of = (text = ""): Node | null => read_formula(text.split("#")[T] ?? text.split("#")[0]!, names);
  return {
    accesses: texts.accesses.map(([index, when], n) => {
      const [, guard, fallback] = when.split(/[?:]/);
      return {
        index: accesses[n]!.axes.map((axis, i) => (axis ? null : of(parts(index)[i]))),
        guard: of(guard),
        fallback: of(fallback),
      };
    }),
    steps: texts.steps.map(([, formula]) => {
      const [body, pred] = formula.split("?");
      return { pred: of(pred), body: of(body)! };
    }),
  };
}

/** Uniforms, options, and which steps' values others use; see codegen/api/opdata.py. */
function scalars(kernel: Kernel, texts: Texts): void {
  const { steps, uniforms, constants, floating, integral } = kernel,
    used = new Map<string, Node>();
  const kinds = new Map(texts.reals.map((name) => [name, "f"])),
    hosts = parts(/; (\$[^;]*)$/.exec(texts.line)?.[1] ?? "");
  for (const { name, kind } of texts.params)
    kinds.set(name === "inf" || name === "nan" ? `${name}_` : name, OPTIONS[kind] ?? "i");
  for (const code of [floating, integral])
    for (const e of (code ? formulas_of(code) : []).flatMap(nodes_of)) {
      if (e instanceof Result) steps[e.step]!.name = `acc${e.step}`;
      else if (e instanceof Uniform || e instanceof Option) used.set(safe_name(e.name), e);
    }
  for (const key of [...used.keys()].sort()) {
    const e = used.get(key) as Uniform | Option,
      { name } = e;
    if (e instanceof Option) constants.push(name);
    else if (/^host\d+_$/.test(name)) uniforms.push({ name, kind: "f", value: texts.value(hosts.shift()!) });
    else uniforms.push({ name, kind: kinds.get(name) ?? (name === "inf" || name === "nan" ? "f" : "i"), value: null });
  }
}
