// What a program may give by mistake, and what it may mean, drawn with a fixed seed.

/** Numbers from 0 up to 1 from a seed (mulberry32). */
export function random(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const hash = (text) => [...text].reduce((h, c) => Math.imul(h ^ c.charCodeAt(0), 16777619), 2166136261);

function cyclic() {
  const object = { name: "cyclic" };
  object.self = object;
  return object;
}
function ring() {
  const list = [1];
  list.push(list);
  return list;
}
function detached() {
  const array = new Float32Array([1, 2, 3]);
  structuredClone(array.buffer, { transfer: [array.buffer] });
  return array;
}
function throwing() {
  return new Proxy(
    {},
    {
      get() {
        return undefined;
      },
    },
  );
}

/** Wrong in nearly every place, each made anew. */
export const GARBAGE = {
  undefined: () => undefined,
  null: () => null,
  text: () => "abc",
  digits: () => "3",
  "no text": () => "",
  true: () => true,
  false: () => false,
  NaN: () => NaN,
  infinity: () => Infinity,
  "-infinity": () => -Infinity,
  fraction: () => 2.5,
  huge: () => 2 ** 53,
  "very huge": () => 1e300,
  "2**31": () => 2 ** 31,
  "-huge": () => -(2 ** 53),
  bigint: () => 10n,
  symbol: () => Symbol("s"),
  function: () => () => 1,
  "async function": () => async () => 1,
  instance: () => new (class Wrong {})(),
  promise: () => Promise.resolve(1),
  cyclic,
  ring,
  detached,
  proxy: throwing,
  date: () => new Date(0),
  map: () => new Map([[1, 2]]),
  object: () => ({}),
  bare: () => Object.create(null),
  unknown: () => ({ no_such_option: 1 }),
  "list of text": () => ["a", "b"],
  "list of digits": () => ["1", "2"],
  "list of null": () => [null],
  "list of NaN": () => [NaN],
  "ragged list": () => [[1, 2], [3]],
  "list of fractions": () => [1.5, 2.5],
  "list of huge": () => [2 ** 40, 2 ** 40],
  holes: () => new Array(3),
  "no list": () => [],
  "list of bigints": () => [1n, 2n],
  "negative list": () => [-1, -1],
  inherited: () => "constructor",
  proto: () => "__proto__",
  toString: () => "toString",
  "dtype option": () => ({ dtype: "constructor" }),
  "dtype proto": () => ({ dtype: "__proto__" }),
  "dtype number": () => ({ dtype: 3 }),
  "device option": () => ({ device: "tpu" }),
  "device number": () => ({ device: 1 }),
  "device proto": () => ({ device: "constructor" }),
  "shape option": () => ({ shape: [-1, -1] }),
  "size option": () => ({ size: "3" }),
  "generator option": () => ({ generator: 3 }),
  "dim option": () => ({ dim: "0" }),
  "dim fraction": () => ({ dim: 0.5 }),
  regexp: () => /x/,
  error: () => new Error("e"),
  arraybuffer: () => new ArrayBuffer(8),
};

/** Right in many places. */
export const sensible = (torch, device) => {
  const t = (data, dtype = "float32") => torch.tensor(data, { dtype, device });
  return {
    0: () => 0,
    1: () => 1,
    2: () => 2,
    3: () => 3,
    "-1": () => -1,
    half: () => 0.5,
    true: () => true,
    list: () => [2, 3],
    "one list": () => [1],
    sizes: () => [2, 1, 3],
    mean: () => "mean",
    "tensor list": () => [t([1, 2]), t([3, 4])],
    matrices: () => [
      t([
        [1, 2],
        [3, 4],
      ]),
      t([
        [1, 2],
        [3, 4],
      ]),
    ],
    f: () => (x) => x,
    sum: () => (x) => x?.sum?.() ?? 1,
    "()": () => t(2.5),
    "(3)": () => t([1, 2, 3]),
    "(2, 3)": () =>
      t([
        [1, 2, 3],
        [4, 5, 6],
      ]),
    "(2, 2)": () =>
      t([
        [2, 1],
        [1, 3],
      ]),
    "(0)": () => t([]),
    "(2, 2, 2)": () =>
      t([
        [
          [1, 2],
          [3, 4],
        ],
        [
          [5, 6],
          [7, 8],
        ],
      ]),
    "(1, 2, 2, 2)": () =>
      t([
        [
          [
            [1, 2],
            [3, 4],
          ],
          [
            [5, 6],
            [7, 8],
          ],
        ],
      ]),
    "int (2)": () => t([0, 1], "int32"),
    "int (2, 2)": () =>
      t(
        [
          [0, 1],
          [1, 0],
        ],
        "int32",
      ),
    "bool (3)": () => t([true, false, true], "bool"),
    "int ()": () => t(1, "int32"),
    "half (2)": () => t([1, 2], device === "cpu" ? "float16" : "float32"),
    "grad (2)": () => t([1, 2]).requires_grad_(),
    parameters: () => [new torch.nn.Parameter(t([1, 2]))],
    module: () => new torch.nn.Linear(2, 2, { device }),
    options: () => ({ dim: 0 }),
  };
};
