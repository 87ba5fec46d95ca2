// A step of training with the whole package: which device it ran on, and the loss before and after.
import * as torch from "tensorloom";

export async function train() {
  const { nn, optim } = torch,
    gpu = await torch.initWebGPUAsync();
  torch.manual_seed(0);
  const x = torch.randn([16, 4]),
    y = x.sum(1, true),
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1));
  const step = optim.SGD(model.parameters(), { lr: 0.05 }),
    losses = [];
  for (let i = 0; i < 2; i++) {
    const loss = nn.functional.mse_loss(model(x), y);
    losses.push(await loss.item());
    loss.backward();
    await step.step();
  }
  return { gpu, device: x.device, losses };
}
