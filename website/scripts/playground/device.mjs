// Where programs of the playgrounds run.

/** Makes `torch` use a device: "webgpu", "cpu", or "" for the fastest; in words, which.  Throws where there is no GPU. */
export async function choose(torch, device) {
  const adapter = device === "cpu" ? null : await navigator.gpu?.requestAdapter(),
    fast = adapter && (device === "webgpu" || !adapter.info?.isFallbackAdapter);
  if (fast && (await torch.initWebGPUAsync())) return "on the GPU";
  if (device === "webgpu") throw new Error("there is no WebGPU in this browser");
  return "on the CPU";
}
