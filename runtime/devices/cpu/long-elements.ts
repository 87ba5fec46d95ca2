// Elements of int64 for the interpreter, which computes in doubles: as numbers before a kernel, and back after it.

import type { Elements } from "../../program/compiled-op.js";
import { converter } from "../../elements/dtype.js";
import { beyondDoubles } from "./functions.js";

/**
 * Runs a kernel of an op on arrays of which those of BigInts are numbers meanwhile; `written`: the places of those it
 * changes.  Throws where a number that is read is not exact.
 */
export function inNumbers(
  op: string,
  arrays: readonly Elements[],
  written: ReadonlySet<number>,
  run: (arrays: readonly Elements[]) => void,
): void {
  const made: { from: Elements; to: Float64Array; changed: boolean }[] = [],
    convert = converter("int64"),
    store = (value: number): number => convert(value === 2 ** 63 ? (0x7fffffffffffffffn as unknown as number) : value);
  const numbers = arrays.map((from, n) => {
    if (!((from as unknown) instanceof BigInt64Array)) return from;
    let known = made.find(
      ({ from: { buffer, byteOffset, length } }) =>
        buffer === from.buffer && byteOffset === from.byteOffset && length === from.length,
    );
    if (!known) made.push((known = { from, to: Float64Array.from(from, Number), changed: false }));
    if (written.has(n)) known.changed = true;
    else {
      const at = known.to.findIndex((v) => !Number.isSafeInteger(v));
      if (at >= 0) throw beyondDoubles(op, String(from[at]));
    }
    return known.to;
  });
  run(numbers);
  for (const { from, to, changed } of made)
    if (changed)
      // What stayed keeps all of its bits.
      for (let i = 0; i < to.length; i++) if (Number(from[i]) !== to[i]) from[i] = store(to[i]!);
}
