// Makes weights.safetensors, with which the page begins: node examples/diffusion/train.mjs [webgpu|cpu] [steps].
// Needs dist/ (python3 build.py); some minutes on a CPU.
import { writeFile } from "node:fs/promises";
import * as torch from "../../dist/index.js";
import { readDigits } from "../digits/digits.mjs";
import { read } from "../read.mjs";
import { Denoiser, trainer } from "./diffusion.mjs";

const [wanted = "cpu", steps = "3000"] = process.argv.slice(2),
  device = wanted === "webgpu" && (await torch.initWebGPUAsync()) ? "webgpu" : "cpu",
  data = readDigits(await read(new URL("../digits/digits.bin", import.meta.url)));
torch.manual_seed(0);
torch.set_slow_warnings(false); // each loss is read: that is slow, and meant
const model = new Denoiser();
await model.to(device);
const { optimizer, train } = trainer(model, data.train, device),
  schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, Number(steps));
let mean = 0;
for (let n = 1; n <= Number(steps); n++) {
  mean += (await train()) / 100;
  schedule.step();
  if (n % 100 === 0) {
    console.log(`${String(n).padStart(5)}  ${mean.toFixed(4)}`);
    mean = 0;
  }
}
await model.to("cpu"); // halves are not on every GPU
const halves = Object.fromEntries(Object.entries(model.state_dict()).map(([name, x]) => [name, x.to(torch.float16)]));
await writeFile(new URL("weights.safetensors", import.meta.url), await torch.safetensors.save(halves));
process.exit(0); // Dawn keeps the process alive otherwise
