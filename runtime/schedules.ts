// The schedules for shapes of nests (ops/schedule.op): how nests of all ops run on a GPU.  The package's set-up hands
// them in; without any, everything runs plainly and means the same.

import type { Schedule } from "../host/model.js";

let rules: Schedule[] = [];

export function registerSchedules(given: Schedule[]): void {
  rules = given;
}

/** The schedules for nests of all ops, which come after an op's own. */
export function nestSchedules(): Schedule[] {
  return rules;
}
