"""Functions of floats that look into their bits."""

from __future__ import annotations

from ..encoder import release, variable
from .values import Values

ROOT = 0x3FE6A09E  # the upper half of sqrt(1/2)
FRACTION = 52  # bits of a fraction, which the exponent stands above
POWER_AT = 12583166  # the last bits of a float32 with n added are n + 254
NORMAL_AT = 12583039  # they are n + 127, the exponent of a float32


def float_bits(w: Values, name: str) -> None:
    """2**x of a whole x from -1022 to 1023, the exponent of a normal number, and its fraction from 1 to 2.

    near_exponent, near_fraction: the same with a fraction from sqrt(1/2) to sqrt(2).  power_in: the power of two
    whose exponent, less 1023, stands in a number's last bits.  times_power: a number times 2**n, of n + POWER_AT.
    times_power_in: of n + NORMAL_AT, where 2**n is a normal number.
    to_float: a number as a float32 holds it."""
    many = w.lanes == 2
    wide = "i64x2" if many else "i64"
    bits = "v128" if many else "i64"
    match name:
        case "power_in":
            as_bits(w)
            by_exponent(w, "shl")
            as_float(w)
        case "near_exponent" | "near_fraction":
            as_bits(w)
            w.bits_of(0x3FF00000 - ROOT)
            w.emit(f"{wide}.add")
            if name == "near_exponent":
                by_exponent(w, "shr_u")
                w.bits_of(0x43300000)
                w.emit(f"{bits}.or")
                as_float(w)
                w.constant("f", 4503599627371519)
                w.emit(f"{w.shape('f')}.sub")
                return
            w.bits64(0x000FFFFFFFFFFFFF)
            w.emit(f"{bits}.and")
            w.bits_of(ROOT)
            w.emit(f"{wide}.add")
            as_float(w)
        case "power_of_two":
            w.convert("f", "i")
            w.constant("i", 1023)
            w.emit("i32x4.add" if many else "i32.add")
            w.emit("i64x2.extend_low_i32x4_s" if many else "i64.extend_i32_s")
            by_exponent(w, "shl")
            as_float(w)
        case "times_power":
            times_power(w)
        case "times_power_in":
            if w.lanes == 1:
                times_power_of_two(w, NORMAL_AT)
            else:
                w.integer(23)
                w.emit("i32x4.shl")
                w.emit("f32x4.mul")
        case "to_float":
            w.rounded()
        case "exponent_of":
            as_bits(w)
            by_exponent(w, "shr_u")
            if many:
                w.mask("i")
            else:
                w.emit("i32.wrap_i64")
            w.constant("i", 1023)
            w.emit("i32x4.sub" if many else "i32.sub")
            w.convert("i", "f")
        case _:
            as_bits(w)
            w.bits64(0x000FFFFFFFFFFFFF)
            w.emit(f"{bits}.and")
            w.constant("f", 1)
            as_bits(w)
            w.emit(f"{bits}.or")
            as_float(w)


def times_power(w: Values) -> None:
    """In floats the power is a product of two, so that what comes out may be infinite, or below the normal numbers."""
    if w.lanes == 1:
        times_power_of_two(w, POWER_AT)
        return
    bits = variable(w.f, "v128")
    half = variable(w.f, "v128")
    w.emit("local.tee", bits)
    w.integer(1)
    w.emit("i32x4.shr_s")
    w.emit("local.tee", half)
    w.integer(23)
    w.emit("i32x4.shl")
    w.emit("f32x4.mul")
    w.get(bits)
    w.get(half)
    w.emit("i32x4.sub")
    w.integer(23)
    w.emit("i32x4.shl")
    w.emit("f32x4.mul")
    release(w.f, bits)
    release(w.f, half)


def times_power_of_two(w: Values, at: float) -> None:
    """A double times 2**n, of n + at."""
    w.constant("f", at)
    w.emit("f64.sub")
    float_bits(w, "power_of_two")
    w.emit("f64.mul")


def as_bits(w: Values) -> None:
    """A float as the whole number of its bits; a vector is both."""
    if w.lanes != 2:
        w.emit("i64.reinterpret_f64")


def as_float(w: Values) -> None:
    if w.lanes != 2:
        w.emit("f64.reinterpret_i64")


def by_exponent(w: Values, how: str) -> None:
    """Bits shifted by the place of the exponent."""
    w.emit("i32.const" if w.lanes == 2 else "i64.const", FRACTION)
    w.emit(f"{'i64x2' if w.lanes == 2 else 'i64'}.{how}")
