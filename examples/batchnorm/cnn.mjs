// A convolutional network with batch normalisation learns handwritten digits; cnn.py is the same program in PyTorch.
// It runs in Node (train.mjs) and in a page alike.
import * as torch from "../../dist/index.js";
import { batch, readDigits } from "../digits/digits.mjs";
import { read } from "../read.mjs";

const { nn, optim } = torch,
  F = nn.functional;
const BATCH = 32,
  STEPS = 200;

export function network() {
  return nn.Sequential(
    nn.Unflatten(1, [1, 8, 8]),
    nn.Conv2d(1, 16, 3, { padding: 1, bias: false }),
    nn.BatchNorm2d(16),
    nn.GELU(),
    nn.Conv2d(16, 16, 3, { padding: 1, bias: false }),
    nn.BatchNorm2d(16),
    nn.GELU(),
    nn.AvgPool2d(2),
    nn.Conv2d(16, 32, 3, { padding: 1, bias: false }),
    nn.BatchNorm2d(32),
    nn.GELU(),
    nn.AdaptiveAvgPool2d(1),
    nn.Flatten(),
    nn.Linear(32, 10),
  );
}

/** Yields the loss of each step, from the weights with which PyTorch began. */
export async function* train(device, steps = STEPS) {
  const digits = readDigits(await read(new URL("../digits/digits.bin", import.meta.url)));
  const model = network();
  await model.load_state_dict(new URL("weights.safetensors", import.meta.url));
  await model.to(device);
  const optimizer = optim.AdamW(model.parameters(), { lr: 1e-2, weight_decay: 0.05 });
  const schedule = optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS);
  for (let step = 0; step < steps; step++) {
    const { images, labels } = batch(step, BATCH, digits.train);
    const scores = model(torch.tensor(images, { device }));
    const loss = F.cross_entropy(scores, torch.tensor(labels, { dtype: torch.long, device }), { label_smoothing: 0.1 });
    optimizer.zero_grad();
    loss.backward();
    await optimizer.step();
    schedule.step();
    yield loss;
  }
}
