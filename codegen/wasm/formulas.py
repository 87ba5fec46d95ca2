"""Terms as instructions: what a formula comes to at one point, or at two or four neighbours at once.

At one point a number of kind "f" is an f64, one of kind "i" an i32, a boolean an i32 that is 0 or 1, "w" an i64.  At
two points all are v128: f64x2, the lower half of i32x4, and all bits or none of 64 for a boolean; at four f32x4, i32x4
and 32 bits.  So floats are doubles but at four points, where only formulas go that come to the same in floats.  Where a
loop stands and what accesses read is the kernel's business (`leaf`)."""

from __future__ import annotations

from collections.abc import Callable

from ..data.nodes import Apply, Binary, Cast, Constant, Division, Rounded, Select, Unary
from .encoder import Function, emit, release, variable
from .functions import DIRECT
from .helpers import REPORTING, Functions
from .terms import BITS, SUMS, WHOLE, Term

COMPARISONS: dict[str, str] = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}
ARITHMETIC: dict[str, str] = {"+": "add", "-": "sub", "*": "mul"}
LOGIC: dict[str, str] = {"&": "and", "|": "or", "^": "xor", "&&": "and", "||": "or"}
SCALARS: dict[str, str] = {"f": "f64", "i": "i32", "b": "i32", "w": "i64"}
BLOCKS: dict[str, int] = {"i32": 0x7F, "i64": 0x7E, "f64": 0x7C, "v128": 0x7B}
ROOT = 0x3FE6A09E  # the upper half of sqrt(1/2)
NARROW = [0, 1, 2, 3, 8, 9, 10, 11, 0, 1, 2, 3, 8, 9, 10, 11]  # bytes: the lower halves of 64 bits


