// Requirements over elements: an op of its own looks at them and answers 1 or 0 for each (dsl/checking/elements.py).
// One that takes results is asked when there are any, else before the op runs.  A GPU is not waited for: its kernels
// note it in the run's fault words, and reading the op's results throws.

import { capturing } from "../base/capturing.js";
import { runValues } from "./call.js";
import type { ValueCheck, CompiledOp } from "../program/compiled-op.js";
import { refused } from "../base/errors.js";
import { unrecorded } from "../tape/grad-mode.js";

/** What an op requires of elements.  messages: what is wrong where a result of `looks` is 0.  spared: where it need not be asked. */
export function requiring(looks: CompiledOp, messages: readonly string[], spared?: ValueCheck["spared"]): ValueCheck {
  const check: ValueCheck = (op, values, results, device) => {
    const names = [...op.params.map(({ name }) => name), ...op.output_names],
      wanted = looks.op.params.map(({ name }) => names.indexOf(name));
    if (wanted.some((n) => n >= values.length) !== (results !== null)) return [];
    const given = wanted.map((n) => (n < values.length ? values[n] : results![n - values.length]));
    const refusals = (looks.refusals ??= messages.map((message) => `${op.name}: ${message}`));
    return unrecorded(() => runValues(looks, given, device)).filter((said, n) => {
      const { storage, offset } = said;
      if (storage.device.blame) return true;
      capturing?.asked(storage, offset, refusals[n]!);
      const fine = Number(storage.elements[offset]) !== 0;
      said.dispose();
      if (!fine) throw refused(refusals[n]!);
      return false;
    });
  };
  check.spared = spared;
  return check;
}
