// The same with tensorloom/core.
import * as torch from "tensorloom/core";

export async function train() {
  const gpu = await torch.initWebGPUAsync();
  torch.manual_seed(0);
  const x = torch.randn([16, 4]),
    y = x.sum(1, true),
    losses = [],
    w = torch.randn([4, 1], { requires_grad: true });
  for (let i = 0; i < 2; i++) {
    const loss = torch.nn.functional.mse_loss(x.matmul(w), y);
    losses.push(await loss.item());
    loss.backward();
    torch.no_grad(() => w.sub_(w.grad.mul(0.1)));
    w.grad = null;
  }
  return { gpu, device: x.device, losses };
}
