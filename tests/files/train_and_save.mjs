// Trains a small network and saves it in the middle, with its optimizer: node train_and_save.mjs OUT OPTIMIZER [cpu|webgpu]
// prove_training.py goes on from there in PyTorch.  OUT gets the checkpoint; prints the losses after it as JSON.
const [out, name, device = "cpu"] = process.argv.slice(2);
const torch = await import("../../dist/in-node/index.js"),
  { nn, optim } = torch;
if (device === "webgpu" && !(await torch.initWebGPUAsync())) throw new Error("no WebGPU in Node");
torch.set_slow_warnings(false);

/** The options of each optimizer, as prove_training.py has them. */
const OPTIMIZERS = {
  SGD: { lr: 0.05, momentum: 0.9, nesterov: true },
  Adam: { lr: 0.01, amsgrad: true },
  AdamW: { lr: 0.01, weight_decay: 0.1 },
  Adamax: { lr: 0.01 },
  NAdam: { lr: 0.01 },
  RAdam: { lr: 0.01 },
  RMSprop: { lr: 0.01, momentum: 0.5, centered: true },
  Adagrad: { lr: 0.05 },
  Adadelta: { lr: 1 },
  ASGD: { lr: 0.02 },
  Rprop: { lr: 0.01 },
};
const BEFORE = 5,
  AFTER = 5;

torch.manual_seed(7);
const net = nn.Sequential(nn.Conv1d(2, 4, 3), nn.BatchNorm1d(4), nn.ReLU(), nn.Flatten(), nn.Linear(24, 3)).to(device),
  x = torch.linspace(-1, 1, 64, { device }).reshape([4, 2, 8]),
  wanted = torch.tensor([0, 1, 2, 1], { dtype: "int64", device }),
  optimizer = optim[name](net.parameters(), OPTIMIZERS[name]),
  schedule = optim.lr_scheduler.StepLR(optimizer, 3, { gamma: 0.5 });

async function step() {
  optimizer.zero_grad();
  const loss = nn.functional.cross_entropy(net(x), wanted);
  loss.backward();
  await optimizer.step();
  schedule.step();
  return loss.item();
}
for (let n = 0; n < BEFORE; n++) await step();
await torch.save(
  {
    model: net.state_dict(),
    optimizer: optimizer.state_dict(),
    schedule: schedule.state_dict(),
    inputs: x,
    wanted,
  },
  out,
);
const losses = [];
for (let n = 0; n < AFTER; n++) losses.push(await step());
console.log(JSON.stringify(losses));
process.exit(0);
