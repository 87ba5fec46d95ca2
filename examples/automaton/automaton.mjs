// A cellular automaton that learned its rule: each cell sees its eight neighbours and nothing else, and from one cell a
// picture grows, and heals where it is hurt.  Mordvintsev and others, Growing Neural Cellular Automata, 2020.
const CHANNELS = 12, // of a cell: red, green, blue, how alive it is, and eight that only the rule knows
  HIDDEN = 96,
  ALIVE = 0.1,
  BATCH = 6,
  POOL = 48, // automata that go on growing from one training step to the next
  STEPS = [18, 22, 26]; // of the automaton in a step of training, by turns

/** The rule: cells [n, CHANNELS, height, width] to those a step later. */
export function rule({ nn, tensor, stack }) {
  const { functional: F } = nn;
  class Rule extends nn.Module {
    constructor() {
      super();
      const flat = tensor([
          [0, 0, 0],
          [0, 1, 0],
          [0, 0, 0],
        ]), // what a cell is itself, and how it changes to the right and down
        right = tensor([
          [-1, 0, 1],
          [-2, 0, 2],
          [-1, 0, 1],
        ]).div(8);
      this.register_buffer(
        "looks",
        stack([flat, right, right.t()]).unsqueeze(1).repeat(CHANNELS, 1, 1, 1).contiguous(),
      );
      this.think = nn.Conv2d(3 * CHANNELS, HIDDEN, 1);
      this.change = nn.Conv2d(HIDDEN, CHANNELS, 1, { bias: false });
      nn.init.zeros_(this.change.weight); // at first nothing changes
    }

    forward(cells) {
      const seen = F.conv2d(cells, this.looks, { padding: 1, groups: CHANNELS });
      const next = cells.add(this.change(this.think(seen).relu()));
      return next.mul(living(F, cells).mul(living(F, next)));
    }
  }
  return new Rule();
}

/** 1 where a cell or a neighbour of it is alive, 0 elsewhere: what is far from all life stays empty. */
const living = (F, cells) =>
  F.max_pool2d(cells.narrow(1, 3, 1), 3, { stride: 1, padding: 1 })
    .gt(ALIVE)
    .float();

/** One living cell in the middle: [n, CHANNELS, size, size]. */
export function seed(torch, n, size, device) {
  const cells = torch.zeros([n, CHANNELS, size, size], { device });
  cells.set([":", "3:", size >> 1, size >> 1], 1);
  return cells;
}

/** The cells without what lies within `radius` of a place, in cells. */
export function hurt(torch, cells, x, y, radius) {
  const [height, width] = cells.shape.slice(-2),
    { device } = cells;
  const down = torch.arange(height, { device }).sub(y).square().unsqueeze(1),
    right = torch.arange(width, { device }).sub(x).square();
  return cells.mul(
    down
      .add(right)
      .gt(radius * radius)
      .float(),
  );
}

/**
 * Teaches a rule to grow `picture` [4, size, size] (red, green, blue, each times how solid it is, and that) and to keep it.
 * `report(step, loss, rule)` is awaited after each step and ends the training when it answers false; `loss()` reads the
 * mean squared error.
 */
export async function learn(torch, picture, { device, steps, report }) {
  const { nn, optim } = torch,
    size = picture.shape.at(-1);
  const model = rule(torch);
  await model.to(device);
  const optimizer = optim.Adam(model.parameters(), { lr: 2e-3 }),
    schedule = optim.lr_scheduler.MultiStepLR(optimizer, [Math.floor(0.6 * steps), Math.floor(0.85 * steps)], {
      gamma: 0.3,
    }),
    wanted = picture.to(device);
  const pool = Array.from({ length: POOL }, () => seed(torch, 1, size, device));
  const errors = (cells) => cells.narrow(1, 0, 4).sub(wanted).square().mean([1, 2, 3]);
  const improve = torch.compile((cells, count) => {
    optimizer.zero_grad();
    for (let n = 0; n < count; n++) cells = model(cells);
    const each = errors(cells);
    each.mean().backward();
    nn.utils.clip_grad_norm_(model.parameters(), 0.5);
    optimizer.step();
    return [cells.detach(), each.detach()];
  });
  for (let step = 1; step <= steps; step++) {
    const chosen = (await torch.randperm(POOL, { device: "cpu" }).tolist()).slice(0, BATCH).map(Number),
      before = chosen.map((n) => pool[n]);
    before[0] = seed(torch, 1, size, device); // what it is to begin with is never forgotten
    if (step > steps / 3) before[1] = hurt(torch, before[1], ...(await place(torch, size)), size / 6);
    const [after, each] = improve(torch.cat(before), STEPS[step % STEPS.length]);
    chosen.forEach((n, at) => (pool[n] = after.narrow(0, at, 1)));
    schedule.step();
    if ((await report(step, () => each.mean().item(), model)) === false) break;
  }
  return model;
}

/** Somewhere about the middle, in cells. */
const place = async ({ rand }, size) =>
  (await rand([2], { device: "cpu" }).tolist()).map((part) => size * (0.25 + 0.5 * part));
