// How fast is this machine?
import * as torch from "tensorloom";

const sizes = [64, 128, 256, 512],
  gflops = [];
for (const n of sizes) {
  const a = torch.rand([n, n]),
    b = torch.rand([n, n]);
  await a.matmul(b).sum().item(); // compiled once
  const began = performance.now();
  let c = a;
  for (let i = 0; i < 10; i++) c = a.matmul(b);
  await c.sum().item();
  gflops.push((10 * 2 * n ** 3) / (performance.now() - began) / 1e6);
}
console.log("matrix products, GFLOP/s", Object.fromEntries(sizes.map((n, i) => [n, Number(gflops[i].toFixed(1))])));
plot(sizes, { "GFLOP/s": gflops });
