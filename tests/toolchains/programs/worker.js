// A worker has no import map: it loads the package by its place.
import * as torch from "./node_modules/tensorloom/index.js";

async function train() {
  const gpu = await torch.initWebGPUAsync(),
    w = torch.ones([4], { requires_grad: true }),
    losses = [];
  const step = torch.optim.SGD([w], { lr: 0.1 });
  for (let i = 0; i < 2; i++) {
    const loss = w.square().sum();
    losses.push(await loss.item());
    loss.backward();
    await step.step();
    w.grad = null;
  }
  return { gpu, device: w.device, losses };
}
train().then(postMessage, (error) => postMessage({ error: String(error.stack ?? error) }));
