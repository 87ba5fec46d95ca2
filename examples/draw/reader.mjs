// A network that reads digits and goes on learning from those of its user: the convolutions of ../digits, trained on its
// data, then on both.  It reads no files and draws nothing; page.mjs does.
import { batch, cnn } from "../digits/digits.mjs";

const BATCH = 64,
  OWN = 16; // of each batch, once there are digits of the user

export function reader(torch, data, device) {
  const { nn, optim } = torch,
    model = cnn(torch),
    own = { images: [], labels: [] };
  let optimizer = null,
    step = 0;

  /** One step of training; answers a promise of its loss. */
  async function train() {
    optimizer ??= optim.Adam(model.parameters(), { lr: 0.01 });
    const count = own.images.length && OWN,
      some = batch(step, BATCH - count, data),
      mine = batch(step++, count, own);
    const images = [...some.images, ...mine.images.map(moved)],
      labels = [...some.labels, ...mine.labels];
    optimizer.zero_grad();
    const loss = nn.functional.cross_entropy(
      model(torch.tensor(images, { device })),
      torch.tensor(labels, { dtype: torch.long, device }),
    );
    loss.backward();
    await optimizer.step();
    return loss.item();
  }

  return {
    own,
    train,
    /** Puts the network onto its device, where it must be before the first call of the others. */
    ready: async () => void (await model.to(device)),
    /** How sure the network is of each of the ten digits; `image`: 64 numbers as in ../digits. */
    read: (image) =>
      torch
        .no_grad(() =>
          model(torch.tensor([image], { device }))
            .softmax(1)
            .flatten(),
        )
        .tolist(),
    /** Takes a digit of the user along into all further steps. */
    keep(image, label) {
      own.images.push(image);
      own.labels.push(label);
    },
  };
}

/** A picture of 8 by 8, moved by at most a pixel: what a user draws once is not to be learned by heart. */
function moved(image) {
  const [right, down] = [0, 0].map(() => Math.floor(Math.random() * 3) - 1),
    inside = (n) => n >= 0 && n < 8;
  return image.map((_, n) => {
    const [x, y] = [(n % 8) - right, Math.floor(n / 8) - down];
    return inside(x) && inside(y) ? image[8 * y + x] : PAPER;
  });
}

export const PAPER = -1.25;

/**
 * What was drawn, as the data have it: cut out, as high or as wide as the picture allows, in the middle, and of each 4 by 4
 * of its 32 by 32 pixels the share of ink.  `ink(x, y)` of a drawing of that many pixels a side is from 0 to 1.
 * Answers 64 numbers, or null where nothing was drawn.
 */
export function scanned(ink, side) {
  let [left, top, right, bottom] = [side, side, -1, -1];
  for (let y = 0; y < side; y++)
    for (let x = 0; x < side; x++)
      if (ink(x, y) > 0.3) {
        left = Math.min(left, x);
        right = Math.max(right, x);
        top = Math.min(top, y);
        bottom = Math.max(bottom, y);
      }
  if (right < 0) return null;
  const long = Math.max(right - left, bottom - top) + 1,
    [middleX, middleY] = [(left + right) / 2, (top + bottom) / 2];
  const at = (n, middle) => Math.round(middle + ((n + 0.5) / 32 - 0.5) * long);
  return Array.from({ length: 64 }, (_, n) => {
    let sum = 0;
    for (let part = 0; part < 16; part++) {
      const x = at(4 * (n % 8) + (part % 4), middleX),
        y = at(4 * Math.floor(n / 8) + Math.floor(part / 4), middleY);
      if (x >= 0 && y >= 0 && x < side && y < side) sum += ink(x, y);
    }
    return sum / 4 + PAPER;
  });
}
