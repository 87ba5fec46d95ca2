"""Values on the stack, at one point or at two or four neighbours at once.

At one point a number of kind "f" is an f64, one of kind "i" an i32, a boolean an i32 that is 0 or 1, "w" and "l" an
i64; where there are "l", one point is taken after another.  At
two points all are v128: f64x2, the lower half of i32x4, and all bits or none of 64 for a boolean; at four f32x4, i32x4
and 32 bits.  So floats are doubles but at four points, where only formulas go that come to the same in floats."""

from __future__ import annotations

from collections.abc import Callable

from ..encoder import Function, new_variable, release, variable
from ..instructions import Instruction
from ..writing import FunctionWriter
from .helpers import REPORTING, Functions
from .terms import MOST_LONG

COMPARISONS: dict[str, str] = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}
ARITHMETIC: dict[str, str] = {"+": "add", "-": "sub", "*": "mul"}
LOGIC: dict[str, str] = {"&": "and", "|": "or", "^": "xor", "&&": "and", "||": "or"}
SCALARS: dict[str, str] = {"f": "f64", "i": "i32", "b": "i32", "w": "i64", "l": "i64"}
BLOCKS: dict[str, int] = {"i32": 0x7F, "i64": 0x7E, "f64": 0x7C, "v128": 0x7B}
NARROW = [0, 1, 2, 3, 8, 9, 10, 11, 0, 1, 2, 3, 8, 9, 10, 11]  # bytes: the lower halves of 64 bits


