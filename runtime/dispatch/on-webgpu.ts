// Ops that WebGPU computes in another way where that is faster, by an op of their file: a convolution by Winograd's.

import type { Env } from "../../host/model.js";
import type { CompiledOp } from "../program/compiled-op.js";

type Instead = NonNullable<CompiledOp["onWebGPU"]>;

/** The op, in whose place WebGPU runs another one in calls of which `when` holds. */
export const onWebGPU = (
  compiled: CompiledOp,
  op: Instead["op"],
  args: Instead["args"],
  when: Instead["when"],
): CompiledOp => Object.assign(compiled, { onWebGPU: { op, args, when } });

/** What the other op is given. */
export const argumentsOf = ({ args }: Instead, values: readonly unknown[], env: Env): unknown[] =>
  args.map((x) => (typeof x === "number" ? values[x] : x(env)));
