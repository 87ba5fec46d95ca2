// What an op without results, which only changes its arguments, looks at before it runs: no gradient goes through it.

import type { ValueCheck } from "../program/compiled-op.js";
import { AutogradError } from "../base/errors.js";
import { isRecording } from "../tape/grad-mode.js";
import { beforeInPlace } from "../tensor/in-place-checks.js";
import { Tensor } from "../tensor/tensor.js";

/** Throws AutogradError where an argument must not be changed in place now, or would lose its gradient. */
export const changing: ValueCheck = ({ name, params, slots }, values, results) => {
  params.forEach(({ slot, name: argument }, i) => {
    const x = values[i];
    if (results || slot < 0 || !slots[slot]!.mut || !(x instanceof Tensor)) return;
    beforeInPlace(x, name);
    if (x.requires_grad && isRecording()) {
      throw new AutogradError(
        `${name}: '${argument}' requires a gradient, and none goes through this change; call it within torch.no_grad()`,
      );
    }
  });
  return [];
};
