// Digits out of noise: a U-Net learns which way leads from noise to a picture (Lipman et al., "Flow matching for
// generative modeling", 2022), and pictures are drawn by going it in small steps.  It shows nothing; page.mjs does.
import * as torch from "../../dist/index.js";

const { nn, optim } = torch,
  F = nn.functional;
export const SIDE = 8; // pixels of ../digits, each way
const WIDTH = 32,
  BATCH = 128,
  ANY = 10, // stands for a digit that is not said
  UNSAID = 0.15, // of the pictures, so that drawing can push away from what any digit looks like
  PUSH = 2; // how far (Ho and Salimans, "Classifier-free diffusion guidance", 2022)

/** Two convolutions beside the way past them, told by `about` which digit and how much noise. */
class Block extends nn.Module {
  constructor(width) {
    super();
    this.before = nn.Sequential(nn.GroupNorm(8, width), nn.SiLU(), nn.Conv2d(width, width, 3, { padding: 1 }));
    this.told = nn.Linear(4 * WIDTH, width);
    this.after = nn.Sequential(nn.GroupNorm(8, width), nn.SiLU(), nn.Conv2d(width, width, 3, { padding: 1 }));
  }

  forward(x, about) {
    const seen = this.before(x).add(this.told(about).unsqueeze(2).unsqueeze(3));
    return this.after(seen).add(x);
  }
}

export class Denoiser extends nn.Module {
  constructor() {
    super();
    this.digit = nn.Embedding(11, 4 * WIDTH);
    this.time = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.SiLU(), nn.Linear(4 * WIDTH, 4 * WIDTH));
    this.into = nn.Conv2d(1, WIDTH, 3, { padding: 1 });
    this.fine = new Block(WIDTH);
    this.down = nn.Conv2d(WIDTH, 2 * WIDTH, 3, { stride: 2, padding: 1 });
    this.coarse = nn.ModuleList([new Block(2 * WIDTH), new Block(2 * WIDTH)]);
    this.up = nn.Sequential(nn.Upsample({ scale_factor: 2 }), nn.Conv2d(2 * WIDTH, WIDTH, 3, { padding: 1 }));
    this.join = nn.Conv2d(2 * WIDTH, WIDTH, 1);
    this.last = new Block(WIDTH);
    this.out = nn.Sequential(nn.GroupNorm(8, WIDTH), nn.SiLU(), nn.Conv2d(WIDTH, 1, 3, { padding: 1 }));
  }

  /** Pictures [N, 1, 8, 8], how far each is from noise [N] and its digit [N]: the way to go on. */
  forward(x, time, digit) {
    const waves = time.unsqueeze(1).mul(torch.logspace(0, 2, WIDTH / 2, { device: time.device })),
      about = F.silu(this.time(torch.cat([waves.sin(), waves.cos()], 1)).add(this.digit(digit)));
    const fine = this.fine(this.into(x), about);
    let coarse = this.down(fine);
    for (const block of this.coarse) coarse = block(coarse, about);
    return this.out(this.last(this.join(torch.cat([fine, this.up(coarse)], 1)), about));
  }
}

/** `train()`, a step on some of the pictures; answers a promise of its loss.  `data`: of ../digits. */
export function trainer(model, data, device) {
  const pictures = torch.tensor(data.images, { device }).view(-1, 1, SIDE, SIDE).add(1.25).div(2).sub(1), // -1 to 1
    digits = torch.tensor(data.labels, { dtype: torch.long, device }),
    optimizer = optim.AdamW(model.parameters(), { lr: 2e-3, weight_decay: 0.01 });
  const step = torch.compile((some) => {
    const picture = pictures.index(some),
      noise = torch.randn_like(picture),
      time = torch.rand([BATCH], { device }),
      said = digits.index(some).where(torch.rand([BATCH], { device }).ge(UNSAID), ANY),
      far = time.view(-1, 1, 1, 1);
    optimizer.zero_grad();
    const way = model(noise.mul(far.neg().add(1)).add(picture.mul(far)), time, said),
      loss = F.mse_loss(way, picture.sub(noise));
    loss.backward();
    optimizer.step();
    return loss;
  });
  return { optimizer, train: () => step(torch.randint(0, data.images.length, [BATCH], { device })).item() };
}

/** Yields pictures [N, 8, 8], from -1 to 1, of `digits` as they come out of noise, `steps` times. */
export async function* draw(model, digits, device, steps = 24) {
  const said = torch.tensor(digits, { dtype: torch.long, device }),
    both = torch.cat([said, torch.full_like(said, ANY)]);
  const onward = torch.compile((x, time) =>
    torch.no_grad(() => {
      const [known, any] = model(torch.cat([x, x]), time, both).chunk(2);
      return x.add(any.add(known.sub(any).mul(PUSH)).div(steps));
    }),
  );
  let x = torch.randn([digits.length, 1, SIDE, SIDE], { device });
  for (let n = 0; n < steps; n++) {
    x = onward(x, torch.full([2 * digits.length], n / steps, { device }));
    yield x.squeeze(1).clamp(-1, 1);
  }
}
