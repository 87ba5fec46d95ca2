// A training loop that disposes of nothing, and how much memory it held on the way: for tests of Node and of Chromium.
const PARTS = 20;

/**
 * Trains a small network for `steps` steps, or for `seconds` after the first, which compiles the kernels.  Answers the
 * most bytes that were held in each twentieth of the steps: by the
 *  device, where buffers that wait to be used again count too, and by live tensors. */
export async function heldWhileTraining(torch, device, { steps = 10_000, seconds = Infinity } = {}) {
  const { nn, optim } = torch,
    F = nn.functional;
  const net = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 4));
  await net.to(device);
  const optimizer = optim.AdamW(net.parameters(), { lr: 1e-3 });
  const held = { device: [], live: [] };
  let step = 0,
    began = Infinity;
  for (; step < steps && performance.now() - began < 1000 * seconds; step++) {
    const x = torch.randn([8, 8], { device }),
      y = torch.zeros([8], { dtype: torch.long, device });
    const loss = F.cross_entropy(net(x), y);
    optimizer.zero_grad();
    loss.backward();
    await optimizer.step();
    if (step % 50 === 0) await loss.item(); // as programs do now and then: the GPU must not fall far behind
    if (step === 0) began = performance.now();
    const part = Math.floor((PARTS * step) / steps),
      { bytes, deviceBytes = bytes } = torch.memory()[device];
    held.live[part] = Math.max(held.live[part] ?? 0, bytes);
    held.device[part] = Math.max(held.device[part] ?? 0, deviceBytes);
  }
  await torch.defaultDevice().synchronize(); // Dawn may crash on its way out while it works
  return { ...held, steps: step, seconds: (performance.now() - began) / 1000 };
}

/**
 * The most held in the second half of the steps over the most in the first: about 1 on a machine that is left alone.
 * Where waiting for
 *  the collector takes too long, the room for what it has not found doubles (runtime/devices/gc-pressure.ts), so tests hold
 * a bound of all
 *  steps, and that nothing is left after a collection. */
export function growth(most) {
  const half = Math.ceil(most.length / 2);
  return most.length < 2 ? 1 : Math.max(...most.slice(half)) / Math.max(...most.slice(0, half));
}