class Formulas:
    """Writes formulas into a function.

    leaf: pushes what the kernel knows. block: the variable that holds the address of the parameters. narrow: whether
    T has 8 bits, and wraps. fuses: whether what is stored as single floats is computed with relaxed SIMD. known:
    terms whose value a variable holds; uses: how often a term is asked for."""

    def __init__(self, f: Function, functions: Functions, narrow: bool):
        self.f = f
        self.functions = functions
        self.narrow = narrow
        self.lanes = 1
        self.block = 0
        self.known: dict[int, int] = {}
        self.uses: dict[int, int] = {}
        self.faults = False
        self.fuses = False
        self.spare = -1
        self.leaf: Callable[[Term], None] = nothing

    def emit(self, name: str, *values: float) -> None:
        emit(self.f, name, *values)

    def get(self, n: int) -> None:
        self.emit("local.get", n)

    def set(self, n: int) -> None:
        self.emit("local.set", n)

    def type_of(self, kind: str) -> str:
        return "v128" if self.lanes > 1 else SCALARS[kind]

    def shape(self, kind: str) -> str:
        """What instructions on a kind begin with."""
        if self.lanes == 1:
            return SCALARS[kind]
        if kind == "f":
            return "f64x2" if self.lanes == 2 else "f32x4"
        return "i64x2" if kind == "b" and self.lanes == 2 else "i32x4"

    # --- Terms ---

    def push(self, t: Term) -> None:
        """Instructions that leave the value of a term."""
        if t.number in self.known:
            self.get(self.known[t.number])
            return
        self.compute(t)
        if self.uses.get(t.number, 0) > 1 and not isinstance(t.e, Constant):
            n = variable(self.f, self.type_of(t.kind))
            self.emit("local.tee", n)
            self.known[t.number] = n

    def keep(self, t: Term) -> None:
        """Computes a term, for who asks for it later."""
        if t.number not in self.known:
            self.compute(t)
            n = variable(self.f, self.type_of(t.kind))
            self.set(n)
            self.known[t.number] = n

    def compute(self, t: Term) -> None:
        match t.e:
            case Constant(kind=kind, value=value):
                self.constant(kind, value)
            case Cast(kind=kind):
                self.push(t.parts[0])
                self.convert(t.parts[0].kind, kind)
            case Rounded():
                self.push(t.parts[0])
                self.rounded()
            case Unary(operator=operator):
                self.unary(operator, t.parts[0])
            case Binary(operator=operator) if self.is_lazy(t):
                self.push(t.parts[0])
                self.emit("if", BLOCKS["i32"])
                if operator == "&&":
                    self.branch(t.parts[1])
                    self.emit("else")
                    self.constant("b", 0)
                else:
                    self.constant("b", 1)
                    self.emit("else")
                    self.branch(t.parts[1])
                self.emit("end")
            case Binary(operator=operator):
                if self.fused(t, operator):
                    return
                self.push(t.parts[0])
                self.push(t.parts[1])
                self.binary(operator, t.parts[0].kind)
            case Select():
                self.select(t)
            case Division(operator=operator, divisor=divisor):
                self.push(t.parts[0])
                self.division(operator, divisor)
            case Apply(name=name):
                self.applied(t, name)
            case _:
                self.leaf(t)

    def fused(self, t: Term, operator: str) -> bool:
        """A product and a sum of doubles in one instruction, where there is one and the product is needed nowhere
        else."""
        if not self.fuses or self.lanes != 2 or t.kind != "f" or operator != "+" and operator != "-":
            return False
        for n in [1, 0] if operator == "+" else [1]:
            part = t.parts[n]
            if part.said == "*" and part.number not in self.known and self.uses.get(part.number, 0) == 1:
                self.push(part.parts[0])
                self.push(part.parts[1])
                self.push(t.parts[1 - n])
                self.emit("f64x2.relaxed_madd" if operator == "+" else "f64x2.relaxed_nmadd")
                return True
        return False

    def is_lazy(self, t: Term) -> bool:
        """Whether a condition's second half is looked at only where the first does not decide."""
        return self.lanes == 1 and (t.said == "&&" or t.said == "||") and t.parts[1].called

    def constant(self, kind: str, value: float) -> None:
        if kind == "f":
            self.emit("f64.const", value)
        else:
            self.emit("i32.const", -value if kind == "b" and self.lanes > 1 else value)
        self.spread("i" if kind == "b" else kind)

    def spread(self, kind: str) -> None:
        """One number of a kind at all points."""
        if self.lanes == 1:
            return
        if kind == "f":
            if self.lanes == 4:
                self.emit("f32.demote_f64")
            self.emit(f"{self.shape('f')}.splat")
        else:
            self.emit("i32x4.splat")

    def convert(self, own: str, kind: str) -> None:
        if own == kind:
            return
        if kind == "f":
            names = ["f64.convert_i32_s", "f64x2.convert_low_i32x4_s", "f32x4.convert_i32x4_s"]
        else:
            names = ["i32.trunc_sat_f64_s", "i32x4.trunc_sat_f64x2_s_zero", "i32x4.trunc_sat_f32x4_s"]
        self.emit(names[self.lanes // 2])

    def rounded(self) -> None:
        """Doubles to what singles hold."""
        if self.lanes == 1:
            self.emit("f32.demote_f64")
            self.emit("f64.promote_f32")
        elif self.lanes == 2:
            self.emit("f32x4.demote_f64x2_zero")
            self.emit("f64x2.promote_low_f32x4")

    def division(self, operator: str, divisor: int) -> None:
        self.each_lane("i", "i", lambda x: self.divided(operator, x, divisor))

    def unary(self, operator: str, part: Term) -> None:
        if operator == "!" and self.lanes == 1:
            self.push(part)
            self.emit("i32.eqz")
        elif operator == "!":
            self.push(part)
            self.emit("v128.not")
        elif operator == "~":
            self.push(part)
            self.constant("i", -1)
            self.emit("v128.xor" if self.lanes > 1 else "i32.xor")
        elif part.kind == "f":
            self.push(part)
            self.emit(f"{self.shape('f')}.neg")
        else:
            self.constant("i", 0)
            self.push(part)
            self.emit(f"{self.shape('i')}.sub")

    def binary(self, operator: str, kind: str) -> None:
        if operator in ARITHMETIC:
            self.emit(f"{self.shape(kind)}.{ARITHMETIC[operator]}")
        elif operator in COMPARISONS:
            if kind == "b" and self.lanes > 1:
                self.emit("v128.xor")
                if operator == "==":
                    self.emit("v128.not")
                return
            signed = "_s" if kind == "i" and operator != "==" and operator != "!=" else ""
            self.emit(f"{self.shape(kind)}.{COMPARISONS[operator]}{signed}")
            if kind == "i" and self.lanes == 2:
                self.emit("i64x2.extend_low_i32x4_s")
        else:
            self.emit(f"{'v128' if self.lanes > 1 else 'i32'}.{LOGIC[operator]}")

    def mask(self, kind: str) -> None:
        """A boolean as what picks among numbers of a kind."""
        if kind == "i" and self.lanes == 2:
            if self.spare < 0:
                self.spare = variable(self.f, "v128")
            self.emit("local.tee", self.spare)
            self.get(self.spare)
            self.emit("i8x16.shuffle", *NARROW)

    def select(self, t: Term) -> None:
        no = t.parts[0]
        yes = t.parts[1]
        if self.lanes == 1:
            if not yes.called and not no.called:
                self.push(yes)
                self.push(no)
                self.push(t.parts[2])
                self.emit("select")
                return
            self.push(t.parts[2])
            self.emit("if", BLOCKS[self.type_of(t.kind)])
            self.branch(yes)
            self.emit("else")
            self.branch(no)
            self.emit("end")
            return
        if yes.called == no.called:
            self.push(yes)
            self.push(no)
            self.push(t.parts[2])
            self.mask(t.kind)
            self.emit("v128.bitselect")
            return
        # What calls functions is left out where no point asks for it.
        condition = variable(self.f, "v128")
        sure = variable(self.f, "v128")
        self.push(t.parts[2])
        if no.called:
            self.emit("v128.not")
        self.set(condition)
        self.push(no if yes.called else yes)
        self.set(sure)
        self.get(condition)
        self.emit("v128.any_true")
        self.emit("if", BLOCKS["v128"])
        self.branch(yes if yes.called else no)
        self.get(sure)
        self.get(condition)
        self.mask(t.kind)
        self.emit("v128.bitselect")
        self.emit("else")
        self.get(sure)
        self.emit("end")
        release(self.f, condition)
        release(self.f, sure)

    def branch(self, t: Term) -> None:
        """A term that is computed only sometimes: what it makes known is forgotten."""
        known = self.known
        self.known = {**known}
        self.push(t)
        self.known = known

    # --- Functions ---

    def applied(self, t: Term, name: str) -> None:
        kind = t.parts[0].kind
        if self.lanes > 1 and (t.kind == "w" or name == "narrow_checked"):
            self.wide(t, name)
            return
        if kind == "f" and name in DIRECT:
            self.push_all(t.parts)
            how = DIRECT[name]
            if self.lanes == 1 and (how == "pmin" or how == "pmax"):
                how = "min" if how == "pmin" else "max"
            self.emit(f"{self.shape('f')}.{how}")
        elif name in BITS:
            self.push(t.parts[0])
            self.bits(name)
        elif name in WHOLE or name.startswith("wide_") and name != "wide_sum" and name != "wide_times":
            self.whole(t, name)
        elif name in SUMS:
            self.checked_sum(t, "add" if name == "add_checked" else "sub")
        elif name == "narrow_checked" and self.narrow:
            self.push(t.parts[0])
            self.emit("i32.wrap_i64")
        elif name == "to_int":
            self.push(t.parts[0])
            self.convert("f", "i")
        elif name == "power_checked" and self.narrow:
            self.call("power_int", t.parts, t.kind)
        else:
            self.call(name, t.parts, t.kind)

    def wide(self, t: Term, name: str) -> None:
        """64-bit whole numbers at several points: doubles, or where they wrap the lower halves."""
        for part in t.parts:
            self.push(part)
            if part.kind == "i" and not self.narrow:
                self.emit("f64x2.convert_low_i32x4_s")
        shape = "i32x4" if self.narrow else "f64x2"
        match name:
            case "widened":
                pass
            case "wide_product" | "wide_sum" | "wide_difference":
                sign = "mul" if name == "wide_product" else "add" if name == "wide_sum" else "sub"
                self.emit(f"{shape}.{sign}")
            case _ if not self.narrow:
                value = variable(self.f, "v128")
                self.emit("local.tee", value)
                self.constant("f", -2147483648)
                self.emit("f64x2.lt")
                self.get(value)
                self.constant("f", 2147483647)
                self.emit("f64x2.gt")
                self.emit("v128.or")
                self.emit("v128.any_true")
                self.tell_overflow()
                self.get(value)
                self.emit("i32x4.trunc_sat_f64x2_s_zero")
                release(self.f, value)

    def tell_overflow(self) -> None:
        """Tells of what 32 bits do not hold, where the condition on the stack holds."""
        self.emit("if")
        self.faults = True
        self.get(self.block)
        for value in [2, 0, 0]:
            self.emit("i32.const", value)
        self.emit("call", self.functions.number("fault", 4))
        self.emit("end")

    def checked_sum(self, t: Term, sign: str) -> None:
        """A sum or difference of whole numbers of T, which must fit into 32 bits; narrow ones wrap."""
        if self.narrow:
            self.push_all(t.parts)
            self.emit(f"{self.shape('i')}.{sign}")
            return
        if self.lanes == 1:
            self.lead("narrow_checked")
            for part in t.parts:
                self.push(part)
                self.emit("i64.extend_i32_s")
            self.emit(f"i64.{sign}")
            self.emit("call", self.functions.number("narrow_checked", 2))
            return
        a = variable(self.f, "v128")
        b = variable(self.f, "v128")
        out = variable(self.f, "v128")
        self.push_all(t.parts)
        self.set(b)
        self.emit("local.tee", a)
        self.get(b)
        self.emit(f"i32x4.{sign}")
        self.emit("local.tee", out)
        # The sign of the result is neither's: of a difference that of -b.
        self.get(a)
        self.emit("v128.xor")
        self.get(b if sign == "add" else a)
        self.get(out if sign == "add" else b)
        self.emit("v128.xor")
        self.emit("v128.and")
        self.emit("i32x4.bitmask")
        if self.lanes == 2:
            self.emit("i32.const", 3)
            self.emit("i32.and")
        self.tell_overflow()
        self.get(out)
        for n in [a, b, out]:
            release(self.f, n)

    def push_all(self, parts: list[Term]) -> None:
        for part in parts:
            self.push(part)

    def call(self, name: str, parts: list[Term], kind: str) -> None:
        """A function of one point, at each of them."""
        if self.lanes > 1:
            operands: list[int] = []
            for part in parts:
                self.push(part)
                n = variable(self.f, "v128")
                self.set(n)
                operands.append(n)
            kinds = [part.kind for part in parts]
            self.lanes_of(kind, lambda lane: self.call_lane(name, operands, kinds, kind, lane))
            for n in operands:
                release(self.f, n)
            return
        self.lead(name)
        for part in parts:
            self.push(part)
            self.operand(name, part.kind)
        self.called(name, len(parts), kind)

    def lead(self, name: str) -> None:
        if name in REPORTING:
            self.faults = True
            self.get(self.block)

    def operand(self, name: str, kind: str) -> None:
        """What is given takes doubles, and answers one."""
        if kind != "f" and not self.functions.is_own(name):
            self.emit("f64.convert_i32_s")

    def called(self, name: str, operands: int, kind: str) -> None:
        self.emit("call", self.functions.number(name, operands))
        if kind == "i" and not self.functions.is_own(name):
            self.emit("i32.trunc_sat_f64_s")
        if kind == "b" and not self.functions.is_own(name):
            self.emit("f64.const", 0)
            self.emit("f64.ne")

    def call_lane(self, name: str, operands: list[int], kinds: list[str], kind: str, lane: int) -> None:
        self.lead(name)
        for n in range(len(operands)):
            self.get(operands[n])
            self.extract(kinds[n], lane)
            self.operand(name, kinds[n])
        self.called(name, len(operands), kind)

    def extract(self, kind: str, lane: int) -> None:
        if kind == "f":
            self.emit(f"{self.shape('f')}.extract_lane", lane)
            if self.lanes == 4:
                self.emit("f64.promote_f32")
        elif kind == "b" and self.lanes == 2:
            self.emit("i32x4.extract_lane", 2 * lane)
        else:
            self.emit("i32x4.extract_lane", lane)

    def lanes_of(self, kind: str, one: Callable[[int], None]) -> None:
        """All points from what `one` leaves for each."""
        out = variable(self.f, "v128")
        for lane in range(self.lanes):
            if lane > 0:
                self.get(out)
            one(lane)
            if kind == "f":
                if self.lanes == 4:
                    self.emit("f32.demote_f64")
                self.emit(
                    f"{self.shape('f')}.splat" if lane == 0 else f"{self.shape('f')}.replace_lane",
                    *([] if lane == 0 else [lane]),
                )
            else:
                self.emit("i32x4.splat" if lane == 0 else "i32x4.replace_lane", *([] if lane == 0 else [lane]))
            if lane < self.lanes - 1:
                self.set(out)
        if kind == "b":
            self.truths()
        release(self.f, out)

    def truths(self) -> None:
        """0 and 1 as none and all bits."""
        self.emit("i32.const", 0)
        self.emit("i32x4.splat")
        self.emit("i32x4.ne")
        if self.lanes == 2:
            self.emit("i64x2.extend_low_i32x4_s")

    def each_lane(self, own: str, kind: str, one: Callable[[int], None]) -> None:
        """What `one` makes of a variable, at each point of what is on the stack."""
        x = variable(self.f, SCALARS[own])
        if self.lanes == 1:
            self.set(x)
            one(x)
        else:
            whole = variable(self.f, "v128")
            self.set(whole)
            self.lanes_of(kind, lambda lane: self.one_lane(own, whole, x, lane, one))
            release(self.f, whole)
        release(self.f, x)

    def one_lane(self, own: str, whole: int, x: int, lane: int, one: Callable[[int], None]) -> None:
        self.get(whole)
        self.extract(own, lane)
        self.set(x)
        one(x)

    def divided(self, operator: str, x: int, divisor: int) -> None:
        """The quotient by a positive number rounded down, or what is left."""
        if operator == "%":
            self.get(x)
            self.emit("i32.const", divisor)
            self.emit("i32.rem_s")
            self.emit("i32.const", divisor)
            self.emit("i32.add")
            self.emit("i32.const", divisor)
            self.emit("i32.rem_u")
            return
        # Of a negative number ~x is cut towards zero, and turned back.
        self.get(x)
        self.sign_bits(x)
        self.emit("i32.const", divisor)
        self.emit("i32.div_u")
        self.sign_bits(x)

    def sign_bits(self, x: int) -> None:
        self.get(x)
        self.emit("i32.const", 31)
        self.emit("i32.shr_s")
        self.emit("i32.xor")

    def whole(self, t: Term, name: str) -> None:
        """Functions of whole numbers."""
        match name:
            case "min" | "max" if self.lanes > 1:
                self.push_all(t.parts)
                self.emit(f"i32x4.{name}_s")
            case "min" | "max":
                self.push_all(t.parts)
                self.push_all(t.parts)
                self.emit("i32.lt_s" if name == "min" else "i32.gt_s")
                self.emit("select")
            case "abs" if self.lanes > 1:
                self.push(t.parts[0])
                self.emit("i32x4.abs")
            case "abs":
                self.push(t.parts[0])
                self.each_lane("i", "i", lambda x: self.size(x))
            case "wide_product" | "wide_difference" | "wide_shift":
                self.push(t.parts[0])
                if name == "wide_product":
                    self.emit("i64.extend_i32_s")
                self.push(t.parts[1])
                if name != "wide_difference":
                    self.emit("i64.extend_i32_s")
                self.emit(
                    "i64.mul" if name == "wide_product" else "i64.sub" if name == "wide_difference" else "i64.shl"
                )
            case "widened":
                self.push(t.parts[0])
                self.emit("i64.extend_i32_s")
            case "quotient" if self.lanes == 2:
                self.push(t.parts[0])
                self.convert("i", "f")
                self.push(t.parts[1])
                self.convert("i", "f")
                self.emit("f64x2.div")
                self.convert("f", "i")
            case _:
                self.pairs(t, "i32.div_s" if name == "quotient" else "i32.shl" if name == "shifted" else "i32.shr_s")

    def pairs(self, t: Term, instruction: str) -> None:
        """An instruction that takes one point at a time."""
        self.push_all(t.parts)
        if self.lanes == 1:
            self.emit(instruction)
            return
        b = variable(self.f, "v128")
        a = variable(self.f, "v128")
        self.set(b)
        self.set(a)
        self.lanes_of("i", lambda lane: self.pair(a, b, lane, instruction))
        release(self.f, a)
        release(self.f, b)

    def pair(self, a: int, b: int, lane: int, instruction: str) -> None:
        self.get(a)
        self.extract("i", lane)
        self.get(b)
        self.extract("i", lane)
        self.emit(instruction)

    def size(self, x: int) -> None:
        self.get(x)
        self.sign_bits(x)
        self.get(x)
        self.emit("i32.const", 31)
        self.emit("i32.shr_u")
        self.emit("i32.add")

    def bits_of(self, upper: int) -> None:
        """64 bits whose lower half is 0."""
        self.emit("i64.const", upper * 4294967296)
        if self.lanes == 2:
            self.emit("i64x2.splat")

    def bits(self, name: str) -> None:
        """2**x of a whole x from -1022 to 1023, the exponent of a normal number, and its fraction from 1 to 2.

        near_exponent, near_fraction: the same with a fraction from sqrt(1/2) to sqrt(2).  power_in: the power of two
        whose exponent, less 1023, stands in a number's last bits."""
        many = self.lanes == 2
        wide = "i64x2" if many else "i64"
        match name:
            case "power_in":
                if not many:
                    self.emit("i64.reinterpret_f64")
                self.emit("i32.const" if many else "i64.const", 52)
                self.emit(f"{wide}.shl")
                if not many:
                    self.emit("f64.reinterpret_i64")
            case "near_exponent" | "near_fraction":
                if not many:
                    self.emit("i64.reinterpret_f64")
                self.bits_of(0x3FF00000 - ROOT)
                self.emit(f"{wide}.add")
                if name == "near_exponent":
                    self.emit("i32.const" if many else "i64.const", 52)
                    self.emit(f"{wide}.shr_u")
                    self.bits_of(0x43300000)
                    self.emit("v128.or" if many else "i64.or")
                    if not many:
                        self.emit("f64.reinterpret_i64")
                    self.constant("f", 4503599627371519)
                    self.emit(f"{self.shape('f')}.sub")
                    return
                self.emit("i64.const", 0x000FFFFFFFFFFFFF)
                if many:
                    self.emit("i64x2.splat")
                self.emit("v128.and" if many else "i64.and")
                self.bits_of(ROOT)
                self.emit(f"{wide}.add")
                if not many:
                    self.emit("f64.reinterpret_i64")
            case "power_of_two":
                self.convert("f", "i")
                self.constant("i", 1023)
                self.emit("i32x4.add" if many else "i32.add")
                self.emit("i64x2.extend_low_i32x4_s" if many else "i64.extend_i32_s")
                self.emit("i32.const" if many else "i64.const", 52)
                self.emit(f"{wide}.shl")
                if not many:
                    self.emit("f64.reinterpret_i64")
            case "exponent_of":
                if not many:
                    self.emit("i64.reinterpret_f64")
                self.emit("i32.const" if many else "i64.const", 52)
                self.emit(f"{wide}.shr_u")
                if many:
                    self.mask("i")
                else:
                    self.emit("i32.wrap_i64")
                self.constant("i", 1023)
                self.emit("i32x4.sub" if many else "i32.sub")
                self.convert("i", "f")
            case _:
                if not many:
                    self.emit("i64.reinterpret_f64")
                self.emit("i64.const", 0x000FFFFFFFFFFFFF)
                if many:
                    self.emit("i64x2.splat")
                self.emit("v128.and" if many else "i64.and")
                self.constant("f", 1)
                if not many:
                    self.emit("i64.reinterpret_f64")
                self.emit("v128.or" if many else "i64.or")
                if not many:
                    self.emit("f64.reinterpret_i64")


def nothing(t: Term) -> None:
    raise ValueError(t.said)
