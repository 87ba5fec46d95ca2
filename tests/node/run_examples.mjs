// Runs printed examples: node run_examples.mjs FILE, whose `examples` are [text, () => result, printed]. Prints those
// that are wrong as JSON.
import { pathToFileURL } from "node:url";

// Tensors and sizes as lists, lists of them and objects that hold them alike.
const plain = async (x) => {
  if (typeof x?.tolist === "function") return x.tolist();
  if (Array.isArray(x)) return Promise.all([...x].map(plain));
  if (!isPlain(x)) return x;
  return Object.fromEntries(
    await Promise.all(Object.entries(x).map(async ([key, value]) => [key, await plain(value)])),
  );
};
// Six digits are printed; what float32 makes of a zero is no difference.
const near = (a, b) =>
  Object.is(a, b) ||
  (typeof a === "number" && typeof b === "number" && Math.abs(a - b) <= 5.1e-6 * Math.abs(b) + 1e-6 * (b === 0));
const isPlain = (x) =>
  x !== null && typeof x === "object" && [Object.prototype, null].includes(Object.getPrototypeOf(x));
const same = (a, b) =>
  Array.isArray(a) && Array.isArray(b)
    ? a.length === b.length && a.every((v, i) => same(v, b[i]))
    : isPlain(a) && isPlain(b)
      ? same(Object.keys(a).sort(), Object.keys(b).sort()) && Object.keys(b).every((key) => same(a[key], b[key]))
      : near(a, b);

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
