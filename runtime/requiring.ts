// Requirements over elements: an op of its own looks at them and answers 1 or 0 for each (dsl/elements.py).
// Asked on the CPU only: a GPU would have to be waited for.

import { runValues } from "./call.js";
import type { CompiledOp } from "./compiled.js";
import { OpError } from "./errors.js";
import { no_grad } from "./grad-mode.js";

/** What an op asks before it runs.  messages: what is wrong where a result of `looks` is 0. */
export function requiring(looks: CompiledOp, messages: readonly string[]): NonNullable<CompiledOp["ask"]> {
  return (op, values) => {
    const given = looks.op.params.map(({ name }) => values[op.params.findIndex((p) => p.name === name)]);
    no_grad(() => runValues(looks, given)).forEach((said, n) => {
      const fine = said.storage.elements[said.offset] !== 0;
      said.dispose();
      if (!fine) throw new OpError(`${op.name}: ${messages[n]}`);
    });
  };
}
