// A network that is a picture: it is asked for a place and answers with the colour there.  Nothing but the network knows
// the picture when it has learned; it can be asked between the pixels, too.
// The places go through sines and cosines of many frequencies first, without which such a network learns only what is
// smooth: Tancik and others, Fourier Features Let Networks Learn High Frequency Functions in Low Dimensional Domains, 2020.
const FREQUENCIES = 128,
  WIDTH = 128,
  BATCH = 2048;

/** The network: places [n, 2], each from 0 to 1, to colours [n, 3], each from 0 to 1. */
export function field({ nn, randn, cat }, { spread = 5 } = {}) {
  class Field extends nn.Module {
    constructor() {
      super();
      this.register_buffer("frequencies", randn([2, FREQUENCIES]).mul(2 * Math.PI * spread));
      this.colour = nn.Sequential(
        nn.Linear(2 * FREQUENCIES, WIDTH),
        nn.ReLU(),
        nn.Linear(WIDTH, WIDTH),
        nn.ReLU(),
        nn.Linear(WIDTH, 3),
        nn.Sigmoid(),
      );
    }

    forward(places) {
      const waves = places.matmul(this.frequencies);
      return this.colour(cat([waves.sin(), waves.cos()], 1));
    }
  }
  return new Field();
}

/** The middles of all pixels, row by row, of a picture of that many: [width * height, 2]. */
export function places(torch, width, height, device) {
  const middles = (n) => torch.arange(n, { device, dtype: torch.float32 }).add(0.5).div(n);
  const [y, x] = torch.meshgrid([middles(height), middles(width)], { indexing: "ij" });
  return torch.stack([x.flatten(), y.flatten()], 1);
}

/**
 * Teaches a network a picture: `colours` [width * height, 3], row by row.  `report(step, loss, render)` is awaited after
 * each step, and ends the training when it answers false; `loss()` reads the mean squared error of the step's pixels,
 * `render(width, height)` asks the network for a picture of that size.
 */
export async function learn(torch, { colours, width, height }, { device, steps, report }) {
  const { nn, optim } = torch;
  const network = field(torch);
  await network.to(device);
  const everywhere = places(torch, width, height, device),
    wanted = colours.to(device);
  const optimizer = optim.Adam(network.parameters(), { lr: 6e-3 }),
    schedule = optim.lr_scheduler.CosineAnnealingLR(optimizer, steps);
  const update = torch.compile(async (chosen) => {
    optimizer.zero_grad();
    const loss = nn.functional.mse_loss(network(everywhere.index_select(0, chosen)), wanted.index_select(0, chosen));
    loss.backward();
    await optimizer.step();
    return loss.detach();
  });
  const render = (columns, rows) => torch.no_grad(() => network(places(torch, columns, rows, device)));
  for (let step = 1; step <= steps; step++) {
    const loss = await update(torch.randint(0, width * height, [BATCH], { device }));
    schedule.step();
    if ((await report(step, () => loss.item(), render)) === false) break;
  }
  return network;
}
