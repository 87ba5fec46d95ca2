// Reads kernels that run a body; apart from notation.ts, so that a bundle without such ops leaves it out.

import type { Access, Code, Raw, Step, UniformField } from "../../host/model.js";
import { kindOf } from "./notation-formulas.js";
import { type RawReader, parts } from "./notation.js";
import { evaluator } from "./procedure-evaluator.js";
import { PROCEDURES } from "./procedures.js";

/** What a raw kernel runs; uniforms: `name:kind` where that is not "i". */
export interface Body extends Omit<Raw, "dtype"> {
  readonly uniforms: string;
}

/** Reads kernels that run this body: `raw0=int32?when SLOTS; stores` and the values of its uniforms. */
export function raw({ uniforms, ...body }: Body): RawReader {
  PROCEDURES.evaluator = evaluator;
  return ({ line, classes, value, slots, params }, number) => {
    const [, dtype = "T", when, taken, stores] = /^raw\d+(?:=(\w+))?(?:\?(\S+))? (.*); (.*)$/.exec(line)!,
      [count, ...values] = parts(stores!);
    const accesses = parts(taken!).map(
        (slot): Access => ({ slot: +slot, axes: [], kind: kindOf(slots, params, +slot) }),
      ),
      first = accesses.length - +count!;
    const [floating, integral] = ["f", "i"].map((T): Code | null =>
      classes.includes(T) ? { accesses: [], steps: [] } : null,
    ) as [Code | null, Code | null];
    return {
      shape: "raw",
      when: value(when),
      loops: [],
      rloops: [],
      spread: false,
      accesses,
      steps: accesses.slice(first).map(
        ({ kind }, n): Step => ({
          kind: "store",
          name: "",
          red: "",
          value: kind,
          inner: false,
          target: first + n,
          mode: "=",
          compared: "T",
        }),
      ),
      left: [],
      floating,
      integral,
      uniforms: parts(uniforms).map((text): UniformField => {
        const [name, kind = "i"] = text.split(":") as [string, string?];
        return { name, kind, value: name === "inf" || name === "nan" ? null : value(values.shift()!) };
      }),
      constants: [],
      reverse: false,
      makes: [],
      number,
      raw: { dtype, ...body },
    };
  };
}
