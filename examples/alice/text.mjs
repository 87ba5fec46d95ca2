// Letters of a text as numbers, in batches; text.py is the same in PyTorch.
// alice.txt is the first half of chapter 1 of Lewis Carroll's "Alice's Adventures in Wonderland" (1865), in the public
// domain.
import * as torch from "../../dist/index.js";
import { read } from "../read.mjs";

export const text = new TextDecoder().decode(await read(new URL("alice.txt", import.meta.url)));
export const letters = [...new Set(text)].sort();
const codes = Array.from(text, (letter) => letters.indexOf(letter));

/** The letters from each start on, and those one further: [batch, length] each. */
function pieces(starts, length, device) {
  const at = (shift) =>
    starts.map((start) => Array.from({ length }, (_, i) => codes[((start + i) % (codes.length - 1)) + shift]));
  return [torch.tensor(at(0), { dtype: torch.long, device }), torch.tensor(at(1), { dtype: torch.long, device })];
}

/** From anywhere in the text, a different place each time. */
export function passages(step, batch, length, device) {
  return pieces(
    Array.from({ length: batch }, (_, i) => (step * batch + i) * 577),
    length,
    device,
  );
}

/** From as many readers, who began at different places; each step goes on where the one before ended. */
export function streams(step, batch, length, device) {
  return pieces(
    Array.from({ length: batch }, (_, i) => Math.floor((i * codes.length) / batch) + step * length),
    length,
    device,
  );
}
