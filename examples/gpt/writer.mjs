// A GPT that learns a text letter by letter and continues it.  It shows nothing; page.mjs does.
import * as torch from "../../dist/index.js";
import { GPT, adamw } from "./gpt.mjs";

const BATCH = 16,
  LENGTH = 48, // letters that it looks back on
  WIDTH = 64,
  LAYERS = 3;

/**
 * `{ ready, train, write, letters, parameters }` for a text.  Raises RangeError where the text is too short to learn from.
 */
export function writer(text, device) {
  const letters = [...new Set(text)].sort(),
    known = new Map(letters.map((letter, n) => [letter, n])),
    codes = Array.from(text, (letter) => known.get(letter));
  if (codes.length < 4 * LENGTH)
    throw new RangeError(`a text of at least ${4 * LENGTH} letters is needed; this one has ${codes.length}`);
  const model = new GPT({ count: letters.length, width: WIDTH, layers: LAYERS, length: LENGTH }),
    all = torch.tensor(codes, { dtype: torch.long, device }),
    places = torch.arange(LENGTH + 1, { device });
  let optimizer = null;

  const step = torch.compile((windows) => {
    const seen = windows.narrow(1, 0, LENGTH),
      next = windows.narrow(1, 1, LENGTH);
    optimizer.zero_grad();
    const loss = torch.nn.functional.cross_entropy(model(seen).flatten(0, 1), next.flatten());
    loss.backward();
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1);
    optimizer.step();
    return loss;
  });
  // What follows the last of `count` letters depends on none behind it, so that every call has the same shape.
  const following = torch.compile((ids) => torch.no_grad(() => model(ids)));

  return {
    letters,
    parameters: model.parameters().reduce((sum, p) => sum + p.numel(), 0),
    /** Puts the network onto its device, where it must be before the first call of the others. */
    async ready() {
      await model.to(device);
      optimizer = adamw(model, 4e-3);
    },
    /** One step of training on passages from anywhere in the text; answers a promise of its loss. */
    train() {
      const starts = torch.randint(0, codes.length - LENGTH, [BATCH, 1], { device });
      return step(all.index(starts.add(places))).item();
    },
    /** Yields `count` letters that continue `start`; the lower the temperature, the likelier each. */
    async *write(start, count, temperature) {
      const ids = Array.from(start, (letter) => known.get(letter) ?? 0);
      if (!ids.length) ids.push(codes[0]);
      for (let n = 0; n < count; n++) {
        const seen = ids.slice(-LENGTH),
          padded = [...seen, ...new Array(LENGTH - seen.length).fill(0)],
          scores = following(torch.tensor([padded], { dtype: torch.long, device })).select(1, seen.length - 1),
          next = await torch.multinomial(scores.div(temperature).softmax(1), 1).item();
        ids.push(next);
        yield letters[next];
      }
    },
  };
}
