// torch.testing: tensors made at random, and what is close.  The messages are PyTorch 2.13's.

const same = (t, got, wanted) => t.equal(JSON.stringify(got), JSON.stringify(wanted));

export default {
  "torch.testing.make_tensor": async (t) => {
    const { testing, complex64 } = t.torch,
      make = (shape, dtype, more = {}) => testing.make_tensor(shape, { dtype, device: t.device, ...more });
    for (const [dtype, low, high, whole] of [
      ["float32", -9, 9, false],
      ["int64", -9, 9, true],
      ["uint8", 0, 9, true],
      ["bool", 0, 1, true],
    ]) {
      const x = make([40, 50], dtype),
        all = (await x.flatten().tolist()).map(Number);
      t.equal([x.dtype, x.shape, x.device, x.requires_grad], [dtype, [40, 50], t.device, false]);
      const [least, most] = [Math.min(...all), Math.max(...all)];
      t.equal([least >= low && least < low + 0.1, most <= high && most > high - 0.1], [true, true]);
      t.equal(all.every(Number.isInteger), whole);
    }
    const some = make([200], "float32", { low: 2, high: 2.5, requires_grad: true }),
      values = await some.tolist();
    t.equal([some.requires_grad, some.is_leaf, values.every((v) => v >= 2 && v <= 2.5)], [true, true, true]);
    t.equal(
      (await make([300], "uint8", { low: 254.5, high: 1000 }).tolist()).every((v) => v === 255),
      true,
    );
    const apart = make([3, 4], "float32", { noncontiguous: true });
    t.equal([apart.is_contiguous(), apart.shape, new Set(await apart.flatten().tolist()).size], [false, [3, 4], 12]);
    t.equal((await make([300], "int32", { low: 0, high: 2, exclude_zero: true }).tolist()).includes(0), false);
    t.equal((await make([300], "int32", { low: 0, high: 2 }).tolist()).includes(0), true);
    t.equal(make([2, 3], complex64).dtype, "complex64");
    t.equal(testing.make_tensor(2, 3, { dtype: "float32", device: t.device }).shape, [2, 3]);
    await t.throws(() => make([2], "int32", { low: 3, high: 3 }), /`low` must be less than `high`, but got 3 >= 3/);
    await t.throws(
      () => make([2], "uint8", { low: 300, high: 400 }),
      /is \[300, 400\), but torch.uint8 only supports \[0, 256/,
    );
    await t.throws(() => make([2], "int32", { requires_grad: true }), /not supported for boolean and integral dtypes/);
    await t.throws(() => testing.make_tensor([2], { device: t.device }), /make_tensor: missing argument 'dtype'/);
  },
  "torch.testing.assert_close": async (t) => {
    const { testing, half } = t.torch,
      { assert_close } = testing,
      message = async (...args) =>
        assert_close(...args).then(
          () => "",
          (e) => `${e.constructor.name}: ${e.message}`,
        );
    const most =
      "AssertionError: Tensor-likes are not close!\n\nMismatched elements: 1 / 2 (50.0%)\nGreatest absolute difference: 1.0 at index (1,) (up to 1e-05 allowed)\n" +
      "Greatest relative difference: 0.3333333333333333 at index (1,) (up to 1.3e-06 allowed)";
    same(t, await message(t.tensor([1, 2]), t.tensor([1, 3])), most);
    same(
      t,
      await message(t.tensor(1), t.tensor(2)),
      "AssertionError: Scalars are not close!\n\nExpected 2.0 but got 1.0.\nAbsolute difference: 1.0 (up to 1e-05 allowed)\nRelative difference: 0.5 (up to 1.3e-06 allowed)",
    );
    same(
      t,
      await message([1, 2], [1, 2.5]),
      "AssertionError: Scalars are not close!\n\nExpected 2.5 but got 2.0.\nAbsolute difference: 0.5 (up to 1e-07 allowed)\nRelative difference: 0.2 (up to 1e-07 allowed)\n\nThe failure occurred for item [1]",
    );
    const whole = (data) => t.tensor(data, { dtype: "int32" });
    same(
      t,
      await message(whole([1, 2]), whole([1, 3])),
      "AssertionError: Tensor-likes are not equal!\n\nMismatched elements: 1 / 2 (50.0%)\nGreatest absolute difference: 1 at index (1,)\nGreatest relative difference: 0.3333333333333333 at index (1,)",
    );
    same(
      t,
      await message(t.tensor([1, 2]), t.tensor([1, 2, 3])),
      "AssertionError: The values for attribute 'shape' do not match: torch.Size([2]) != torch.Size([3]).",
    );
    if (t.hasHalf) {
      same(
        t,
        await message(t.tensor([1], { dtype: half }), t.tensor([1.01])),
        "AssertionError: The values for attribute 'dtype' do not match: torch.float16 != torch.float32.",
      );
      same(t, await message(t.tensor([1], { dtype: half }), t.tensor([1.0005]), { check_dtype: false }), "");
    }
    same(
      t,
      await message({ a: t.tensor([1]) }, { b: t.tensor([2]) }),
      "AssertionError: The keys of the mappings do not match:\nMissing keys in the actual mapping: ['b']\nAdditional keys in the actual mapping: ['a']",
    );
    same(
      t,
      await message([t.tensor([1])], [t.tensor([1]), t.tensor([2])]),
      "AssertionError: The length of the sequences mismatch: 1 != 2",
    );
    same(
      t,
      (await message({ a: t.tensor([1]) }, { a: t.tensor([2]) })).endsWith("The failure occurred for item ['a']"),
      true,
    );
    same(t, (await message(t.tensor([NaN]), t.tensor([NaN]))).includes("difference: nan at index (0,)"), true);
    same(t, await message(t.tensor([NaN, Infinity]), t.tensor([NaN, Infinity]), { equal_nan: true }), "");
    same(t, (await message(t.tensor([1, Infinity]), t.tensor([1, 3]))).includes("difference: inf at index (1,)"), true);
    same(t, await message(t.tensor([[1, 2]]), t.tensor([[1, 2.25]]), { rtol: 0, atol: 0.5 }), "");
    same(t, (await message(t.tensor([1]), t.tensor([2]), { rtol: 0.1 })).includes("but got no atol"), true);
    same(
      t,
      await message(t.tensor([1]), t.tensor([2]), { msg: (text) => `X${text}`.slice(0, 6) }),
      "AssertionError: XTenso",
    );
    same(t, (await message(t.tensor([1]), t.tensor([2]), { rtl: 1 })).includes("did you mean 'rtol'"), true);
    same(t, (await message("a", "a")).startsWith("TypeMismatchError"), true);
    same(t, await message(null, null), "");
  },
  "torch.testing.assert_close compares tensors of any two types": async (t) => {
    const { assert_close } = t.torch.testing,
      floats = [...(t.hasHalf ? ["bfloat16", "float16"] : []), "float32", ...(t.device === "cpu" ? ["float64"] : [])],
      relative = { bfloat16: "0.016", float16: "0.001", float32: "1.3e-06", float64: "1e-07" },
      types = [...floats, "int64", "int32", "int16", "int8", "uint8", "bool"],
      told = [];
    for (const first of types)
      for (const second of types) {
        const [x, y, other] = [first, second, second].map((dtype, i) => t.tensor([1, +(i === 2), 1], { dtype })),
          coarse = floats.find((type) => type === first || type === second), // the one that is allowed the most
          absolute = coarse === "float64" ? "1e-07" : "1e-05",
          [float, equal] = coarse ? [".0", "close"] : ["", "equal"],
          [a, r] = coarse ? [absolute, relative[coarse]].map((most) => ` (up to ${most} allowed)`) : ["", ""];
        await assert_close(x, y, { check_dtype: false });
        const error = await assert_close(x, other, { check_dtype: false }).catch(({ message }) => message);
        if (
          error !==
          `Tensor-likes are not ${equal}!\n\nMismatched elements: 1 / 3 (33.3%)\n` +
            `Greatest absolute difference: 1${float} at index (1,)${a}\nGreatest relative difference: 1.0 at index (1,)${r}`
        )
          told.push(`${first} ${second}: ${error}`);
      }
    t.equal(told, []);
    if (t.device !== "cpu") return; // a GPU has 32 bits
    // What is beyond 2 ** 53 comes as BigInts.
    const whole = t.tensor([2 ** 60, -(2 ** 60)], { dtype: "int64" });
    for (const dtype of ["bfloat16", "float32", "float64"]) {
      const float = t.tensor([2 ** 60, -(2 ** 60)], { dtype });
      await assert_close(whole, float, { check_dtype: false });
      await assert_close(float, whole, { check_dtype: false });
      await t.throws(
        () => assert_close(whole, float.mul(2), { check_dtype: false }),
        /2 \/ 2 .*\n.*: 1\.152921504606847e\+18 at/,
      );
      await t.throws(
        () => assert_close(float.mul(2), whole, { check_dtype: false }),
        /2 \/ 2 .*\n.*: 1\.152921504606847e\+18 at/,
      );
    }
    const other = t.tensor([2 ** 60 + 256, -(2 ** 60)], { dtype: "int64" });
    await t.throws(() => assert_close(whole, other), /absolute difference: 256 at index \(0,\)/);
  },
};
