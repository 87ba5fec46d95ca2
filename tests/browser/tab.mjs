// What a tab, or a worker of one, does beside others of the same origin: tests/test_tabs.py.

import * as torch from "../../dist/torch.module.js";

const { nn } = torch,
  F = nn.functional;

/** The sums of a file of weights that all bring at once. */
export async function brought(address) {
  const state = await torch.hub.load_state_dict_from_url(address);
  return Object.fromEntries(await Promise.all(Object.entries(state).map(async ([k, v]) => [k, await v.sum().item()])));
}

/** Losses of a small network, of draws that only this seed has, on a device. */
export async function trained(device, seed, steps = 6) {
  if (device === "webgpu" && !(await torch.initWebGPUAsync())) throw new Error("no WebGPU here");
  torch.manual_seed(seed);
  torch.set_default_device(device);
  const net = nn.Sequential(nn.Linear(8, 16), nn.Dropout(0.2), nn.Tanh(), nn.Linear(16, 3)),
    optimizer = torch.optim.Adam(net.parameters(), { lr: 0.05 }),
    losses = [];
  for (let i = 0; i < steps; i++) {
    optimizer.zero_grad();
    const loss = F.cross_entropy(net(torch.randn([20, 8])), torch.arange(20).remainder(3));
    loss.backward();
    optimizer.step();
    losses.push(await loss.item());
  }
  return losses;
}

/** What is set for one program and for no other: how many bytes its tensors take, and its modes. */
export function own(size) {
  const kept = torch.ones([size], { device: "cpu" });
  globalThis.kept = kept;
  torch.set_grad_enabled(size % 2 === 0);
  torch.use_deterministic_algorithms(size % 3 === 0);
  return [torch.is_grad_enabled(), torch.are_deterministic_algorithms_enabled(), torch.memory().cpu.bytes];
}

/** The same in a worker of this tab. */
export function inWorker(name, ...args) {
  const worker = new Worker(new URL("tab_worker.mjs", import.meta.url), { type: "module" });
  return new Promise((done, failed) => {
    worker.onmessage = ({ data }) => ("error" in data ? failed(new Error(data.error)) : done(data.answer));
    worker.onerror = (event) => failed(new Error(event.message));
    worker.postMessage([name, args]);
  }).finally(() => worker.terminate());
}
