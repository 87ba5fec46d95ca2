// Types of results of functions of two arguments, as PyTorch 2.13 gives them for every pair of types.
//
// A row of ANSWERS holds functions that answer alike, and five tables: two tensors with axes, the second without, the
// first without, then a tensor with axes and one without beside the numbers true, 2 and 1.5.  A table has a word for
// each type of the first argument in the order of TYPES, a letter in it for each second one: the type of the result, or
// - where PyTorch refuses.  h is int16, which uint8 and int8 make.  The answers are PyTorch's own,
// for calls with ones; of types that are not among these, dtypes.mjs has some.

const TYPES = { b: "bool", B: "uint8", c: "int8", i: "int64", e: "float16", f: "float32", d: "float64" };
/** What types of answers there are besides. */
const MORE = { h: "int16" };
const NUMBERS = [true, 2, 1.5];

const ANSWERS = {
  "add mul where": [
    "bBciefd BBhiefd chciefd iiiiefd eeeeefd ffffffd ddddddd",
    "bBciefd BBBBefd ccccefd iiiiefd eeeeeee fffffff ddddddd",
    "bBciefd BBciefd cBciefd iBciefd eeeeefd ffffefd ddddefd",
    "bif BBf ccf iif eee fff ddd",
    "bif BBf ccf iif eee fff ddd",
  ],
  addcdiv: [
    "----efd ----efd ----efd ----efd ----efd ----ffd ----ddd",
    "----efd ----efd ----efd ----efd ----eee ----fff ----ddd",
    "----efd ----efd ----efd ----efd ----efd ----efd ----efd",
    "--- --- --- --- --- --- ---",
    "--- --- --- --- --- --- ---",
  ],
  addcmul: [
    "-Bciefd BBhiefd chciefd iiiiefd eeeeefd ffffffd ddddddd",
    "-Bciefd BBBBefd ccccefd iiiiefd eeeeeee fffffff ddddddd",
    "-Bciefd BBciefd cBciefd iBciefd eeeeefd ffffefd ddddefd",
    "--- --- --- --- --- --- ---",
    "--- --- --- --- --- --- ---",
  ],
  atan2: [
    "ffffefd ffffefd ffffefd ffffefd eeeeefd ffffffd ddddddd",
    "ffffefd ffffefd ffffefd ffffefd eeeeeee fffffff ddddddd",
    "ffffefd ffffefd ffffefd ffffefd eeeeefd ffffefd ddddefd",
    "--- --- --- --- --- --- ---",
    "--- --- --- --- --- --- ---",
  ],
  "bitwise_and bitwise_or bitwise_xor": [
    "bBci--- BBhi--- chci--- iiii--- ------- ------- -------",
    "bBci--- BBBB--- cccc--- iiii--- ------- ------- -------",
    "bBci--- BBci--- cBci--- iBci--- ------- ------- -------",
    "bi- BB- cc- ii- --- --- ---",
    "bi- BB- cc- ii- --- --- ---",
  ],
  "bitwise_left_shift bitwise_right_shift": [
    "-Bci--- BBhi--- chci--- iiii--- ------- ------- -------",
    "-Bci--- BBBB--- cccc--- iiii--- ------- ------- -------",
    "-Bci--- BBci--- cBci--- iBci--- ------- ------- -------",
    "-i- BB- cc- ii- --- --- ---",
    "-i- BB- cc- ii- --- --- ---",
  ],
  "clamp clamp_max clamp_min": [
    "bBciefd BBhiefd chciefd iiiiefd eeeeefd ffffffd ddddddd",
    "bBciefd BBBBefd ccccefd iiiiefd eeeeeee fffffff ddddddd",
    "bBciefd BBciefd cBciefd iBciefd eeeeefd ffffefd ddddefd",
    "-if BBf ccf iif eee fff ddd",
    "-if BBf ccf iif eee fff ddd",
  ],
  "copysign div xlogy": [
    "ffffefd ffffefd ffffefd ffffefd eeeeefd ffffffd ddddddd",
    "ffffefd ffffefd ffffefd ffffefd eeeeeee fffffff ddddddd",
    "ffffefd ffffefd ffffefd ffffefd eeeeefd ffffefd ddddefd",
    "fff fff fff fff eee fff ddd",
    "fff fff fff fff eee fff ddd",
  ],
  "div_floor div_trunc floor_divide fmod remainder": [
    "-Bciefd BBhiefd chciefd iiiiefd eeeeefd ffffffd ddddddd",
    "-Bciefd BBBBefd ccccefd iiiiefd eeeeeee fffffff ddddddd",
    "-Bciefd BBciefd cBciefd iBciefd eeeeefd ffffefd ddddefd",
    "-if BBf ccf iif eee fff ddd",
    "-if BBf ccf iif eee fff ddd",
  ],
  "eq ge gt le lt ne": [
    "bbbbbbb bbbbbbb bbbbbbb bbbbbbb bbbbbbb bbbbbbb bbbbbbb",
    "bbbbbbb bbbbbbb bbbbbbb bbbbbbb bbbbbbb bbbbbbb bbbbbbb",
    "bbbbbbb bbbbbbb bbbbbbb bbbbbbb bbbbbbb bbbbbbb bbbbbbb",
    "bbb bbb bbb bbb bbb bbb bbb",
    "bbb bbb bbb bbb bbb bbb bbb",
  ],
  "fmax fmin maximum minimum": [
    "bBciefd BBhiefd chciefd iiiiefd eeeeefd ffffffd ddddddd",
    "bBciefd BBBBefd ccccefd iiiiefd eeeeeee fffffff ddddddd",
    "bBciefd BBciefd cBciefd iBciefd eeeeefd ffffefd ddddefd",
    "--- --- --- --- --- --- ---",
    "--- --- --- --- --- --- ---",
  ],
  "gcd lcm": [
    "-Bci--- BBhi--- chci--- iiii--- ------- ------- -------",
    "-Bci--- BBBB--- cccc--- iiii--- ------- ------- -------",
    "-Bci--- BBci--- cBci--- iBci--- ------- ------- -------",
    "--- --- --- --- --- --- ---",
    "--- --- --- --- --- --- ---",
  ],
  heaviside: [
    "b------ -B----- --c---- ---i--- ----e-- -----f- ------d",
    "b------ -B----- --c---- ---i--- ----e-- -----f- ------d",
    "b------ -B----- --c---- ---i--- ----e-- -----f- ------d",
    "--- --- --- --- --- --- ---",
    "--- --- --- --- --- --- ---",
  ],
  "hypot logaddexp": [
    "----efd ----efd ----efd ----efd eeeeefd ffffffd ddddddd",
    "----efd ----efd ----efd ----efd eeeeeee fffffff ddddddd",
    "----efd ----efd ----efd ----efd eeeeefd ffffefd ddddefd",
    "--- --- --- --- --- --- ---",
    "--- --- --- --- --- --- ---",
  ],
  isclose: [
    "b------ -b----- --b---- ---b--- ----b-- -----b- ------b",
    "b------ -b----- --b---- ---b--- ----b-- -----b- ------b",
    "b------ -b----- --b---- ---b--- ----b-- -----b- ------b",
    "--- --- --- --- --- --- ---",
    "--- --- --- --- --- --- ---",
  ],
  lerp: [
    "------- ------- ------- ------- ----e-- -----f- ------d",
    "------- ------- ------- ------- ----e-- -----f- ------d",
    "------- ------- ------- ------- ----e-- -----f- ------d",
    "--- --- --- --- --- --- ---",
    "--- --- --- --- --- --- ---",
  ],
  "logical_and logical_or logical_xor": [
    "bbbbbbb bbbbbbb bbbbbbb bbbbbbb bbbbbbb bbbbbbb bbbbbbb",
    "bbbbbbb bbbbbbb bbbbbbb bbbbbbb bbbbbbb bbbbbbb bbbbbbb",
    "bbbbbbb bbbbbbb bbbbbbb bbbbbbb bbbbbbb bbbbbbb bbbbbbb",
    "--- --- --- --- --- --- ---",
    "--- --- --- --- --- --- ---",
  ],
  pow: [
    "-Bciefd BBhiefd chciefd iiiiefd eeeeefd ffffffd ddddddd",
    "-Bciefd BBBBefd ccccefd iiiiefd eeeeeee fffffff ddddddd",
    "-Bciefd BBciefd cBciefd iBciefd eeeeefd ffffefd ddddefd",
    "bif BBf ccf iif eee fff ddd",
    "bif BBf ccf iif eee fff ddd",
  ],
  "rsub sub": [
    "------- -Bhiefd -hciefd -iiiefd -eeeefd -fffffd -dddddd",
    "------- -BBBefd -cccefd -iiiefd -eeeeee -ffffff -dddddd",
    "------- -Bciefd -Bciefd -Bciefd -eeeefd -fffefd -dddefd",
    "--- -Bf -cf -if -ee -ff -dd",
    "--- -Bf -cf -if -ee -ff -dd",
  ],
};

