// After <script src="torch.js"> or "torch-core.js": the global `torch`.
async function train() {
  const gpu = await torch.initWebGPUAsync(),
    w = torch.ones([4], { requires_grad: true }),
    losses = [];
  for (let i = 0; i < 2; i++) {
    const loss = w.mul(w).sum();
    losses.push(await loss.item());
    loss.backward();
    torch.no_grad(() => w.sub_(w.grad.mul(0.1)));
    w.grad = null;
  }
  return { gpu, device: w.device, losses };
}
globalThis.trained = train().catch((error) => ({ error: String(error.stack ?? error) }));
