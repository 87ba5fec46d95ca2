// An LSTM reads a text letter by letter and says what comes next; lstm.py is the same program in PyTorch.
// It runs in Node (train.mjs) and in a page alike.
import * as torch from "../../dist/index.js";
import { letters, streams } from "../alice/text.mjs";

const { nn, optim } = torch,
  F = nn.functional;
const BATCH = 8,
  LENGTH = 16,
  WIDTH = 48,
  STEPS = 200;

export class Reader extends nn.Module {
  constructor() {
    super();
    this.embed = nn.Embedding(letters.length, WIDTH);
    this.lstm = nn.LSTM(WIDTH, WIDTH, { num_layers: 2, batch_first: true });
    this.head = nn.Linear(WIDTH, letters.length);
  }

  forward(ids, state) {
    const [out, next] = this.lstm(this.embed(ids), state);
    return [this.head(out), next];
  }
}

/** Yields the loss of each step, from the weights with which PyTorch began. */
export async function* train(device, steps = STEPS) {
  const model = new Reader();
  await model.load_state_dict(new URL("weights.safetensors", import.meta.url));
  await model.to(device);
  const optimizer = optim.Adam(model.parameters(), { lr: 1e-2 });
  const schedule = optim.lr_scheduler.StepLR(optimizer, 50, 0.5);
  let scores,
    state = null;
  for (let step = 0; step < steps; step++) {
    const [x, y] = streams(step, BATCH, LENGTH, device);
    [scores, state] = model(x, state);
    state = state.map((part) => part.detach()); // what was read before is remembered, but no gradient goes there
    const loss = F.cross_entropy(scores.flatten(0, 1), y.flatten());
    optimizer.zero_grad();
    loss.backward();
    nn.utils.clip_grad_norm_(model.parameters(), 1);
    await optimizer.step();
    schedule.step();
    yield loss;
  }
}
