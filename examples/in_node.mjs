// What the train.mjs of each example does in Node: train on a device, print, compare with PyTorch.
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import * as torch from "../dist/index.js";
import { follow } from "./follow.mjs";

/** How far from PyTorch's losses a right program may be: float32 adds up in another order on each device. */
const WITHIN = 0.01;

/**
 * Trains an example with the device and the number of steps that the command line names; the exit code is 1 where it
 * strays.
 */
export async function main(train, folder) {
  const [wanted = "webgpu", steps] = process.argv.slice(2),
    found = wanted === "webgpu" && (await torch.initWebGPUAsync());
  if (wanted === "webgpu" && !found)
    console.log("no WebGPU here (it takes the npm package webgpu and a GPU): training on the CPU");
  const device = found ? "webgpu" : "cpu";
  torch.set_slow_warnings(false); // each loss is read: that is slow, and meant
  console.log(`step      loss   PyTorch's`);
  const done = await follow(train, folder, device, {
    steps: steps && Number(steps),
    report(step, loss, theirs) {
      if (step % 20 === 0 || step === 199)
        console.log(`${String(step).padStart(4)}  ${loss.toFixed(6)}    ${theirs.toFixed(6)}`);
    },
  });
  console.log(
    `${basename(fileURLToPath(folder))} on ${device}: ${done.losses.length} steps in ${done.seconds.toFixed(1)} s, ` +
      `at most ${(100 * done.worst).toPrecision(2)} % from PyTorch's loss (step ${done.at})`,
  );
  process.exit(done.worst <= WITHIN ? 0 : 1); // Dawn keeps the process alive otherwise
}
