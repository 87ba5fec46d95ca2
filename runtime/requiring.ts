// Requirements over elements: an op of its own looks at them and answers 1 or 0 for each (dsl/elements.py).
// One that takes results is asked when there are any, else before the op runs.  A GPU is not waited for: the next read throws.

import { runValues } from "./call.js";
import type { Ask, CompiledOp } from "./compiled.js";
import { OpError } from "./errors.js";
import { no_grad } from "./grad-mode.js";
import { settleLater } from "./verdicts.js";

/** What an op asks.  messages: what is wrong where a result of `looks` is 0. */
export function requiring(looks: CompiledOp, messages: readonly string[]): Ask {
  return (op, values, results) => {
    const names = [...op.params.map(({ name }) => name), ...op.output_names], wanted = looks.op.params.map(({ name }) => names.indexOf(name));
    if (wanted.some((n) => n >= values.length) !== (results !== null)) return;
    const given = wanted.map((n) => (n < values.length ? values[n] : results![n - values.length]));
    no_grad(() => runValues(looks, given)).forEach((said, n) => {
      const { storage, offset } = said, { device } = storage;
      const verdict = (fine: number): OpError | null => (fine ? null : new OpError(`${op.name}: ${messages[n]}`));
      const later = device.type === "cpu" ? null : device.download(storage, offset, offset + 1).then((elements) => verdict(elements[0]!));
      const wrong = later ? null : verdict(storage.elements[offset]!);
      said.dispose();
      if (later) settleLater(later);
      if (wrong) throw wrong;
    });
  };
}
