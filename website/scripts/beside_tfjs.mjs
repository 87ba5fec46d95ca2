// What the page of speed measures, once for this package and once for TensorFlow.js: the same sizes, the same data.
import { uniform } from "../../bench/measure.mjs";

const count = (shape) => shape.reduce((a, b) => a * b, 1);

/** In the order of the page: its id, what a reader reads. */
export const WORKLOADS = [
  ["add", "add, 1M elements"],
  ["chain", "12 ops in a chain, 1M elements"],
  ["sum", "sum, 1M elements"],
  ["softmax", "softmax of rows, 1024²"],
  ["matmul", "matrix product, 512²"],
  ["conv", "convolution, 64 channels of 56², 3 x 3"],
  ["step", "a step of a network with Adam, 784-256-10, batch 128"],
];

const SQUARE = [512, 512],
  MILLION = [1024, 1024],
  STEP = { images: [128, 784], hidden: [784, 256], last: [256, 10] };
const labels = Int32Array.from({ length: 128 }, (_, i) => (i * 7) % 10);

/** name -> {run, done}: `run` computes once, `done` gives its memory back.  `torch`: the package. */
export function ours(torch, device) {
  const { nn, optim } = torch,
    F = nn.functional;
  const tensor = (shape, seed) => torch.tensor(uniform(count(shape), seed), { shape, device });
  const [a, b] = [tensor(MILLION, 1), tensor(MILLION, 2)],
    [m, n] = [tensor(SQUARE, 3), tensor(SQUARE, 4)],
    [x, w] = [tensor([1, 64, 56, 56], 5), tensor([64, 64, 3, 3], 6)];
  const once = (call) => () => call().dispose();
  const net = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10)).to(device),
    optimizer = optim.Adam(net.parameters(), { lr: 0.001 }),
    images = tensor(STEP.images, 7),
    wanted = torch.tensor(labels, { shape: [128], device });
  const probe = tensor([1], 8);
  return {
    runs: {
      add: once(() => a.add(b)),
      chain: once(() =>
        torch.tidy(() => {
          let y = a;
          for (let i = 0; i < 4; i++) y = y.mul(1.01).add(0.5).tanh();
          return y;
        }),
      ),
      sum: once(() => a.sum()),
      softmax: once(() => a.softmax(-1)),
      matmul: once(() => m.matmul(n)),
      conv: once(() => F.conv2d(x, w, null, { padding: 1 })),
      step: async () => {
        optimizer.zero_grad();
        F.cross_entropy(net(images), wanted).backward();
        await optimizer.step();
      },
    },
    /** Waits until all that was asked for is computed. */
    wait: () => probe.add(1).data(),
  };
}

/** The same for TensorFlow.js. */
export function theirs(tf) {
  const tensor = (shape, seed) => tf.tensor(uniform(count(shape), seed), shape);
  const [a, b] = [tensor(MILLION, 1), tensor(MILLION, 2)],
    [m, n] = [tensor(SQUARE, 3), tensor(SQUARE, 4)],
    // Its convolutions have their channels last.
    [x, w] = [tensor([1, 56, 56, 64], 5), tensor([3, 3, 64, 64], 6)];
  const once = (call) => () => tf.dispose(tf.tidy(call));
  const variable = (shape, seed) => tf.variable(tf.mul(tensor(shape, seed), 0.05));
  const weights = [variable(STEP.hidden, 9), variable([256], 10), variable(STEP.last, 11), variable([10], 12)],
    optimizer = tf.train.adam(0.001),
    images = tensor(STEP.images, 7),
    wanted = tf.oneHot(tf.tensor1d(labels, "int32"), 10),
    probe = tensor([1 << 14], 8);
  return {
    runs: {
      add: once(() => tf.add(a, b)),
      chain: once(() => {
        let y = a;
        for (let i = 0; i < 4; i++) y = tf.tanh(tf.add(tf.mul(y, 1.01), 0.5));
        return y;
      }),
      sum: once(() => tf.sum(a)),
      softmax: once(() => tf.softmax(a)),
      matmul: once(() => tf.matMul(m, n)),
      conv: once(() => tf.conv2d(x, w, 1, "same")),
      step: () =>
        tf.tidy(() => {
          optimizer.minimize(() => {
            const hidden = tf.relu(tf.add(tf.matMul(images, weights[0]), weights[1]));
            return tf.losses.softmaxCrossEntropy(wanted, tf.add(tf.matMul(hidden, weights[2]), weights[3]));
          });
        }),
    },
    /** Waits for all before it; of fewer elements its GPU backend would compute on the processor, waiting for nothing. */
    wait: async () => {
      const last = tf.add(probe, 1);
      await last.data();
      last.dispose();
    },
  };
}
