// The player (player.ts) of models whose WebAssembly kernels call functions that WebAssembly has not, such as sines of
// large angles.

import { FUNCTIONS } from "../devices/cpu/functions.js";
import type { ModelPlan } from "./plan.js";
import { modelOf as withFunctions } from "./player.js";

/** The names of these functions. */
export const GIVEN = Object.keys(FUNCTIONS);

export const modelOf = (plan: ModelPlan, address: string): ReturnType<typeof withFunctions> =>
  withFunctions(plan, address, FUNCTIONS);
