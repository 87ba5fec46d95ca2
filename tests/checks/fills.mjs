// Fills of whole numbers and bools by an element of another type: what the type holds is put there, what it does not is
// refused, as PyTorch's rule for its scalars has it.  Nothing is clamped and nothing wraps, but for whole numbers below 0
// in a type without a sign.

const NO_ROOM = /fill: value cannot be converted to the type of input without overflow/;
const NO_WORD = /fill: the result does not fit into int32/; // on a GPU, where int64 has 32 bits
const ENDS = {
  uint8: [0, 255],
  int8: [-128, 127],
  int16: [-(2 ** 15), 2 ** 15 - 1],
  int32: [-(2 ** 31), 2 ** 31 - 1],
  int64: [-(2 ** 63), 2 ** 63],
};
const FLOATS = [0, 1, -1, -0.5, 127, 127.5, 128, -128, -128.5, 255, 255.5, 256, 32767, 32767.5, 32768, -32769].concat([
  2147483520,
  2 ** 31,
  -(2 ** 31),
  -2147483904,
  1e19,
  -1e19,
  NaN,
  Infinity,
  -Infinity,
]);
const WIDE = [2147483647, 2147483647.5, -2147483648.5, 2 ** 40];
const WHOLE = [0, -1, -128, -129, -255, -256, 255, 256, 32768, 2 ** 31 - 1, -(2 ** 31)];

/** The element, or the error. */
function wanted(into, by, value, device) {
  if (into === "bool") return Number(value !== 0);
  const [least, most] = ENDS[into],
    below = least === 0 && by === "int64" ? -most : least;
  if (!(value >= below && value <= most)) return NO_ROOM;
  if (into === "int64" && device !== "cpu" && !(value >= -(2 ** 31) && value < 2 ** 31)) return NO_WORD;
  return Math.trunc(value) + (value < 0 && least === 0 ? most + 1 : 0);
}

async function fills(t, into, by, values) {
  const { torch, device } = t,
    yes = t.tensor([true, false]),
    at = t.tensor([0], { dtype: "int64" });
  for (const number of values) {
    const value = torch.tensor(number, { dtype: by, device }),
      want = wanted(into, by, number, device);
    for (const [name, fill] of [
      ["masked_fill", (x) => x.masked_fill(yes, value)],
      ["index_fill", (x) => x.index_fill(0, at, value)],
    ]) {
      const said = `${name} of ${into} by ${number}, ${by}`;
      let got;
      try {
        const result = fill(t.tensor([1, 0], { dtype: into }));
        got = [result.dtype, ...Array.from(await result.data(), Number)];
      } catch (error) {
        got = error.message;
      }
      if (want instanceof RegExp) t.equal([said, want.test(got) || got], [said, true]);
      else t.equal([said, got], [said, [into, want, 0]]);
    }
  }
}

export default Object.fromEntries(
  [...Object.keys(ENDS), "bool"].map((into) => [
    `an element is put into ${into}, or refused`,
    async (t) => {
      await fills(t, into, "float32", FLOATS);
      await fills(t, into, "int64", t.device === "cpu" ? [...WHOLE, 2 ** 31, -(2 ** 31) - 1] : WHOLE);
      if (t.device === "cpu") await fills(t, into, "float64", [...FLOATS, ...WIDE]);
      if (t.device === "cpu") await fills(t, into, "float16", [255, 255.5, -0.5, NaN, Infinity]);
    },
  ]),
);
