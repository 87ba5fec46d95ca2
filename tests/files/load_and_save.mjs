// Loads checkpoints of PyTorch, saves them again as NAME.back.pt, and trains on: node load_and_save.mjs FOLDER, which holds
// what prove_resume.py made.  Fails where a loss is not PyTorch's, but for rounding.
import { readFileSync } from "node:fs";

const [folder] = process.argv.slice(2);
const torch = await import("../../dist/in-node/index.js"),
  { nn, optim } = torch,
  { lr_scheduler: schedulers } = optim,
  NEAR = 1e-5;
torch.set_slow_warnings(false);

// As in prove_resume.py.
const OPTIMIZERS = {
  SGD: { lr: 0.05, momentum: 0.9 },
  Adam: { lr: 0.01, amsgrad: true },
  AdamW: { lr: 0.01 },
  Adamax: { lr: 0.01 },
  NAdam: { lr: 0.01 },
  RAdam: { lr: 0.01 },
  RMSprop: { lr: 0.01, momentum: 0.5, centered: true },
  Adagrad: { lr: 0.05 },
  Adadelta: { lr: 1 },
  ASGD: { lr: 0.02 },
  Rprop: { lr: 0.01 },
  Adafactor: { lr: 0.01 },
  LBFGS: { lr: 0.5 },
  Muon: { lr: 0.01 },
};
const SCHEDULES = {
  StepLR: { step_size: 3, gamma: 0.5 },
  MultiStepLR: { milestones: [2, 6] },
  ConstantLR: {},
  LinearLR: {},
  ExponentialLR: { gamma: 0.9 },
  CosineAnnealingLR: { T_max: 7 },
  CosineAnnealingWarmRestarts: { T_0: 3 },
  CyclicLR: { base_lr: 0.01, max_lr: 0.1, cycle_momentum: false },
  OneCycleLR: { max_lr: 0.1, total_steps: 30, cycle_momentum: false },
  PolynomialLR: {},
  LambdaLR: { lr_lambda: (n) => 0.9 ** n },
  MultiplicativeLR: { lr_lambda: () => 0.9 },
  ReduceLROnPlateau: { patience: 1 },
};

function training(optimizerName, scheduleName) {
  const net =
    optimizerName === "Muon"
      ? nn.Sequential(nn.Linear(6, 5, { bias: false }), nn.Tanh(), nn.Linear(5, 3, { bias: false }))
      : nn.Sequential(nn.Linear(6, 5), nn.BatchNorm1d(5), nn.Tanh(), nn.Linear(5, 3));
  const optimizer = optim[optimizerName](net.parameters(), OPTIMIZERS[optimizerName]);
  const parts = () => [
    schedulers.ConstantLR(optimizer, { total_iters: 2 }),
    schedulers.ExponentialLR(optimizer, { gamma: 0.9 }),
  ];
  if (scheduleName === "SequentialLR") return [net, optimizer, schedulers.SequentialLR(optimizer, parts(), [3])];
  if (scheduleName === "ChainedScheduler") return [net, optimizer, schedulers.ChainedScheduler(parts(), { optimizer })];
  return [net, optimizer, schedulers[scheduleName](optimizer, SCHEDULES[scheduleName])];
}

const x = torch.linspace(-1, 1, 24).reshape(4, 6),
  wanted = torch.tensor([0, 1, 2, 1], { dtype: "int64" });
let most = 0;
for (const [name, losses] of Object.entries(JSON.parse(readFileSync(`${folder}/losses.json`, "utf8")))) {
  const [net, optimizer, schedule] = training(...name.split("_")),
    saved = await torch.load(`${folder}/${name}.pt`);
  net.load_state_dict(saved.model);
  optimizer.load_state_dict(saved.optimizer);
  schedule.load_state_dict(saved.schedule);
  const state = { model: net.state_dict(), optimizer: optimizer.state_dict(), schedule: schedule.state_dict() };
  await torch.save(state, `${folder}/${name}.back.pt`);
  for (const loss of losses) {
    const got = await optimizer.step(() => {
      optimizer.zero_grad();
      const value = nn.functional.cross_entropy(net(x), wanted);
      value.backward();
      return value;
    });
    const value = await got.item(),
      far = Math.abs(value - loss) / Math.max(Math.abs(loss), 1e-2);
    if (!(far < NEAR)) throw new Error(`${name}: a loss of ${value}, PyTorch: ${loss}`);
    most = Math.max(most, far);
    await schedule.step(...(name.endsWith("ReduceLROnPlateau") ? [value] : []));
  }
}
console.log(`the largest difference of a loss is ${most.toExponential(1)} of it`);
process.exit(0);
