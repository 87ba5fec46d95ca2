// Sizes in exported programs are Python's whole numbers: exact, or refused.
import assert from "node:assert/strict";
import test from "node:test";
import { NUMBERS } from "../../dist/runtime/exchange/numbers.js";

test("whole numbers are exact up to 2**53, and refused beyond", () => {
  const { add, sub, mul, pow, sym_sum } = NUMBERS;
  assert.equal(mul(2 ** 26, 2 ** 26), 2 ** 52);
  for (const beyond of [
    () => mul(2 ** 30, 2 ** 30),
    () => add(2 ** 53 - 1, 1),
    () => sub(-(2 ** 53) + 1, 1),
    () => pow(3, 40),
    () => sym_sum([2 ** 52, 2 ** 52, 1]),
  ])
    assert.throws(beyond, /beyond 2\*\*53 sizes are not exact/);
});

test("bits of whole numbers are theirs, however many", () => {
  const { and_, or_ } = NUMBERS;
  assert.equal(and_(2 ** 40 + 5, 2 ** 40 + 3), 2 ** 40 + 1);
  assert.equal(or_(2 ** 40, 3), 2 ** 40 + 3);
  assert.equal(and_(-1, 2 ** 33), 2 ** 33);
  assert.equal(and_(true, false), false);
});

test("other numbers are as they come", () => {
  const { add, mul, pow } = NUMBERS;
  assert.equal(mul(-3.4028234663852886e38, 2), -6.805646932770577e38);
  assert.equal(add(0.5, 0.25), 0.75);
  assert.equal(pow(2, 0.5), Math.SQRT2);
});
