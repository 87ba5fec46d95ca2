// The same with tensorloom/compat/tensorjs, beside the whole package.
import * as torch from "tensorloom";
import { Linear, SGD } from "tensorloom/compat/tensorjs";

export async function train() {
  const gpu = await torch.initWebGPUAsync();
  torch.manual_seed(0);
  const x = torch.randn([16, 4]),
    y = x.sum(1, true),
    model = new Linear(4, 1),
    step = new SGD(model, 0.05),
    losses = [];
  for (let i = 0; i < 2; i++) {
    const [out] = await model.forward([x]),
      loss = torch.nn.functional.mse_loss(out, y);
    losses.push(await loss.item());
    loss.backward();
    await step.step();
    for (const p of model.parameters()) p.grad = null;
  }
  return { gpu, device: x.device, losses };
}
