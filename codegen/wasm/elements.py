"""Elements as numbers, and the other leaves of a kernel's formulas."""

from __future__ import annotations

from dsl.ir.dtypes import TYPES, is_floating

from ..data.dtypes import compute_class, number_kind
from ..data.nodes import Constant, Element, Index, Random, Uniform
from .addresses import Addresses
from .encoder import release, variable
from .planning.kernel_plan import BYTES, kind_of
from .printer import KernelPart, Printer
from .scalars.terms import Term
from .scalars.values import BLOCKS, SCALARS


def load_of(dtype: str) -> str:
    """The instruction that reads an element."""
    t = TYPES[dtype]
    if t.kind == "f":
        return f"f{8 * t.bytes}.load"
    if t.bytes == 8:
        return "i64.load"
    return "i32.load" if t.bytes == 4 else f"i32.load{t.bits}_{'s' if t.kind == 'i' else 'u'}"


class Elements(KernelPart):
    """Reads elements into the function of a kernel, whose formulas ask here for what they do not know."""

    def __init__(self, p: Printer):
        super().__init__(p)
        self.addresses = Addresses(p)
        p.w.leaf = lambda t: self.leaf(t)

    def leaf(self, t: Term) -> None:
        match t.e:
            case Element(access=n):
                self.element(n)
            case Index(loop=loop):
                self.get(self.p.counters[loop])
                self.w.spread("i")
                if self.w.lanes > 1 and self.p.line >= 0 and self.p.lines[self.p.line].name == loop:
                    self.emit("v128.const", 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0)
                    self.emit("i32x4.add")
                    if self.p.ahead > 0:
                        self.integer(self.p.ahead)
                        self.emit("i32x4.splat")
                        self.emit("i32x4.add")
            case Uniform(name=name):
                self.get(self.p.uniform(name))
                self.w.spread(t.kind)
            case Random(draw=draw):
                if self.w.lanes == 1:
                    self.draw(draw, 0)
                else:
                    self.w.lanes_of("f", lambda lane: self.draw(draw, lane))
            case _:
                raise ValueError(f"{self.k.op.name}: {t.said} is not known here")

    def draw(self, draw: int, lane: int) -> None:
        for name in ["seed0", "seed1", "call"]:
            self.get(self.p.parameter(name))
        self.integer(draw)
        self.integer(0)
        for n in self.p.places:
            self.get(n)
            self.emit("i32.add")
        if lane + self.p.ahead > 0:
            self.get(self.p.parameter(f"place{self.p.line}"))
            self.integer(lane + self.p.ahead)
            self.emit("i32.mul")
            self.emit("i32.add")
        self.w.invoke("uniform_random", 5)

    def element(self, n: int) -> None:
        """The element of an access as a number of its kind, or what stands for it."""
        a = self.k.code.accesses[n]
        kind = kind_of(self.k, Element(n))
        if a.guard is None:
            self.load(n, kind, True)
            return
        guard = self.p.terms.of(a.guard, {})
        other = a.fallback if a.fallback is not None else Constant(kind, 0)
        fallback = self.p.terms.of(other, {})
        if self.w.lanes == 1:
            self.w.push(guard)
            self.emit("if", BLOCKS[SCALARS[kind]])
            known = self.w.known
            self.w.known = {**known}
            self.load(n, kind, False)
            self.emit("else")
            self.w.known = {**known}
            self.w.push(fallback)
            self.w.known = known
            self.emit("end")
            return
        if self.k.even.loose[n]:
            self.load_guarded(n, kind, guard)
        else:
            self.load(n, kind, True)
        self.w.push(fallback)
        self.w.push(guard)
        self.w.mask(kind)
        self.emit("v128.bitselect")

    def load_guarded(self, n: int, kind: str, guard: Term) -> None:
        """Elements at several points, some of which may stand off the tensor: all at once where none does."""
        self.w.keep(guard)
        holds = self.w.known[guard.number]
        self.get(holds)
        self.emit("i32x4.all_true")
        self.emit("if", BLOCKS["v128"])
        self.load(n, kind, False)
        self.emit("else")
        self.w.lanes_of(kind, lambda lane: self.load_held(n, kind, holds, lane))
        self.emit("end")

    def load_held(self, n: int, kind: str, holds: int, lane: int) -> None:
        self.get(holds)
        self.w.extract("b", lane)
        self.emit("if", BLOCKS[SCALARS[kind]])
        self.load_lane(n, kind, lane)
        self.emit("else")
        self.emit(f"{SCALARS[kind]}.const", 0)
        self.emit("end")

    def load(self, n: int, kind: str, safe: bool) -> None:
        """The element of an access.  safe: whether it may stand nowhere, where its value is not needed."""
        if self.w.lanes == 1:
            self.addresses.address(n, 0, safe)
            self.load_one(n, kind, 0)
            return
        stored = self.k.types[n]
        how = self.p.class_of(self.p.line, n)
        indexed = any(self.p.moves(t, self.p.line) for t in self.addresses.index_terms(n))
        if how == "0" and not indexed:
            self.addresses.address(n, 0, safe)
            self.load_one(n, kind, 0)
            if kind == "b":
                self.negative()
                self.emit("i32x4.splat")
            else:
                self.w.spread(kind)
        elif how == "1" and not indexed and self.load_many(n, stored, kind):
            return
        elif how == "*" and not indexed and self.w.lanes == 4 and stored == "float32" and kind == "f":
            self.load_spaced(n)
        else:
            self.w.lanes_of(kind, lambda lane: self.load_lane(n, kind, lane))

    def load_spaced(self, n: int) -> None:
        """Four single floats that are no neighbours."""
        out = variable(self.f, "v128")
        for lane in range(4):
            self.addresses.address(n, lane, True)
            if lane == 0:
                self.emit("v128.load32_zero", 0, 0)
            else:
                self.get(out)
                self.emit("v128.load32_lane", 0, 0, lane)
            if lane < 3:
                self.set(out)
        release(self.f, out)

    def load_lane(self, n: int, kind: str, lane: int) -> None:
        self.addresses.address(n, lane, True)
        self.load_one(n, kind, 0)

    def load_one(self, n: int, kind: str, at: int) -> None:
        """An element at the address on the stack, as a number."""
        stored = self.k.types[n]
        self.emit(load_of(stored), 0, at)
        whole = not is_floating(stored)
        if not whole and BYTES[stored] == 4:
            self.emit("f64.promote_f32")
        if stored == "int64" or kind == "l":
            self.load_long(stored, kind)
        elif kind == "f" and whole:
            self.emit("f64.convert_i32_u" if stored == "uint32" else "f64.convert_i32_s")
        elif kind == "i" and self.is_unsigned_beside(n):
            self.get(0)
            self.w.faults = True
            self.w.invoke("signed_checked", 2)
        elif kind == "i" and not whole:
            self.emit("i32.trunc_sat_f64_s")
        elif kind == "b":
            self.w.truth("i" if whole else "f")

    def load_long(self, stored: str, kind: str) -> None:
        """An element on the stack as a number, where one of them has 64 bits."""
        own = number_kind(stored)
        if kind == "b":
            self.w.truth("l")
        elif stored == "uint32":
            self.emit("i64.extend_i32_u")
        else:
            self.w.convert(own, kind)

    def is_unsigned_beside(self, n: int) -> bool:
        """Whether numbers of T are read out of uint32, and T is not that: what 32 bits with a sign do not hold is an
        error."""
        is_read = self.k.kernel.accesses[n].kind == "T" and self.k.call.dtype != "uint32"
        return is_read and self.k.types[n] == "uint32"

    def load_many(self, n: int, stored: str, kind: str) -> bool:
        """Neighbours at once, where there is a way."""
        at = self.p.ahead * BYTES[stored]
        four = self.w.lanes == 4
        size = BYTES[stored]
        own = compute_class(stored)
        if (
            stored == "int64"
            or size == 8
            and four
            or size < 4
            and not four
            or stored == "uint32"
            and (kind == "f" or self.is_unsigned_beside(n))
        ):
            return False
        self.addresses.address(n, -1, True)
        if size == 8 or size == 4 and four:
            self.emit("v128.load", 0, at)
        elif size == 4:
            self.emit("v128.load64_zero", 0, at)
            if own == "f":
                self.emit("f64x2.promote_low_f32x4")
        else:
            sign = "s" if TYPES[stored].kind == "i" else "u"
            self.emit("v128.load32_zero" if size == 1 else "v128.load64_zero", 0, at)
            if size == 1:
                self.emit(f"i16x8.extend_low_i8x16_{sign}")
            self.emit(f"i32x4.extend_low_i16x8_{sign}")
        if kind == "b":
            self.w.constant(own, 0)
            self.w.binary("!=", own)
        else:
            self.w.convert(own, kind)
        return True
