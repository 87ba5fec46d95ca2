// The tests inside definitions, which the compiler gives as data (workbench/examples_data.py), run with the package.

/** How near `~=` must be, and `==`, which the definition's author sees hold in numpy, by the type of the result. */
const ABOUT = 1e-6,
  EQUAL = { float64: 1e-12, float32: 1e-6, float16: 1e-3, bfloat16: 1e-2 };
const TINY = 1e-12,
  LONGEST = 70;

const RARE = { NaN: Number.NaN, Infinity: Number.POSITIVE_INFINITY, "-Infinity": Number.NEGATIVE_INFINITY };
/** Numbers, or lists of them, from JSON, which has those only as texts. */
export const numbers = (x) => (Array.isArray(x) ? x.map(numbers) : (RARE[x] ?? x));

/** The function that a name means: one of the visitor's own ops, or the package's. */
function named(name, torch, own) {
  const [space, ...path] = name.split(".");
  if (space === "Tensor") return (self, ...rest) => self[path[0]](...rest);
  return path.reduce((found, part) => found?.[part], space === "torch" ? torch : own);
}

function value(v, torch, own) {
  if ("value" in v) return numbers(v.value);
  if ("tensor" in v) return torch.tensor(numbers(v.tensor), { dtype: v.dtype });
  if ("list" in v) return v.list.map((x) => value(x, torch, own));
  if ("field" in v) return value(v.of, torch, own)[v.field];
  const options = Object.entries(v.options).map(([name, x]) => [name, value(x, torch, own)]),
    args = v.args.map((x) => value(x, torch, own));
  if (options.length) args.push(Object.fromEntries(options));
  return named(v.call, torch, own)(...args);
}

/** {shape, numbers, dtype} of a tensor, of nested lists of numbers and tensors, or of a number. */
async function flat(x, torch) {
  if (torch.is_tensor(x)) return { shape: [...x.shape], numbers: [await x.tolist()].flat(Infinity), dtype: x.dtype };
  if (!Array.isArray(x)) return { shape: [], numbers: [x], dtype: "" };
  const parts = await Promise.all(x.map((y) => flat(y, torch)));
  return {
    shape: [x.length, ...(parts[0]?.shape ?? [])],
    numbers: parts.flatMap((part) => part.numbers),
    dtype: parts[0]?.dtype ?? "",
  };
}

const shown = (x) =>
  Array.isArray(x) ? `[${x.map(shown).join(", ")}]` : typeof x === "number" ? String(Number(x.toPrecision(9))) : `${x}`;
const cut = (text) => (text.length > LONGEST ? `${text.slice(0, LONGEST)} …` : text);

/** Whether a test holds, and what came if not; `holds` is null for one that cannot be run here. */
export async function runTest(test, torch, own) {
  if (test.why) return { holds: null, said: `not run here: ${test.why}` };
  let got;
  try {
    torch.manual_seed(0); // whose numbers numpy drew
    got = value(test.got, torch, own);
    const { shape, numbers: found, dtype } = await flat(got, torch);
    if (test.raises !== undefined) return { holds: false, said: "nothing is raised" };
    const want = await flat(value(test.want, torch, own), torch);
    const allowed = test.about ? ABOUT : (EQUAL[dtype] ?? 0);
    const near = (g, w) =>
      Number(g) === Number(w) ||
      (Number.isNaN(g) && Number.isNaN(w)) ||
      (allowed > 0 && Math.abs(Number(g) - Number(w)) <= TINY + allowed * Math.abs(Number(w)));
    const holds = String(shape) === String(want.shape) && found.every((g, i) => near(g, want.numbers[i]));
    return { holds, said: holds ? "" : `got ${cut(shown(torch.is_tensor(got) ? await got.tolist() : got))}` };
  } catch (error) {
    if (test.raises !== undefined && error.message.includes(test.raises)) return { holds: true, said: "" };
    return { holds: false, said: `raises: ${error.message}` };
  }
}
