// The example itself, for any host: the data, the two networks, the training loop. It reads no files and prints
// nothing; train.mjs (Node) and page.mjs (browser) do. record.py is the same program in PyTorch.

const BATCH = { mlp: 128, cnn: 64 };

/** Parse digits.bin (see make_data.py): every fifth image is for testing. Pixels become -1.25 (paper) to 2.75 (ink). */
export function readDigits(bytes) {
  const train = { images: [], labels: [] },
    test = { images: [], labels: [] };
  for (let row = 0; row * 65 < bytes.length; row++) {
    const part = row % 5 === 4 ? test : train;
    part.images.push(Array.from(bytes.subarray(row * 65, row * 65 + 64), (ink) => ink / 4 - 1.25));
    part.labels.push(bytes[row * 65 + 64]);
  }
  return { train, test };
}

export function mlp({ nn }) {
  return nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 64), nn.GELU(), nn.Linear(64, 10));
}

export function cnn({ nn }) {
  return nn.Sequential(
    nn.Unflatten(1, [1, 8, 8]),
    nn.Conv2d(1, 16, 3, { padding: 1 }),
    nn.GELU(),
    nn.AvgPool2d(2),
    nn.Conv2d(16, 16, 3, { padding: 1 }),
    nn.GELU(),
    nn.Flatten(),
    nn.Linear(256, 10),
  );
}

export const MODELS = { mlp, cnn };

export const OPTIMIZERS = {
  "mlp sgd": ({ optim }, parameters) => optim.SGD(parameters, { lr: 0.07, momentum: 0.9 }),
  "mlp adam": ({ optim }, parameters) => optim.Adam(parameters, { lr: 0.005 }),
  "cnn sgd": ({ optim }, parameters) => optim.SGD(parameters, { lr: 0.1, momentum: 0.9 }),
  "cnn adam": ({ optim }, parameters) => optim.Adam(parameters, { lr: 0.02 }),
};

/** The images of one step: a fixed shuffle, the same in record.py. */
export function batch(step, size, { images, labels }) {
  const index = Array.from({ length: size }, (_, i) => ((step * size + i) * 577) % images.length);
  return { images: index.map((i) => images[i]), labels: index.map((i) => labels[i]) };
}

/** Put recorded weights ({name: {shape, data}}) into a model. */
export async function load(torch, model, weights) {
  const state = {};
  for (const [name, { shape, data }] of Object.entries(weights)) {
    state[name] = torch.tensor(Float32Array.from(data), { shape });
  }
  await model.load_state_dict(state);
}

/** Train one network on `device` from `weights` if given; returns the loss of each step, and the share of the
 *  test images it gets right. `report(step, loss)`, if given, is awaited after each step; the last step is the one for which it
 *  answers false. */
export async function train(torch, how, { train, test }, { device, weights, steps = 100, report }) {
  const F = torch.nn.functional;
  const name = how.split(" ")[0],
    model = MODELS[name](torch);
  if (weights) await load(torch, model, weights);
  await model.to(device);
  const optimizer = OPTIMIZERS[how](torch, model.parameters());
  const losses = [];
  for (let step = 0; step < steps; step++) {
    const { images, labels } = batch(step, BATCH[name], train);
    optimizer.zero_grad();
    const loss = F.cross_entropy(
      model(torch.tensor(images, { device })),
      torch.tensor(labels, { dtype: torch.long, device }),
    );
    loss.backward();
    await optimizer.step();
    losses.push(loss.item()); // a promise: steps need not wait for each other's loss
    if (report && (await report(step, await losses[step])) === false) break;
  }
  const accuracy = await evaluate(torch, model, test, device);
  return { losses: await Promise.all(losses), accuracy, model };
}

/** The share of images whose digit the model names. */
export async function evaluate(torch, model, { images, labels }, device) {
  const guesses = await torch.no_grad(() => model(torch.tensor(images, { device })).argmax(1)).tolist();
  return guesses.filter((guess, i) => guess === labels[i]).length / labels.length;
}
