// The torch.js proposal's program: a network as a class, its weights from a file by name, values by `await x.data()`.
// model.ptjs is what PyTorch saved of the same network; record.py made it, and what PyTorch answers.
import * as torch from "../../dist/index.js";

await torch.initWebGPUAsync();
const { nn } = torch;

export class Net extends nn.Module {
  constructor() {
    super();
    this.convs = nn.Sequential(
      nn.Conv2d(3, 16, 5, { stride: 1, padding: 2 }),
      nn.MaxPool2d(2),
      nn.ReLU(),
      nn.Conv2d(16, 32, 5, { stride: 1, padding: 2 }),
      nn.MaxPool2d(2),
      nn.ReLU(),
    );
    this.mlp = nn.Linear(32, 10);
  }

  forward(input) {
    let x = input;
    x = this.convs(x);
    x = x.view([x.size(0), -1]);
    return this.mlp(x);
  }
}

const model = new Net();
await model.load_state_dict("model.ptjs");

const images = torch.arange(96).mul(0.05).sin().view([2, 3, 4, 4]);
const scores = model(images);

// A state from an object: the same network again.
const twin = new Net();
await twin.load_state_dict(model.state_dict());

const x = torch.randn(128);
const data = await x.data();
const positive = x.relu_();

const input = torch.ones([1, 3, 9, 9]),
  weight = torch.ones([2, 3, 3, 3]);
const strided = torch.nn.functional.conv2d(input, weight, { stride: 3 });

export const answers = {
  device: scores.device,
  scores: await scores.tolist(),
  twin: await twin.forward(images).tolist(),
  data: data.constructor.name,
  length: data.length,
  inPlace: positive === x,
  negatives: (await x.data()).filter((v) => v < 0).length,
  strided: await strided.tolist(),
};
