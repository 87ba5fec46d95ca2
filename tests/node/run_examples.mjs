// Runs printed examples: node run_examples.mjs FILE, whose `examples` are [text, () => result, printed]. Prints those
// that are wrong as JSON.
import { pathToFileURL } from "node:url";

const plain = async (x) => (typeof x?.tolist === "function" ? x.tolist() : x);
// Six digits are printed; what float32 makes of a zero is no difference.
const near = (a, b) =>
  Object.is(a, b) ||
  (typeof a === "number" && typeof b === "number" && Math.abs(a - b) <= 5.1e-6 * Math.abs(b) + 1e-6 * (b === 0));
const same = (a, b) =>
  Array.isArray(a) && Array.isArray(b) ? a.length === b.length && a.every((v, i) => same(v, b[i])) : near(a, b);

const { examples } = await import(pathToFileURL(process.argv[2]));
const wrong = [];
for (const [text, run, printed] of examples) {
  try {
    const got = await plain(await run());
    if (!same(got, printed))
      wrong.push(
        `${text}\n  is ${JSON.stringify(got, (_, v) => (typeof v === "number" && !Number.isFinite(v) ? String(v) : v))}`,
      );
  } catch (error) {
    wrong.push(`${text}\n  ${error}`);
  }
}
console.log(JSON.stringify(wrong));
process.exit(0);
