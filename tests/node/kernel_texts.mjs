// The distinct WGSL texts of calls on devices: reads {files, devices: [{facts, calls: [[binding, arguments], ...]}, ...]}
// from a file and prints, as JSON, for each an object of text: "binding, program n".  Of each program, with schedules and
// without; a device in software, and each result asked for alone, have no text that these have not (counted on
// 2026-11-26).  For tests/test_compilers.py.
import { readFileSync } from "node:fs";
import { bind, OpError, opsOf, plan, rules } from "./planner.mjs";

const { files, devices } = JSON.parse(readFileSync(process.argv[2], "utf8")),
  ops = await opsOf(files);

function bound(op, args) {
  try {
    return bind(op, args);
  } catch (error) {
    if (error instanceof OpError) return null;
    throw error;
  }
}

function textsOf({ facts, calls }) {
  const found = {};
  for (const [name, args] of calls) {
    const op = ops[name],
      call = bound(op, args);
    for (const [number, { outputs }] of call ? op.programs.entries() : [])
      if (number === 0 || call.dtype.startsWith("float"))
        for (const schedules of [rules, []])
          for (const { code } of plan(op, number, call, outputs, facts, schedules))
            found[code] ??= `${name}, program ${number}`;
  }
  return found;
}

process.stdout.write(`${JSON.stringify(devices.map(textsOf))}\n`);
