"""Values stored as elements: put there, or joined with what is there."""

from __future__ import annotations

from dsl.ir.dtypes import TYPES, is_floating, is_rounded

from ..data.dtypes import compute_class
from ..data.model import Step
from .elements import Elements
from .encoder import release, variable
from .planning.kernel_plan import BYTES
from .printer import KernelPart, Printer
from .scalars.values import SCALARS


def store_of(dtype: str) -> str:
    t = TYPES[dtype]
    if t.kind == "f":
        return f"f{8 * t.bytes}.store"
    if t.bytes == 8:
        return "i64.store"
    return "i32.store" if t.bytes == 4 else f"i32.store{t.bits}"


class Stores(KernelPart):
    """Stores into elements what variables hold."""

    def __init__(self, p: Printer, elements: Elements):
        super().__init__(p)
        self.elements = elements
        self.addresses = elements.addresses

    def store(self, step: Step, value: int, kind: str) -> None:
        """Stores what a variable holds."""
        n = step.target
        if self.k.types[n] == "":
            return
        if self.w.lanes == 1:
            self.store_one(step, value, kind, 0)
        elif self.p.class_of(self.p.line, n) != "1" or not self.store_many(step, value, kind):
            for lane in range(self.w.lanes):
                one = variable(self.f, SCALARS[kind])
                self.get(value)
                self.w.extract_one(kind, lane)
                self.set(one)
                self.store_one(step, one, kind, lane)
                release(self.f, one)

    def store_one(self, step: Step, value: int, kind: str, lane: int) -> None:
        n = step.target
        guarded = self.addresses.on_axes(n, lane)
        if guarded:
            self.emit("if")
        at = variable(self.f, "i32")
        lanes = self.w.lanes
        self.addresses.address(n, lane, False)
        self.set(at)
        self.w.lanes = 1
        self.get(at)
        stored = self.k.types[n]
        if step.mode == "=":
            self.get(value)
        else:
            self.joined(step, at, value, kind)
            kind = "i" if stored == "bool" else kind
        self.as_stored(stored, kind)
        self.emit(store_of(stored), 0, 0)
        self.w.lanes = lanes
        release(self.f, at)
        if guarded:
            self.emit("end")

    def joined(self, step: Step, at: int, value: int, kind: str) -> None:
        """What an element and a value come to."""
        n = step.target
        if self.k.types[n] == "bool":
            self.get(at)
            self.elements.load_one(n, "i", 0)
            self.get(value)
            if kind != "b":
                self.w.truth(kind)
            self.emit("i32.and" if step.mode == "*=" or step.mode == "min=" else "i32.or")
            return
        shape = SCALARS[kind]
        checked = kind == "i" and step.value == "T" and self.k.kernel.shape == "scatter"
        if checked and (step.mode == "+=" or step.mode == "*=") and not self.w.narrow:
            self.w.lead("narrow_checked")
            self.get(at)
            self.elements.load_one(n, kind, 0)
            self.emit("i64.extend_i32_s")
            self.get(value)
            self.emit("i64.extend_i32_s")
            self.emit("i64.add" if step.mode == "+=" else "i64.mul")
            self.w.invoke("narrow_checked", 2)
            return
        self.get(at)
        self.elements.load_one(n, kind, 0)
        self.get(value)
        if step.mode == "+=" or step.mode == "*=":
            self.emit(f"{shape}.{'add' if step.mode == '+=' else 'mul'}")
        elif kind == "f":
            self.emit("f64.max" if step.mode == "max=" else "f64.min")
        else:
            self.get(at)
            self.elements.load_one(n, kind, 0)
            self.get(value)
            self.emit(f"{shape}.{'gt_s' if step.mode == 'max=' else 'lt_s'}")
            self.emit("select")

    def as_stored(self, stored: str, kind: str) -> None:
        """A number on the stack as what an element of a type holds."""
        if stored == "bool":
            if kind != "b":
                self.w.truth(kind)
        elif is_floating(stored):
            if kind == "l":
                self.emit("f64.convert_i64_s")
            elif kind != "f":
                self.emit("f64.convert_i32_u" if self.k.call.dtype == "uint32" else "f64.convert_i32_s")
            if is_rounded(stored):
                self.w.invoke(f"to_{stored}", 1)
            if stored != "float64":
                self.emit("f32.demote_f64")
        elif stored == "int64":
            self.w.convert(kind, "l")
        elif kind == "l":
            self.emit("i32.wrap_i64")
        elif kind == "f":
            self.w.invoke("cut_unsigned" if stored == "uint32" else "cut", 1)

    def store_many(self, step: Step, value: int, kind: str) -> bool:
        """Stores neighbours at once, where there is a way."""
        n = step.target
        stored = self.k.types[n]
        four = self.w.lanes == 4
        indexed = any(self.p.moves(t, self.p.line) for t in self.addresses.index_terms(n))
        own = "b" if stored == "bool" else compute_class(stored)
        adds = step.mode == "+=" and kind == "f"
        if (
            stored == "int64"
            or indexed
            or step.mode != "="
            and not adds
            or is_rounded(stored)
            or own != kind
            or len(self.p.behind(n)) > 0
        ):
            return False
        size = BYTES[stored]
        if size == 8 and four or size < 4 and not four or adds and stored == "bool":
            return False
        at = self.p.ahead * BYTES[stored]
        self.get(self.p.pointers[n])
        self.get(value)
        if adds:
            self.elements.load_many(n, stored, kind)
            self.w.binary("+", "f")
        if size >= 4 and (four or size == 8):
            self.emit("v128.store", 0, at)
        elif size == 4:
            if own == "f":
                self.emit("f32x4.demote_f64x2_zero")
            self.emit("v128.store64_lane", 0, at, 0)
        else:
            if stored == "bool":
                self.w.constant("i", 1)
                self.emit("v128.and")
            n = variable(self.f, "v128")
            self.emit("local.tee", n)
            self.get(n)
            if size == 1:
                self.emit("i8x16.shuffle", 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12)
            else:
                self.emit("i8x16.shuffle", 0, 1, 4, 5, 8, 9, 12, 13, 0, 1, 4, 5, 8, 9, 12, 13)
            self.emit(f"v128.store{32 * size}_lane", 0, at, 0)
            release(self.f, n)
        return True
