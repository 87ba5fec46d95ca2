"""Terms as instructions: what a formula comes to, at one point or at several neighbours at once (values.py).

Where a loop stands and what accesses read is the kernel's business (`leaf`)."""

from __future__ import annotations

from collections.abc import Callable
from math import copysign

from ...data.nodes import Apply, Binary, Cast, Constant, Division, Rounded, Select, Unary
from ..encoder import Function, release, variable
from .float_bits import float_bits
from .functions import DIRECT
from .helpers import Functions
from .integers import checked_sum, divided, integer_function, wide
from .terms import BITS, OF_INTEGERS, SUMS, WIDE, Term, is_rare, value_of
from .values import BLOCKS, SCALARS, Values


class Formulas(Values):
    """Writes formulas into a function.

    leaf: pushes what the kernel knows.  known: terms whose value a variable holds; uses: how often a term is asked
    for."""

    def __init__(self, f: Function, functions: Functions, narrow: bool):
        super().__init__(f, functions, narrow)
        self.known: dict[int, int] = {}
        self.uses: dict[int, int] = {}
        self.leaf: Callable[[Term], None] = nothing

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
        """A product and a sum in one instruction, where there is one and the product is needed nowhere else; of floats
        only where they need not come to what doubles do."""
        if not self.fuses or self.lanes == 1 or self.lanes == 4 and not self.floats or t.kind != "f":
            return False
        if operator != "+" and operator != "-":
            return False
        for n in [1, 0] if operator == "+" else [1]:
            part = t.parts[n]
            if part.said == "*" and part.number not in self.known and self.uses.get(part.number, 0) == 1:
                self.push(part.parts[0])
                self.push(part.parts[1])
                self.push(t.parts[1 - n])
                self.emit(f"{self.shape('f')}.relaxed_{'madd' if operator == '+' else 'nmadd'}")
                return True
        return False

    def is_lazy(self, t: Term) -> bool:
        """Whether a condition's second half is looked at only where the first does not decide."""
        return self.lanes == 1 and (t.said == "&&" or t.said == "||") and t.parts[1].called

    def division(self, operator: str, divisor: int) -> None:
        self.each_lane("i", "i", lambda x: divided(self, operator, x, divisor))

    def unary(self, operator: str, part: Term) -> None:
        if operator == "!" and self.lanes == 1:
            self.push(part)
            self.emit("i32.eqz")
        elif operator == "!":
            self.push(part)
            self.emit("v128.not")
        elif operator == "~":
            self.push(part)
            self.constant(part.kind, -1)
            self.emit("v128.xor" if self.lanes > 1 else f"{SCALARS[part.kind]}.xor")
        elif part.kind == "f":
            self.push(part)
            self.emit(f"{self.shape('f')}.neg")
        else:
            self.constant("l" if part.kind == "l" else "i", 0)
            self.push(part)
            self.emit(f"{self.shape('l' if part.kind == 'l' else 'i')}.sub")

    def select(self, t: Term) -> None:
        no = t.parts[0]
        yes = t.parts[1]
        late_yes = yes.called or is_rare(yes)
        late_no = no.called or is_rare(no)
        if self.lanes == 1:
            if not late_yes and not late_no:
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
        if late_yes == late_no and t.kind == "f" and (is_zero(yes) or is_zero(no)):
            self.push(no if is_zero(yes) else yes)
            self.push(t.parts[2])
            self.emit("v128.andnot" if is_zero(yes) else "v128.and")
            return
        if late_yes == late_no:
            self.push(yes)
            self.push(no)
            self.push(t.parts[2])
            self.mask(t.kind)
            self.pick(t.kind)
            return
        # What calls functions is left out where no point asks for it.
        condition = variable(self.f, "v128")
        sure = variable(self.f, "v128")
        self.push(t.parts[2])
        if late_no:
            self.emit("v128.not")
        self.set(condition)
        self.push(no if late_yes else yes)
        self.set(sure)
        self.get(condition)
        self.emit("v128.any_true")
        self.emit("if", BLOCKS["v128"])
        self.branch(yes if late_yes else no)
        self.get(sure)
        self.get(condition)
        self.mask(t.kind)
        self.pick(t.kind)
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
            wide(self, t, name)
            return
        if kind == "f" and name in DIRECT:
            how = DIRECT[name]
            if self.lanes > 1 and (how == "min" or how == "max") and self.bounded(t.parts, how):
                return
            self.push_all(t.parts)
            if self.lanes == 1 and (how == "pmin" or how == "pmax"):
                how = "min" if how == "pmin" else "max"
            self.emit(f"{self.shape('f')}.{how}")
        elif name in BITS:
            self.push_all(t.parts)
            float_bits(self, name)
        elif name in OF_INTEGERS or name in WIDE:
            integer_function(self, t, name)
        elif name in SUMS:
            checked_sum(self, t, "add" if name == "add_checked" else "sub")
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

    def bounded(self, parts: list[Term], how: str) -> bool:
        """The smaller or larger of a number and a constant that is no NaN: the instructions that mind NaN and the sign
        of zero on both sides are eight of a processor's."""
        for n in range(2):
            bound = value_of(parts[n])
            if bound is not None and bound == bound and (bound != 0 or copysign(1.0, bound) > 0):
                self.push(parts[1 - n])
                self.push(parts[n])
                self.emit(f"{self.shape('f')}.p{how}")
                if bound == 0 and how == "max":  # of -0 and 0 the larger is 0
                    self.constant("f", 0)
                    self.emit(f"{self.shape('f')}.add")
                return True
        return False

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

    def call_lane(self, name: str, operands: list[int], kinds: list[str], kind: str, lane: int) -> None:
        self.lead(name)
        for n in range(len(operands)):
            self.get(operands[n])
            self.extract(kinds[n], lane)
            self.operand(name, kinds[n])
        self.called(name, len(operands), kind)


def is_zero(t: Term) -> bool:
    """Whether a term is 0, and not -0."""
    value = value_of(t)
    return value is not None and value == 0 and copysign(1.0, value) > 0


def nothing(t: Term) -> None:
    raise ValueError(t.said)
