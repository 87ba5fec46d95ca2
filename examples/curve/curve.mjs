// A network with one input and one output learns a function from noisy samples.  For any host: it draws nothing;
// page.mjs does.

/** What can be learned, on -3 to 3. */
export const FUNCTIONS = {
  waves: (x) => Math.sin(Math.PI * x) * (0.675 + (0.325 * x) / 3),
  "a bell on a slope": (x) => Math.exp(-2 * x * x) + x / 6,
  "a corner": (x) => 0.53 * Math.abs(x) - 0.8,
  "a step": (x) => (x < 0.3 ? -0.6 : 0.6),
};

/**
 * `points` places from -3 to 3, the function there, and samples with some noise at every second place (null at the
 * others).
 */
export function sampled(f, points = 201, noise = 0.08, seed = 20261121) {
  const x = Array.from({ length: points }, (_, i) => -3 + (6 * i) / (points - 1)),
    truth = x.map(f);
  // A small generator of its own: the samples are the same wherever the program runs.
  let state = seed;
  const uniform = () => (state = (state * 48271) % 2147483647) / 2147483647;
  const normal = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
  const samples = truth.map((y, i) => (i % 2 === 0 ? y + noise * normal() : null));
  return { x, truth, samples };
}

export function network({ nn }, width = 64) {
  const hidden = () => [nn.Linear(width, width), nn.GELU()];
  return nn.Sequential(nn.Linear(1, width), nn.GELU(), ...hidden(), ...hidden(), nn.Linear(width, 1));
}

/**
 * Trains on `data` for `steps` steps; `report(step, read, predict)` is awaited after each, and ends it by answering
 * false.
 *  `read()` promises the loss, `predict()` what the network says at every place: a step that asks for neither need not
 * wait for the GPU.
 */
export async function train(torch, data, { device, steps = 400, seed = 0, report }) {
  torch.manual_seed(seed);
  const model = await network(torch).to(device),
    { nn, optim } = torch;
  const optimizer = optim.Adam(model.parameters(), { lr: 0.01 });
  const schedule = optim.lr_scheduler.CosineAnnealingLR(optimizer, steps, { eta_min: 5e-4 });
  const column = (values) =>
    torch.tensor(
      values.map((v) => [v]),
      { dtype: "float32", device },
    );
  const taught = data.x.flatMap((_, i) => (data.samples[i] === null ? [] : [i]));
  const x = column(taught.map((i) => data.x[i])),
    y = column(taught.map((i) => data.samples[i])),
    places = column(data.x);
  const predict = async () => Array.from(await torch.no_grad(() => model(places)).data());
  for (let step = 1; step <= steps; step++) {
    optimizer.zero_grad();
    const loss = nn.functional.mse_loss(model(x), y);
    loss.backward();
    await optimizer.step();
    schedule.step();
    if (report && (await report(step, () => loss.item(), predict)) === false) break;
  }
  return { model, predict };
}
