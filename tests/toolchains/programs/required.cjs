// The whole package and the core by `require`, which in Node before 20.19 finds the classic scripts.
const torch = require("tensorloom"), core = require("tensorloom/core"), functional = require("tensorloom/functional");

(async () => {
  const gpu = await torch.initWebGPUAsync(), w = torch.ones([4, 1], { requires_grad: true }), losses = [];
  const step = torch.optim.SGD([w], { lr: 0.1 }), x = torch.eye(4);
  for (let i = 0; i < 2; i++) {
    const loss = x.matmul(w).square().mean();
    losses.push(await loss.item());
    loss.backward();
    await step.step();
  }
  if (await core.tensor([1]).add(2).item() !== 3 || functional.add !== torch.add) throw new Error("another package");
  console.log(`trained ${JSON.stringify({ gpu, device: w.device, losses })}`);
  process.exit(0);
})();
