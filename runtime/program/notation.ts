// Reads the slots and programs of ops from the lines of text that stand in ops/data.  codegen/api/notation.py writes
// them and says what they mean; what follows from the rest (kinds, names, what kernels are needed for) is not written
// and found here.  Formulas are left to notation-formulas.ts, until someone asks.

import { readFormula } from "./host-formula.js";
import type { Access, Dim, Loop, Kernel, Op, Param, Program, Slot, Step, UniformField } from "../../host/model.js";

type Fn = NonNullable<UniformField["value"]>;

/** Reads the line of a kernel that runs a body. */
export type RawReader = (texts: Texts, number: number) => Kernel;

/** Reads what only some ops' parameters and dims have. */
export interface More {
  param(made: Param, text: string): void;
  dim(made: Dim, text: string, value: (text?: string) => Fn | null): void;
}

export interface Written {
  readonly more?: More;
  readonly params: string;
  /** What T may be: "f" floating, "i" a whole number. */
  readonly classes?: string;
  readonly slots: string;
  readonly programs: string;
  /** What `$0`, `$1`, ... stand for. */
  readonly values?: string;
  /** What `raw0`, `raw1`, ... run. */
  readonly bodies?: readonly RawReader[];
  /** The sizes that need not be whole. */
  readonly reals?: readonly string[];
  /** `Y=formula`, ... */
  readonly sizes?: string;
  /** What must hold, the message, and the values in it. */
  readonly requires?: readonly (readonly string[])[];
  /** The loop program that gradients are derived from, where not all are carried. */
  readonly loops?: string;
}

export const parts = (text: string, by = " "): string[] => text.split(by).filter(Boolean);

/** The rest of kernels as it is written, for notation-formulas.ts. */
export interface Texts {
  readonly line: string;
  readonly accesses: (readonly [axes: string, guard: string])[];
  readonly steps: (readonly [start: string, formula: string])[];
  readonly classes: string;
  readonly params: readonly Param[];
  readonly slots: readonly Slot[];
  readonly reals: readonly string[];
  readonly value: (text?: string) => Fn | null;
}

export const pending = /* @__PURE__ */ new WeakMap<Kernel, Texts>();

type Given = Omit<
  Op,
  "params" | "slots" | "programs" | "output_names" | "promoted" | "outputs" | "sizes" | "requires"
> &
  Partial<Pick<Op, "promoted" | "outputs">>;

