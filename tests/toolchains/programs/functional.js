// The same with tensorloom/functional, of which bundlers keep what is called, and tensorloom/wasm, of which they keep all.
import "tensorloom/wasm";
import { initWebGPUAsync, manual_seed, matmul, mul, no_grad, randn, sub, sum } from "tensorloom/functional";

export async function train() {
  const gpu = await initWebGPUAsync();
  manual_seed(0);
  const x = randn([16, 4]),
    y = sum(x, 1, true),
    losses = [];
  let w = randn([4, 1], { requires_grad: true });
  for (let i = 0; i < 2; i++) {
    const error = sub(matmul(x, w), y),
      loss = sum(mul(error, error));
    losses.push(await loss.item());
    loss.backward();
    const moved = no_grad(() => sub(w, mul(w.grad, 0.01)));
    w = moved.detach().requires_grad_();
  }
  return { gpu, device: x.device, losses };
}