class Values(FunctionWriter):
    """Writes into a function what is done to values on the stack.

    block: the variable that holds the address of the parameters.  narrow: whether T has 8 bits, and wraps.  fuses:
    whether what is stored as single floats is computed with relaxed SIMD.  floats: whether four points are computed in
    floats where doubles would be more exact (planning/rows.py).  faults: whether anything may be told of.
    pinned: variables with constants of 64 bits, which `first` sets before all."""

    def __init__(self, f: Function, functions: Functions, narrow: bool):
        super().__init__(f)
        self.functions = functions
        self.narrow = narrow
        self.lanes = 1
        self.block = 0
        self.faults = False
        self.fuses = False
        self.floats = False
        self.spare = -1
        self.pinned: dict[int, int] = {}
        self.first: list[Instruction] = []

    def type_of(self, kind: str) -> str:
        return "v128" if self.lanes > 1 else SCALARS[kind]

    def shape(self, kind: str) -> str:
        """What instructions on a kind begin with."""
        if self.lanes == 1:
            return SCALARS[kind]
        if kind == "f":
            return "f64x2" if self.lanes == 2 else "f32x4"
        return "i64x2" if kind == "b" and self.lanes == 2 else "i32x4"

    def constant(self, kind: str, value: float) -> None:
        if kind == "f":
            self.emit("f64.const", value)
        elif kind == "l" and value == MOST_LONG:
            self.emit("i64.const", -1)
            self.emit("i64.const", 1)
            self.emit("i64.shr_u")
        elif kind == "l":
            self.emit("i64.const", value)
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
        if own == "l" or kind == "l":
            self.convert_long(own, kind)
            return
        if kind == "f":
            names = ["f64.convert_i32_s", "f64x2.convert_low_i32x4_s", "f32x4.convert_i32x4_s"]
        else:
            names = ["i32.trunc_sat_f64_s", "i32x4.trunc_sat_f64x2_s_zero", "i32x4.trunc_sat_f32x4_s"]
        self.emit(names[self.lanes // 2])

    def convert_long(self, own: str, kind: str) -> None:
        """To or from 64 bits."""
        if own == "f":
            self.invoke("cut_long", 1)
        elif kind == "l":
            self.emit("i64.extend_i32_s" if own == "i" else "i64.extend_i32_u")
        elif kind == "f":
            self.emit("f64.convert_i64_s")
        else:
            self.invoke("shortened", 1)

    def rounded(self) -> None:
        """Doubles to what singles hold."""
        if self.lanes == 1:
            self.emit("f32.demote_f64")
            self.emit("f64.promote_f32")
        elif self.lanes == 2:
            self.emit("f32x4.demote_f64x2_zero")
            self.emit("f64x2.promote_low_f32x4")

    def binary(self, operator: str, kind: str) -> None:
        if operator in ARITHMETIC:
            self.emit(f"{self.shape(kind)}.{ARITHMETIC[operator]}")
        elif operator in COMPARISONS:
            if kind == "b" and self.lanes > 1:
                self.emit("v128.xor")
                if operator == "==":
                    self.emit("v128.not")
                return
            signed = "_s" if (kind == "i" or kind == "l") and operator != "==" and operator != "!=" else ""
            self.emit(f"{self.shape(kind)}.{COMPARISONS[operator]}{signed}")
            if kind == "i" and self.lanes == 2:
                self.emit("i64x2.extend_low_i32x4_s")
        else:
            self.emit(f"{'v128' if self.lanes > 1 else SCALARS[kind]}.{LOGIC[operator]}")

    def mask(self, kind: str) -> None:
        """A boolean as what picks among numbers of a kind."""
        if kind == "i" and self.lanes == 2:
            if self.spare < 0:
                self.spare = variable(self.f, "v128")
            self.emit("local.tee", self.spare)
            self.get(self.spare)
            self.emit("i8x16.shuffle", *NARROW)

    def pick(self, kind: str) -> None:
        """One of two values by a mask of all bits or none: three instructions of a processor's, but for relaxed
        ones."""
        wide = self.fuses and self.lanes == 2 and kind == "f"
        self.emit("i64x2.relaxed_laneselect" if wide else "v128.bitselect")

    # --- Of several points ---

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
        self.integer(0)
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

    def bits_of(self, upper: int) -> None:
        """64 bits whose lower half is 0."""
        self.bits64(upper * 4294967296)

    def bits64(self, value: int) -> None:
        """64 bits at all points.  Engines would make a vector of them at each use."""
        if self.lanes != 2:
            self.emit("i64.const", value)
            return
        if value not in self.pinned:
            self.pinned[value] = new_variable(self.f, "v128")
            self.first.append(Instruction("i64.const", [value]))
            self.first.append(Instruction("i64x2.splat", []))
            self.first.append(Instruction("local.set", [self.pinned[value]]))
        self.get(self.pinned[value])

    def extract_one(self, kind: str, lane: int) -> None:
        """The value at one point as it is where one point is computed."""
        self.extract(kind, lane)
        if kind == "b":
            self.integer(1)
            self.emit("i32.and")

    def truth(self, kind: str) -> None:
        """Whether the number on the stack is not 0."""
        self.emit(f"{SCALARS[kind]}.const", 0)
        self.emit(f"{SCALARS[kind]}.ne")

    # --- Functions ---

    def invoke(self, name: str, operands: int) -> None:
        """Calls a function of so many operands, which are on the stack."""
        self.emit("call", self.functions.number(name, operands))

    def lead(self, name: str) -> None:
        if name in REPORTING:
            self.faults = True
            self.get(self.block)

    def operand(self, name: str, kind: str) -> None:
        """What is given takes doubles, and answers one."""
        if kind != "f" and not self.functions.is_own(name):
            self.convert("i" if kind == "b" else kind, "f")

    def called(self, name: str, operands: int, kind: str) -> None:
        self.invoke(name, operands)
        if (kind == "i" or kind == "l") and not self.functions.is_own(name):
            self.convert("f", kind)
        if kind == "b" and not self.functions.is_own(name):
            self.truth("f")

    def tell_overflow(self) -> None:
        """Tells of what 32 bits do not hold, where the condition on the stack holds."""
        self.emit("if")
        self.faults = True
        self.get(self.block)
        for value in [2, 0, 0]:
            self.integer(value)
        self.invoke("fault", 4)
        self.emit("end")
