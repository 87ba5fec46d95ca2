// The uniforms of a launch: as they lie in its buffer, and those that other numbers of a call change.

import { infinite } from "../../../host/writer.js";
import type { Call, Launch, Kernel } from "../../../host/model.js";

const float = new Float32Array(1),
  word = new Uint32Array(float.buffer);

/**
 * Numbers as the words that lie in the uniform: "f" f32, others 32-bit integers.  An array of the program's own heap: a
 * program that is run again packs some at each run, and what lies elsewhere costs the collector more than it holds.
 */
export function packedUniforms(uniforms: readonly number[], kinds: readonly string[]): number[] {
  const out = new Array<number>(uniforms.length);
  for (let i = 0; i < out.length; i++) {
    if (kinds[i] === "f") {
      float[0] = uniforms[i]!;
      out[i] = word[0]!;
    } else out[i] = uniforms[i]!;
  }
  return out;
}

/** The values of a kernel's own uniforms in a call. */
function own(kernel: Kernel, call: Call): number[] {
  return kernel.uniforms.map(({ name, value }) => (value ? value(call.env) : (call.env[name] ?? infinite(name))));
}

/** A kernel's uniforms come first, after those of random numbers and of faults. */
const start = ({ seeds, fault }: Launch): number => (seeds >= 0 ? 3 : 0) + (fault >= 0 ? 1 : 0);

/** Whether the uniforms of a launch are where `renewed` will look for them. */
export function renewable(launch: Launch, kernel: Kernel, call: Call): boolean {
  return own(kernel, call).every((value, i) => Object.is(launch.uniforms[start(launch) + i], value));
}

/** A launch for another call of the same structure. */
export function renewed(launch: Launch, kernel: Kernel, call: Call): Launch {
  const uniforms = [...launch.uniforms];
  own(kernel, call).forEach((value, i) => {
    uniforms[start(launch) + i] = value;
  });
  return { ...launch, uniforms };
}
