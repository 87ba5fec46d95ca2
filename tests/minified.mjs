// Names that a program sees: [where, name] for each class of the package, and for what prints names of classes.
import * as torch from "tensorloom";
import * as compat from "tensorloom/compat/tensorjs";

const { nn, optim, utils } = torch;
const found = [],
  seen = new Set();

function look(holder, path) {
  for (const [key, value] of Object.entries(holder)) {
    if (/^[a-z]/.test(key) && typeof value === "object" && value !== null && !seen.has(value)) {
      // a namespace
      seen.add(value);
      look(value, `${path}.${key}`);
    } else if (typeof value === "function" && /^[A-Z]/.test(key) && value.prototype)
      found.push([`${path}.${key}`, value.name]);
  }
}
look(torch, "torch");
look(compat, "compat");

const said = (text, make) => {
  try {
    found.push([text, String(make())]);
  } catch (error) {
    found.push([text, `${error}; ${error.name}; ${error.constructor.name}`]);
  }
};
const x = torch.ones([2]);
const model = nn.Sequential(
  nn.Linear(2, 3),
  nn.ReLU(),
  nn.Conv2d(1, 2, 3),
  nn.BatchNorm1d(3),
  nn.TransformerEncoderLayer(4, 2),
  nn.LSTM(2, 3),
  nn.ModuleList([nn.Embedding(2, 3)]),
  nn.ModuleDict({ a: nn.LazyLinear(3) }),
  nn.ParameterList([x]),
);
said("a model", () => model);
for (const [name, make] of Object.entries(optim))
  if (/^[A-Z]/.test(name) && name !== "Optimizer") said(name, () => make(nn.Linear(2, 2).parameters(), { lr: 0.1 }));
const adam = optim.Adam(model.parameters());
said("a type", () => torch.ones(torch.float32));
for (const wrong of [
  x,
  x.storage,
  adam,
  model,
  new torch.Generator(),
  class Mine {},
  utils.data.TensorDataset(x),
  optim.lr_scheduler.StepLR(adam, 1),
])
  said("a wrong value", () => torch.ones(wrong));
said("an index", () => x.index(5));
said("a gradient", () => x.sum().backward());
said("a device", () => x.to("webgpu"));
said("an own error", () => {
  throw new (class Own extends torch.OpError {})("said");
});
said("a dataset", () => new (class Own extends utils.data.Dataset {})().length);
console.log(JSON.stringify(found));
