// An agent that learns to balance poles: proximal policy optimisation (Schulman and others, 2017) on many carts at once,
// with generalised advantages.  The carts are tensors, too, so that nothing is read back while they drive.
import { EDGE, fallen, fresh, LONGEST, moved, TILT } from "./cart.mjs";

const CARTS = 64,
  STEPS = 32, // between two updates
  EPOCHS = 4, // times that each update uses what was seen
  DISCOUNT = 0.98,
  TRACE = 0.95,
  CLIP = 0.2,
  RATE = 4e-3;

/** The network: carts [..., 4] to how much more a push to the right is worth, and to how long the pole will stand. */
export function agent({ nn, tensor }) {
  class Agent extends nn.Module {
    constructor() {
      super();
      this.register_buffer("scale", tensor([1 / EDGE, 1 / 2, 1 / TILT, 1 / 2]));
      this.seen = nn.Sequential(nn.Linear(4, 64), nn.Tanh());
      this.right = nn.Linear(64, 1);
      this.worth = nn.Linear(64, 1);
    }

    forward(carts) {
      const seen = this.seen(carts.mul(this.scale));
      return [this.right(seen).squeeze(-1), this.worth(seen).squeeze(-1)];
    }
  }
  return new Agent();
}

/** Lets the agent drive, and answers what it saw, did and should have expected: tensors whose first axis is time. */
function drive(torch, model, carts, ages) {
  const seen = [];
  for (let step = 0; step < STEPS; step++) {
    const [logits, worth] = model(carts),
      right = torch.rand_like(logits).lt(logits.sigmoid()).float();
    const next = moved(torch, carts, right),
      fell = fallen(next),
      over = fell.logical_or(ages.ge(LONGEST - 1));
    seen.push([carts, right, chance(torch, logits, right), worth, fell.logical_not().float(), over.float()]);
    carts = torch.where(over.unsqueeze(1), fresh(torch, CARTS, carts.device), next);
    ages = torch.where(over, 0, ages.add(1));
  }
  const [states, right, before, worth, rewards, over] = seen[0].map((_, part) =>
    torch.stack(seen.map((step) => step[part])),
  );
  const [better, expected] = advantages(torch, rewards, worth, model(carts)[1], over);
  return { after: [carts, ages], seen: states, right, before, over, better, expected };
}

/** The logarithm of the chance of what was done. */
const chance = ({ nn }, logits, right) => nn.functional.logsigmoid(logits.mul(right.mul(2).sub(1)));

/** How much better each step came out than was expected, and what the agent was to expect. */
function advantages(torch, rewards, worth, last, over) {
  const found = [];
  let trace = torch.zeros_like(last),
    next = last;
  for (let step = STEPS - 1; step >= 0; step--) {
    const goesOn = over.select(0, step).neg().add(1);
    const surprise = rewards.select(0, step).add(next.mul(goesOn).mul(DISCOUNT)).sub(worth.select(0, step));
    trace = surprise.add(trace.mul(goesOn).mul(DISCOUNT * TRACE));
    next = worth.select(0, step);
    found.unshift(trace);
  }
  const all = torch.stack(found);
  return [all.sub(all.mean()).div(all.std().add(1e-6)), all.add(worth)];
}

/**
 * Teaches an agent.  `report(update, age, model)` is awaited after each update and ends the training when it answers
 * false; `age()` reads for how many steps the carts have stood, on average.
 */
export async function learn(torch, { device, updates, report }) {
  const { nn, optim } = torch,
    model = agent(torch);
  await model.to(device);
  const optimizer = optim.Adam(model.parameters(), { lr: RATE });
  const improve = torch.compile((carts, right, before, better, expected) => {
    optimizer.zero_grad();
    const [logits, worth] = model(carts),
      now = chance(torch, logits, right),
      ratio = now.sub(before).exp();
    const gain = torch.minimum(ratio.mul(better), ratio.clamp(1 - CLIP, 1 + CLIP).mul(better)).mean(),
      surprise = nn.functional.mse_loss(worth, expected),
      entropy = nn.functional.binary_cross_entropy_with_logits(logits, logits.sigmoid());
    surprise.mul(0.01).sub(gain).sub(entropy.mul(0.005)).backward();
    optimizer.step();
  });
  let carts = fresh(torch, CARTS, device),
    ages = torch.zeros([CARTS], { device });
  for (let update = 1; update <= updates; update++) {
    const { after, seen, right, before, over, better, expected } = torch.no_grad(() =>
      drive(torch, model, carts, ages),
    );
    for (let epoch = 0; epoch < EPOCHS; epoch++) improve(seen, right, before, better, expected);
    [carts, ages] = after;
    if ((await report(update, () => stood(over), model)) === false) break;
  }
  return model;
}

/** How many steps a pole stood before it fell, on average over a drive. */
const stood = async (over) => (CARTS * STEPS) / Math.max(1, await over.sum().item());
