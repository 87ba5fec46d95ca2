// Reads what only parameters and dims of some ops have; apart from notation.ts, so that a bundle without such ops
// leaves it out.

import type { Dim, Param } from "../../host/model.js";
import type { More } from "./notation.js";

export const more: More = {
  param(made: Param, text: string): void {
    const [, flat, choices, rank, pack = ""] = /^(~?)(?:\((.*)\))?(?::(\d+))?(?:\*(\w+))?$/.exec(text)!;
    Object.assign(made, { flat: flat !== "", choices: choices?.split("/") ?? [], rank: rank ? +rank : -1, pack });
  },

  dim(made: Dim, text: string, value): void {
    const [, sign, parts, option = "", kept, when] = /^([%/]?).*?((?:\.\w+)*)(?:\((\w+)(!?))?(?:\?(.+))?$/.exec(text)!;
    if (parts) [made.factors, made.name] = [(made.name + parts).split("."), ""];
    if (sign) made.kind = sign === "%" ? "chosen" : "split";
    Object.assign(made, { option, part: kept ? "kept" : "all", when: value(when) });
  },
};
