// A network learns a curve
import * as torch from "tensorloom";
const { nn, optim } = torch,
  F = nn.functional;

torch.manual_seed(0);
const x = torch.linspace(-3, 3, 120).unsqueeze(1),
  y = x.mul(2).sin();
const model = nn.Sequential(nn.Linear(1, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1));
const optimizer = optim.Adam(model.parameters(), { lr: 0.01 }),
  losses = [];

for (let step = 0; step < 200; step++) {
  optimizer.zero_grad();
  const loss = F.mse_loss(model(x), y);
  loss.backward();
  await optimizer.step();
  if (step % 10 === 0) losses.push(await loss.item());
}
plot(losses);
plot(x, { wanted: y, learned: model(x).detach() });
console.log("loss", losses.at(-1));
