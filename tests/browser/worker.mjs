// A module worker that adds on the GPU and says how it went.
import * as torch from "../../dist/index.js";

try {
  if (!(await torch.initWebGPUAsync())) throw new Error("no WebGPU in a worker");
  const sum = torch.tensor([1, 2]).add(torch.tensor([3, 4]));
  if (String(sum.device) !== "webgpu" || String(await sum.tolist()) !== "4,6")
    throw new Error(`wrong sum on ${sum.device}`);
  postMessage({});
} catch (error) {
  postMessage({ error: String(error) });
}
