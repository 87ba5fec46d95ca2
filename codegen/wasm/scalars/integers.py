"""Functions of whole numbers: an instruction or a few, also at several points at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..encoder import release, variable
from .terms import Term
from .values import SCALARS

if TYPE_CHECKING:
    from .formulas import Formulas


def integer_function(w: Formulas, t: Term, name: str) -> None:
    """Functions of whole numbers."""
    match name:
        case "min" | "max" if w.lanes > 1:
            w.push_all(t.parts)
            w.emit(f"i32x4.{name}_s")
        case "min" | "max":
            w.push_all(t.parts)
            w.push_all(t.parts)
            w.emit(f"{SCALARS[t.kind]}.{'lt_s' if name == 'min' else 'gt_s'}")
            w.emit("select")
        case "abs" if w.lanes > 1:
            w.push(t.parts[0])
            w.emit("i32x4.abs")
        case "abs":
            w.push(t.parts[0])
            w.each_lane("i", "i", lambda x: size(w, x))
        case "wide_product" | "wide_difference" | "wide_shift":
            w.push(t.parts[0])
            if name == "wide_product":
                w.emit("i64.extend_i32_s")
            w.push(t.parts[1])
            if name != "wide_difference":
                w.emit("i64.extend_i32_s")
            w.emit("i64.mul" if name == "wide_product" else "i64.sub" if name == "wide_difference" else "i64.shl")
        case "widened":
            w.push(t.parts[0])
            w.emit("i64.extend_i32_s")
        case "quotient" if w.lanes == 2:
            w.push(t.parts[0])
            w.convert("i", "f")
            w.push(t.parts[1])
            w.convert("i", "f")
            w.emit("f64x2.div")
            w.convert("f", "i")
        case _:
            how = "div_s" if name == "quotient" else "shl" if name == "shifted" else "shr_s"
            pairs(w, t, f"{SCALARS[t.kind]}.{how}")


def wide(w: Formulas, t: Term, name: str) -> None:
    """64-bit whole numbers at several points: doubles, or where they wrap the lower halves."""
    for part in t.parts:
        w.push(part)
        if part.kind == "i" and not w.narrow:
            w.emit("f64x2.convert_low_i32x4_s")
    shape = "i32x4" if w.narrow else "f64x2"
    match name:
        case "widened":
            pass
        case "wide_product" | "wide_sum" | "wide_difference":
            sign = "mul" if name == "wide_product" else "add" if name == "wide_sum" else "sub"
            w.emit(f"{shape}.{sign}")
        case _ if not w.narrow:
            value = variable(w.f, "v128")
            w.emit("local.tee", value)
            w.constant("f", -2147483648)
            w.emit("f64x2.lt")
            w.get(value)
            w.constant("f", 2147483647)
            w.emit("f64x2.gt")
            w.emit("v128.or")
            w.emit("v128.any_true")
            w.tell_overflow()
            w.get(value)
            w.emit("i32x4.trunc_sat_f64x2_s_zero")
            release(w.f, value)


def checked_sum(w: Formulas, t: Term, sign: str) -> None:
    """A sum or difference of whole numbers of T, which must fit into 32 bits; narrow ones wrap."""
    if w.narrow:
        w.push_all(t.parts)
        w.emit(f"{w.shape('i')}.{sign}")
        return
    if w.lanes == 1:
        w.lead("narrow_checked")
        for part in t.parts:
            w.push(part)
            w.emit("i64.extend_i32_s")
        w.emit(f"i64.{sign}")
        w.invoke("narrow_checked", 2)
        return
    a = variable(w.f, "v128")
    b = variable(w.f, "v128")
    out = variable(w.f, "v128")
    w.push_all(t.parts)
    w.set(b)
    w.emit("local.tee", a)
    w.get(b)
    w.emit(f"i32x4.{sign}")
    w.emit("local.tee", out)
    # The sign of the result is neither's: of a difference that of -b.
    w.get(a)
    w.emit("v128.xor")
    w.get(b if sign == "add" else a)
    w.get(out if sign == "add" else b)
    w.emit("v128.xor")
    w.emit("v128.and")
    w.emit("i32x4.bitmask")
    if w.lanes == 2:
        w.integer(3)
        w.emit("i32.and")
    w.tell_overflow()
    w.get(out)
    for n in [a, b, out]:
        release(w.f, n)


def divided(w: Formulas, operator: str, x: int, divisor: int) -> None:
    """The quotient by a positive number rounded down, or what is left."""
    if operator == "%":
        w.get(x)
        w.integer(divisor)
        w.emit("i32.rem_s")
        w.integer(divisor)
        w.emit("i32.add")
        w.integer(divisor)
        w.emit("i32.rem_u")
        return
    # Of a negative number ~x is cut towards zero, and turned back.
    w.get(x)
    sign_bits(w, x)
    w.integer(divisor)
    w.emit("i32.div_u")
    sign_bits(w, x)


def sign_bits(w: Formulas, x: int) -> None:
    w.get(x)
    w.integer(31)
    w.emit("i32.shr_s")
    w.emit("i32.xor")


def pairs(w: Formulas, t: Term, instruction: str) -> None:
    """An instruction that takes one point at a time."""
    w.push_all(t.parts)
    if w.lanes == 1:
        w.emit(instruction)
        return
    b = variable(w.f, "v128")
    a = variable(w.f, "v128")
    w.set(b)
    w.set(a)
    w.lanes_of("i", lambda lane: pair(w, a, b, lane, instruction))
    release(w.f, a)
    release(w.f, b)


def pair(w: Formulas, a: int, b: int, lane: int, instruction: str) -> None:
    w.get(a)
    w.extract("i", lane)
    w.get(b)
    w.extract("i", lane)
    w.emit(instruction)


def size(w: Formulas, x: int) -> None:
    w.get(x)
    sign_bits(w, x)
    w.get(x)
    w.integer(31)
    w.emit("i32.shr_u")
    w.emit("i32.add")
