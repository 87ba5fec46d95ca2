// A network with one input and one output learns a function from noisy samples.  For any host: it draws nothing; page.mjs does.

/** What can be learned, on -1 to 1. */
export const FUNCTIONS = {
  "waves": (x) => Math.sin(3 * Math.PI * x) * (0.35 + 0.65 * (x + 1) / 2),
  "a bell on a slope": (x) => Math.exp(-18 * x * x) + 0.5 * x,
  "a corner": (x) => Math.abs(x) * 1.6 - 0.8,
  "a step": (x) => (x < 0.1 ? -0.6 : 0.6),
};

/** `points` places from -1 to 1, the function there, and samples with some noise at every second place (null at the others). */
export function sampled(torch, f, points = 201, noise = 0.08, seed = 1) {
  const x = Array.from({ length: points }, (_, i) => -1 + 2 * i / (points - 1)), truth = x.map(f);
  // A small generator of its own: the samples are the same wherever the program runs.
  let state = seed;
  const uniform = () => (state = (state * 48271) % 2147483647) / 2147483647;
  const normal = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
  const samples = truth.map((y, i) => (i % 2 === 0 ? y + noise * normal() : null));
  return { x, truth, samples };
}

export function network({ nn }, width = 64) {
  return nn.Sequential(nn.Linear(1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1));
}

/** Trains on `data` for `steps` steps; `report(step, loss, predict)` is awaited after each, and ends it by answering false.
 *  `predict()` answers what the network says at every place. */
export async function train(torch, data, { device, steps = 600, seed = 0, report }) {
  torch.manual_seed(seed);
  const model = network(torch).to(device), { nn, optim } = torch;
  const optimizer = optim.Adam(model.parameters(), { lr: 0.01 });
  const schedule = optim.lr_scheduler.CosineAnnealingLR(optimizer, steps, { eta_min: 5e-4 });
  const column = (values) => torch.tensor(values.map((v) => [v]), { dtype: "float32", device });
  const taught = data.x.flatMap((_, i) => (data.samples[i] === null ? [] : [i]));
  const x = column(taught.map((i) => data.x[i])), y = column(taught.map((i) => data.samples[i])), places = column(data.x);
  const predict = async () => Array.from(await torch.no_grad(() => model(places)).data());
  const losses = [];
  for (let step = 1; step <= steps; step++) {
    optimizer.zero_grad();
    const loss = nn.functional.mse_loss(model(x), y);
    loss.backward();
    await optimizer.step();
    schedule.step();
    losses.push(await loss.item());
    if (report && await report(step, losses.at(-1), predict) === false) break;
  }
  return { losses, model, predict };
}
