// Kernels that do nothing but copy: who sees one may hand on the tensor itself.

import type { Env, Kernel } from "../../host/model.js";
import { Binary, Element, type Node, Uniform } from "../../host/nodes.js";
import { withFormulas } from "./notation-formulas.js";

/** Whether a kernel stores every element of one slot in the same place of another, where these options are given. */
export function copies(kernel: Kernel, from: number, to: number, env: Env = {}): boolean {
  const { shape, when, accesses, steps, floating, integral } = withFormulas(kernel),
    [step] = steps;
  if (shape !== "map" || when || steps.length !== 1 || step!.mode !== "=") return false;
  const target = accesses[step!.target]!;
  return (
    target.slot === to &&
    [floating, integral].every((code) => {
      if (!code) return true;
      const { pred, body } = code.steps[0]!,
        element = unscaled(body, env);
      if (pred || !(element instanceof Element)) return false;
      const read = accesses[element.access]!,
        { guard } = code.accesses[element.access]!;
      return (
        read.slot === from &&
        !guard &&
        read.axes.length === target.axes.length &&
        read.axes.every((axis, i) => axis !== "" && axis === target.axes[i])
      );
    })
  );
}

/** A formula without a factor that is 1: `g * alpha`. */
const unscaled = (e: Node, env: Env): Node =>
  e instanceof Binary && e.operator === "*" && e.right instanceof Uniform && env[e.right.name] === 1 ? e.left : e;