/** Functions that are called otherwise than by their name. */
const CALLS = {
  div_floor: (torch, a, b) => torch.div(a, b, { rounding_mode: "floor" }),
  div_trunc: (torch, a, b) => torch.div(a, b, { rounding_mode: "trunc" }),
  where: (torch, a, b, device) => torch.where(torch.tensor([true], { device }), a, b),
  lerp: (torch, a, b) => torch.lerp(a, b, 0.5),
  addcmul: (torch, a, b) => torch.addcmul(a, a, b),
  addcdiv: (torch, a, b) => torch.addcdiv(a, b, b),
  clamp: (torch, a, b) => torch.clamp(a, b, null),
};

/** Functions that take more types here than in PyTorch: those that refuse bools, or want one type, there. */
const LENIENT = [
  "addcdiv",
  "addcmul",
  "clamp",
  "clamp_max",
  "clamp_min",
  "div_floor",
  "div_trunc",
  "floor_divide",
  "fmod",
  "lerp",
  "pow",
  "remainder",
  "rsub",
  "sub",
];

/** Whether the device has the type. */
function has(torch, device, dtype) {
  try {
    torch.ones([1], { dtype, device });
    return true;
  } catch {
    return false;
  }
}

function check(t, tables, name) {
  const { torch, device } = t,
    types = Object.entries(TYPES).map(([letter, dtype]) => ({ letter, dtype, held: has(torch, device, dtype) }));
  const ones = (shape) => types.map(({ dtype, held }) => (held ? torch.ones(shape, { dtype, device }) : null));
  const axis = ones([1]),
    none = ones([]),
    call = CALLS[name] ?? ((torch, a, b) => torch[name](a, b));
  const pairs = [
      [axis, axis],
      [axis, none],
      [none, axis],
      [axis, NUMBERS],
      [none, NUMBERS],
    ],
    wrong = [];
  let more = false;
  tables.forEach((table, k) =>
    table.split(" ").forEach((word, i) =>
      [...word].forEach((wanted, j) => {
        const a = pairs[k][0][i],
          b = pairs[k][1][j];
        if (a === null || b === null) return;
        let got = "-";
        try {
          const { dtype } = call(torch, a, b, device);
          got = Object.entries({ ...TYPES, ...MORE }).find(([, type]) => type === String(dtype))[0];
        } catch {
          /* refused */
        }
        const text = (x) => (typeof x === "object" ? `${x.dtype}[${x.shape}]` : String(x));
        more ||= wanted === "-" && got !== "-";
        if (got !== wanted && !(wanted === "-" && LENIENT.includes(name)))
          wrong.push(`${name}(${text(a)}, ${text(b)}): ${got} for ${wanted}`);
      }),
    ),
  );
  t.equal(wrong.join("; "), "");
  t.equal(more, LENIENT.includes(name));
}

export default Object.fromEntries(
  Object.entries(ANSWERS).flatMap(([names, tables]) =>
    names.split(" ").map((name) => [`types of ${name}`, (t) => check(t, tables, name)]),
  ),
);