/** The op with what its text says. */
export function read({
  more,
  params: signature,
  slots: lines,
  programs,
  classes = "f",
  values = "",
  bodies,
  reals = [],
  sizes = "",
  requires = [],
  promoted,
  outputs,
  ...rest
}: Given & Written): Op {
  const slots: Slot[] = [];
  const named = parts(values);
  const value = (text?: string): Fn | null =>
    text ? readFormula(text[0] === "$" ? named[+text.slice(1)]! : text) : null;
  const tensors: string[] = [];
  const params = parts(signature, ", ").map((text): Param => {
    const [, keyword, name, kind, instead = "", optional, rest, given, preset] =
      /^(\*?)(\w+) (\w+)(?:\|(\w+))?(\??)([^=]*)(=?)(.*)$/.exec(text) as string[] as [
        string,
        string,
        string,
        string,
        ...string[],
      ];
    const tensor = kind < "a"; // a class: Num Float Int Bits Bool Any
    const made: Param = {
      name,
      kind: tensor ? "tensor" : kind,
      cls: tensor ? kind : "",
      optional: !!optional,
      keyword: !!keyword,
      default: value(preset),
      has_default: !!given,
      choices: [],
      rank: -1,
      pack: "",
      slot: tensor ? tensors.push(name) - 1 : -1,
      flat: false,
      instead: instead === "real" ? "num" : instead,
      precise: instead === "real",
    };
    if (rest) more!.param(made, rest);
    return made;
  });
  outputs ??= [tensors.length];
  promoted ??= [...tensors.keys()];

  for (const entry of lines.split(", ")) {
    const n = slots.length,
      tokens = parts(entry),
      name = tensors[n] ?? tokens.shift()!,
      [, prefix, of] = /^([dg]+_)(\d+)$/.exec(name) ?? [];
    const like = of ? slots[+of]! : null;
    const slot: Slot = {
      name: like ? prefix + like.name : name,
      role:
        n < tensors.length
          ? "input"
          : like
            ? prefix![0] === "g"
              ? "cotangent"
              : "gradient"
            : outputs.includes(n)
              ? "output"
              : "temp",
      dtype: "T",
      dims: [],
      like: like ? +of! : -1,
      mut: false,
    };
    for (const token of tokens) {
      if (token === "&") slot.mut = true;
      else if (token[0] === "=") slot.dtype = token.slice(1);
      else if (token[0] === "^") slot.like = +token.slice(1);
      else slot.dims.push(dim(token));
    }
    if (like && tokens.length === 0) slot.dims = like.dims;
    slots.push(slot);
  }

  function dim(text: string): Dim {
    const [, sign, name, size, rest] = /^([*~@%/]?)(\w*)(?::([\w$]+))?(.*)$/.exec(text) as string[] as [
      string,
      string,
      string,
      string?,
      string?,
    ];
    const made: Dim = {
      kind: sign === "@" ? "domain" : sign ? "pack" : "one",
      name,
      size: value(size),
      factors: [],
      option: "",
      part: "all",
      broadcast: sign === "~",
      when: null,
    };
    if (rest) more!.dim(made, sign + rest, value);
    return made;
  }

  function kernel(line: string, program: number, number: number): Kernel {
    const [head, reads, ...rest] = line.split("; ") as [string, string, ...string[]];
    const texts: Texts = {
      line,
      accesses: [],
      steps: [],
      classes: program ? "f" : classes,
      params,
      slots,
      reals,
      value,
    };
    if (line.startsWith("raw")) return bodies![+line[3]!]!(texts, number);
    const [, shape, spread, reverse, when, outer, inner] = /^(\w+)(\+?)(-?)(?:\?(\S+))? ?([^/]*)\/?(.*)$/.exec(
      head,
    ) as string[] as [string, ...string[]];
    const accesses: Access[] = [],
      left: number[] = [],
      steps: Step[] = [];
    const [loops, rloops] = [outer!, inner!].map((text) =>
      parts(text).map((loop): Loop => {
        const [, name, named, extent, pack = ""] = /^(\w+)(!?)(?::(.+))?(?:\*(.+))?$/.exec(loop) as string[] as [
          string,
          string,
          string,
          string?,
          string?,
        ];
        return { name, extent: value(extent), pack, named: !!named };
      }),
    ) as [Loop[], Loop[]];
    const access = (text: string): void => {
      for (const [, factor, slot, axes, guard] of text.matchAll(/(<?)(\d+)\[([^\]]*)\](\S*)/g)) {
        if (factor) left.push(accesses.length);
        texts.accesses.push([axes!, guard!]);
        accesses.push({
          slot: +slot!,
          axes: parts(axes!).map((i) => ([...loops, ...rloops].some(({ name }) => name === i) ? i : "")),
          kind: "",
        });
      }
    };
    access(reads);
    for (const text of rest.filter((text) => text[0] !== "$")) {
      const [, start, formula] = /^(.*) (\S+)$/.exec(text) as string[] as [string, string, string],
        store = /^!?(.*) (\S*=)$/.exec(start);
      const target = !store ? -1 : store[1]![0] === "@" ? +store[1]!.slice(1) : accesses.length;
      if (store) access(store[1]!);
      texts.steps.push([start, formula]);
      steps.push({
        kind: store ? "store" : "reduce",
        name: store ? "" : `acc${steps.length}`,
        red: "",
        value: "",
        inner: false,
        target,
        mode: store?.[2] ?? "=",
        compared: "T",
      });
    }
    const made: Kernel = {
      shape: shape!,
      when: value(when),
      loops,
      rloops,
      spread: !!spread,
      accesses,
      steps,
      left,
      floating: null,
      integral: null,
      uniforms: [],
      constants: [],
      reverse: !!reverse,
      makes: [],
      number,
      raw: null,
    };
    pending.set(made, texts);
    return made;
  }

  /** Notes with each kernel which results, or changed parameters, are made from what it writes. */
  function complete(kernels: Kernel[], outputs: readonly number[]): Kernel[] {
    for (const slot of new Set([...outputs, ...slots.keys()])) {
      const needed = new Set([slot]);
      if (slots[slot]!.role === "input" || outputs.includes(slot))
        for (const { steps, accesses, makes } of [...kernels].reverse()) {
          if (!steps.some(({ target }) => target >= 0 && needed.has(accesses[target]!.slot))) continue;
          makes.push(slot);
          for (const access of accesses) needed.add(access.slot);
        }
    }
    return kernels;
  }

  const numbers = (text: string, by?: string): number[] => parts(text, by).map(Number);
  return {
    ...rest,
    params,
    promoted,
    outputs,
    slots,
    sizes: parts(sizes).map((text) => {
      const at = text.indexOf("=");
      return { name: text.slice(0, at), value: readFormula(text.slice(at + 1)) };
    }),
    requires: requires.map(([holds, message, of = ""]) => ({
      holds: readFormula(holds!),
      message: message!,
      values: parts(of).map(readFormula),
    })),
    output_names: outputs.map((slot) => slots[slot]!.name),
    programs: programs.split(/\n(?=[\d ]*>)/).map((text, n): Program => {
      const [head, ...lines] = text.split("\n") as [string, ...string[]],
        [read, made] = head.split(">") as [string, string],
        inputs = numbers(read);
      const results = parts(made).map((slot) => slot.split(":")),
        outputs = results.map(([slot]) => +slot!);
      let kernels: Kernel[] | null = null;
      return {
        inputs,
        outputs,
        saves: results.map(([, needed]) => (needed === undefined ? inputs : numbers(needed, "."))),
        get kernels() {
          return (kernels ??= complete(
            lines.map((line, number) => kernel(line, n, number)),
            outputs,
          ));
        }, // most calls need no gradients
      };
    }),
  };
}
