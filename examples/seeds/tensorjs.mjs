// TensorJS's program: a model of layers, trained by Adam on the GPU.  The calls are those of its article; its ONNX file
// is not here.
import { Adam, Linear, Relu, Sequential, Tensor } from "../../dist/compat/tensorjs.js";

const STEPS = 60;

const model = new Sequential([new Linear(1, 128), new Relu(), new Linear(128, 64), new Relu(), new Linear(64, 1)]);
await model.toBackend("GPU");
const optimizer = new Adam(model, 0.01);

// A parabola to learn.
const xs = Array.from({ length: 64 }, (_, i) => -1 + i / 32);
const x = new Tensor(xs, { shape: [64, 1] }),
  y = new Tensor(
    xs.map((v) => v * v),
    { shape: [64, 1] },
  );

const losses = [];
for (let step = 0; step < STEPS; step++) {
  const [prediction] = await model.forward([x]);
  const loss = prediction.subtract(y).power(2).reduceMean();
  loss.backward();
  optimizer.step();
  optimizer.zeroGrads();
  losses.push(loss.item());
}

const a = new Tensor([1, 2, 3, 4, 5, 6], { shape: [2, 3] });
const b = new Tensor([1, 2, 3, 4, 5, 6], { shape: [3, 2] });
const c = a.matmul(b);

export const answers = {
  device: model.getParameters()[0].device,
  losses: await Promise.all(losses),
  matmul: await c.tolist(),
  values: Array.from(await c.getValues()),
  shape: c.getShape(),
};
