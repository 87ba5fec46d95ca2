// Follows a loss curve that PyTorch recorded: trains from the same weights, and says how far the losses are from
// PyTorch's. `folder` is the address of an example that has a curve.json; see record.py.
import { read } from "./read.mjs";

/**
 * Trains on `device`, for `steps` steps at most, and no more once `seconds` have gone by since the first, which
 * compiles the kernels;
 *  `report(step, loss, wanted)` is told of each.  Answers the losses, the largest relative deviation and its step. */
export async function follow(train, folder, device, { steps, seconds = Infinity, report } = {}) {
  const curve = JSON.parse(new TextDecoder().decode(await read(new URL("curve.json", folder))));
  const losses = [],
    began = performance.now();
  let worst = 0,
    at = 0,
    end = Infinity;
  for await (const loss of train(device, Math.min(steps ?? Infinity, curve.losses.length))) {
    const step = losses.length,
      wanted = curve.losses[step],
      got = await loss.item();
    losses.push(got);
    const off = Math.abs(got - wanted) / wanted;
    if (!(off <= worst)) [worst, at] = [off, step];
    report?.(step, got, wanted);
    if (step === 0) end = performance.now() + 1000 * seconds;
    if (performance.now() > end) break;
  }
  return { losses, worst, at, of: curve.losses.length, seconds: (performance.now() - began) / 1000 };
}
