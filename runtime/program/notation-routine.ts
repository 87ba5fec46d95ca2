// Routines as ops have them; apart from the rest, so that a bundle whose ops have none leaves out what prints them.

import type { Function } from "../../host/model.js";
import { routine_text } from "../../host/printed.js";
import { read_procedure } from "../../host/statements.js";
import { evaluator } from "./procedure-evaluator.js";
import { PROCEDURES } from "./procedures.js";

/** The routine, which kernels may call from now on. */
export function routine({ name, calls, steps }: Omit<Function, "text">): Function {
  PROCEDURES.evaluator = evaluator;
  let text: string | null = null;
  return {
    name,
    calls,
    steps,
    get text() {
      return (text ??= routine_text(name, read_procedure(steps)));
    },
  };
}
