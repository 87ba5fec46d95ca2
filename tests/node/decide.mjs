// What the package decides about calls: reads [[binding, arguments, facts, plain, launched], ...] from a file and prints,
// as JSON, for each the bound call and, if launched, what is launched for it, by the shared schedules and, if plain, by
// none; or the message of its refusal.  For tests/test_host.py.
import { readFileSync } from "node:fs";
import { bind, opsOf, plan, plan_cpu, rules } from "./planner.mjs";

const [file, files] = process.argv.slice(2),
  ops = await opsOf(files.split(","));

function attempt(f) {
  try {
    return f();
  } catch (error) {
    return error.message;
  }
}

const decided = JSON.parse(readFileSync(file, "utf8")).map(([name, args, facts, plain, launched]) => {
  const op = ops[name],
    call = attempt(() => bind(op, args));
  if (typeof call === "string" || !launched) return [call];
  return [
    call,
    ...op.programs.flatMap(({ outputs }, n) => [
      ...(plain ? [rules, []] : [rules]).map((schedules) =>
        attempt(() => plan(op, n, call, outputs, facts, schedules)),
      ),
      attempt(() => plan_cpu(op, n, call, outputs)),
    ]),
  ];
});
console.log(JSON.stringify(decided, (_, v) => (typeof v === "number" && !Number.isFinite(v) ? String(v) : v)));
