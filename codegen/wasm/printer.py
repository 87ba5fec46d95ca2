"""A kernel being printed: one function `run` of the address of its parameters.

Here: parameters, lines as loops, elements read and stored.  What it does at its points is steps.py's."""

from __future__ import annotations

from collections.abc import Callable

from dsl.ir.dtypes import TYPES, is_floating, is_narrow, is_rounded

from ..data.dtypes import compute_class
from ..data.model import Step
from ..data.nodes import BoundsCheck, Constant, Element, Index, Node, Random, Result, Uniform, elements_of
from ..planner.lines import Line
from .encoder import Function, emit, new_variable, release, variable
from .formulas import BLOCKS, SCALARS, Formulas
from .helpers import Functions
from .instructions import Instruction
from .plan import BYTES, Plan, kind_of, settled
from .terms import Term, Terms


def load_of(dtype: str) -> str:
    """The instruction that reads an element."""
    t = TYPES[dtype]
    if t.kind == "f":
        return f"f{8 * t.bytes}.load"
    return "i32.load" if t.bytes == 4 else f"i32.load{t.bits}_{'s' if t.kind == 'i' else 'u'}"


def store_of(dtype: str) -> str:
    t = TYPES[dtype]
    if t.kind == "f":
        return f"f{8 * t.bytes}.store"
    return "i32.store" if t.bytes == 4 else f"i32.store{t.bits}"


class Printer:
    """pointers: by access, the variable with the address of its element here.  counters: by loop, the variable that
    says where it stands.  line: the number of the line that is taken several points at once, -1 for none; ahead: how
    many points before what the pointers say."""

    def __init__(self, k: Plan):
        self.k = k
        self.functions = Functions()
        self.f: Function = self.functions.add("run", ["i32"], ["i32"])
        self.head: list[Instruction] = []
        self.w = Formulas(self.f, self.functions, is_narrow(k.call.dtype))
        self.w.leaf = lambda t: self.leaf(t)
        self.terms = Terms(lambda e: kind_of(k, e), lambda e: settled(k, e), lambda n: self.behind(n), k.call.dtype)
        self.parameters: dict[str, int] = {}
        self.lines: list[Line] = k.outer + k.reduce
        self.pointers: dict[int, int] = {}
        self.counters: dict[str, int] = {}
        self.places: list[int] = []
        self.line = -1
        self.ahead = 0
        self.kept = -1
        self.given = -1
        self.moving: dict[str, bool] = {}
        self.waiting: dict[int, bool] = {}

    def emit(self, name: str, *values: float) -> None:
        emit(self.f, name, *values)

    def get(self, n: int) -> None:
        self.emit("local.get", n)

    def set(self, n: int) -> None:
        self.emit("local.set", n)

    def integer(self, n: int) -> None:
        self.emit("i32.const", n)

    # --- Parameters ---

    def parameter(self, name: str) -> int:
        """The variable of a parameter."""
        if name not in self.parameters:
            kind = "f" if self.is_float(name) else "i"
            n = new_variable(self.f, SCALARS[kind])
            at = 16 + 8 * self.k.names.index(name)
            self.head.append(Instruction("local.get", [0]))
            self.head.append(Instruction(f"{SCALARS[kind]}.load", [2, at]))
            if kind == "f" and self.k.call.dtype != "float64" and self.is_of_type(name):
                if is_rounded(self.k.call.dtype):
                    self.head.append(Instruction("call", [self.functions.number(f"to_{self.k.call.dtype}", 1)]))
                self.head.append(Instruction("f32.demote_f64", []))
                self.head.append(Instruction("f64.promote_f32", []))
            self.head.append(Instruction("local.set", [n]))
            self.parameters[name] = n
        return self.parameters[name]

    def is_float(self, name: str) -> bool:
        return name.startswith("p.") and kind_of(self.k, Uniform(name[2:])) == "f"

    def is_of_type(self, name: str) -> bool:
        return any(w.name == name[2:] and w.kind == "T" for w in self.k.kernel.uniforms)

    def finish(self) -> None:
        """What the function answers, and its parameters before all."""
        if self.w.faults:
            self.get(0)
            self.emit("i32.load", 2, 0)
        else:
            self.integer(0)
        self.f.code = self.head + self.f.code
        self.functions.resolve()

    # --- Lines ---

    def start(self) -> None:
        """Pointers at the first elements."""
        for n in self.k.used:
            at = self.parameter(f"at{self.k.kernel.accesses[n].slot}")
            if len(self.k.even.axes[n]) > 0:
                self.pointers[n] = new_variable(self.f, "i32")
                self.get(at)
                self.get(self.parameter(f"from{n}"))
                self.emit("i32.add")
                self.set(self.pointers[n])
            else:
                self.pointers[n] = at

    def class_of(self, d: int, n: int) -> str:
        stride = self.lines[d].strides[n]
        return "0" if stride == 0 else "1" if stride == 1 else "*"

    def backwards(self, d: int) -> bool:
        return d >= len(self.k.outer) and self.k.kernel.reverse

    def each(self, d: int, body: Callable[[], None]) -> None:
        """A loop over line d, one point after another."""
        state = self.open(d)
        self.run(d, state, 1, 1, lambda: body())
        self.close(d, state)

    def open(self, d: int) -> LoopState:
        """Pointers of its own for the loop over a line, and what counts."""
        before = {**self.pointers}
        counters = {**self.counters}
        places = self.places[:]
        made: list[int] = []
        sharing = self.k.sharing
        shared = sharing is not None and sharing.line == d
        for n in self.k.used:
            if self.class_of(d, n) != "0":
                self.pointers[n] = self.copied(self.pointers[n])
                made.append(self.pointers[n])
                if self.backwards(d):
                    self.get(self.parameter(f"size{d}"))
                    self.integer(1)
                    self.emit("i32.sub")
                    self.move(d, n)
                elif shared:
                    self.get(self.parameter("begin"))
                    self.move(d, n)
        count = self.copied(self.parameter("end" if shared else f"size{d}"))
        if shared:
            self.get(count)
            self.get(self.parameter("begin"))
            self.emit("i32.sub")
            self.set(count)
        made.append(count)
        name = self.lines[d].name
        if name != "":
            self.counters[name] = self.copied(self.parameter("begin")) if shared else self.zero()
            made.append(self.counters[name])
            if self.backwards(d):
                self.get(self.parameter(f"size{d}"))
                self.integer(1)
                self.emit("i32.sub")
                self.set(self.counters[name])
        if f"place{d}" in self.k.names:
            place = self.zero()
            if shared:
                self.get(self.parameter("begin"))
                self.get(self.parameter(f"place{d}"))
                self.emit("i32.mul")
                self.set(place)
            made.append(place)
            self.places = [*self.places, place]
        return LoopState(count, before, counters, places, made)

    def move(self, d: int, n: int) -> None:
        """Takes a pointer as many points along a line as the stack says."""
        self.step(d, n, 1)
        self.emit("i32.mul")
        self.get(self.pointers[n])
        self.emit("i32.add")
        self.set(self.pointers[n])

    def copied(self, n: int) -> int:
        made = variable(self.f, "i32")
        self.get(n)
        self.set(made)
        return made

    def zero(self) -> int:
        made = variable(self.f, "i32")
        self.integer(0)
        self.set(made)
        return made

    def close(self, d: int, state: LoopState) -> None:
        self.pointers = state.pointers
        self.counters = state.counters
        self.places = state.places
        for n in state.made:
            release(self.f, n)

    def run(self, d: int, state: LoopState, lanes: int, times: int, body: Callable[[], None]) -> None:
        """Goes on along line d while there are as many points as a turn takes: `times` times `lanes`."""
        turn = lanes * times
        self.emit("block")
        self.get(state.count)
        if turn == 1:
            self.emit("i32.eqz")
        else:
            self.integer(turn)
            self.emit("i32.lt_s")
        self.emit("br_if", 0)
        self.emit("loop")
        line = self.line
        self.line = d if lanes > 1 else line
        known = self.w.known
        for n in range(times):
            self.w.known = {**known}
            self.ahead = n * lanes
            body()
        self.w.known = known
        self.ahead = 0
        self.line = line
        self.advance(d, turn)
        self.get(state.count)
        self.integer(turn)
        self.emit("i32.sub")
        self.emit("local.tee", state.count)
        if turn > 1:
            self.integer(turn)
            self.emit("i32.ge_s")
        self.emit("br_if", 0)
        self.emit("end")
        self.emit("end")

    def advance(self, d: int, turn: int) -> None:
        """Pointers and counters so many points further."""
        way = -1 if self.backwards(d) else 1
        for n in self.k.used:
            how = self.class_of(d, n)
            if how == "1":
                self.add(self.pointers[n], way * turn * BYTES[self.k.types[n]])
            elif how == "*":
                self.get(self.pointers[n])
                self.step(d, n, turn)
                self.emit("i32.add" if way == 1 else "i32.sub")
                self.set(self.pointers[n])
        if self.kept >= 0 and d == len(self.lines) - 1:
            self.add(self.kept, 8 * turn)
        name = self.lines[d].name
        if name != "":
            self.add(self.counters[name], way * turn)
        if f"place{d}" in self.k.names:
            place = self.places[len(self.places) - 1]
            self.get(place)
            self.get(self.parameter(f"place{d}"))
            if turn > 1:
                self.integer(turn)
                self.emit("i32.mul")
            self.emit("i32.add")
            self.set(place)

    def step(self, d: int, n: int, times: int) -> None:
        """The bytes from an element to the one so many points on along a line."""
        if self.class_of(d, n) == "1":
            self.integer(times * BYTES[self.k.types[n]])
            return
        self.get(self.parameter(f"step{d}_{n}"))
        if times != 1:
            self.integer(times)
            self.emit("i32.mul")

    def add(self, n: int, by: int) -> None:
        self.get(n)
        self.integer(by)
        self.emit("i32.add")
        self.set(n)

    # --- What changes along a line ---

    def moves(self, t: Term, d: int) -> bool:
        """Whether a term changes along line d."""
        key = f"{t.number} {d}"
        if key not in self.moving:
            self.moving[key] = self.changes(t, d) or any(self.moves(p, d) for p in t.parts)
        return self.moving[key]

    def changes(self, t: Term, d: int) -> bool:
        match t.e:
            case Element(access=n):
                return self.class_of(d, n) != "0"
            case Index(loop=loop):
                return self.lines[d].name == loop
            case Random():
                return d < len(self.k.outer)
            case _:
                return False

    def waits(self, t: Term, d: int) -> bool:
        """Whether a term changes along line d or one inside it, or needs a result that is not known yet."""
        if isinstance(t.e, Result):
            return t.number not in self.w.known
        if t.number not in self.waiting:
            here = any(self.changes(t, e) for e in range(d, len(self.lines)))
            self.waiting[t.number] = here or any(self.waits(p, d) for p in t.parts)
        return self.waiting[t.number]

    def hoist(self, roots: list[Term], d: int) -> None:
        """Computes before the loop over line d what does not change along it."""
        self.waiting = {}
        self.hoist_all(roots, d)

    def hoist_all(self, roots: list[Term], d: int) -> None:
        for t in roots:
            if t.number in self.w.known or t.number == self.given or isinstance(t.e, Result):
                continue
            if isinstance(t.e, Constant):
                if self.w.lanes > 1:
                    self.w.keep(t)  # engines make a vector of it at each use
                continue
            if self.waits(t, d):
                self.hoist_all(t.parts, d)
            elif not t.called and (self.w.lanes > 1 or not isinstance(t.e, (Uniform, Index))):
                self.w.keep(t)

    def widen(self, roots: list[Term], lanes: int) -> None:
        """From here on formulas are computed at so many points; what is known and needed is so at all of them."""
        known = self.w.known
        self.w.known = {}
        self.w.lanes = lanes
        if lanes == 1:
            self.w.known = {**known}
            return
        todo = roots[:]
        while len(todo) > 0:
            t = todo.pop()
            if t.number in self.w.known:
                continue
            if t.number in known:
                self.get(known[t.number])
                if t.kind == "b":
                    self.negative()
                self.w.spread("i" if t.kind == "b" else t.kind)
                n = variable(self.f, "v128")
                self.set(n)
                self.w.known[t.number] = n
            else:
                todo.extend(t.parts)

    # --- Leaves ---

    def behind(self, n: int) -> list[Node]:
        """The formulas on which an access depends: whether it is there, what stands for it, its indices."""
        a = self.k.code.accesses[n]
        out: list[Node] = []
        for e in [a.guard, a.fallback, *a.index]:
            if e is not None:
                out.append(e)
        return out

    def leaf(self, t: Term) -> None:
        match t.e:
            case Element(access=n):
                self.element(n)
            case Index(loop=loop):
                self.get(self.counters[loop])
                self.w.spread("i")
                if self.w.lanes > 1 and self.line >= 0 and self.lines[self.line].name == loop:
                    self.emit("v128.const", 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0)
                    self.emit("i32x4.add")
                    if self.ahead > 0:
                        self.integer(self.ahead)
                        self.emit("i32x4.splat")
                        self.emit("i32x4.add")
            case Uniform(name=name):
                self.get(self.parameter(f"p.{name}"))
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
            self.get(self.parameter(name))
        self.integer(draw)
        self.integer(0)
        for n in self.places:
            self.get(n)
            self.emit("i32.add")
        if lane + self.ahead > 0:
            self.get(self.parameter(f"place{self.line}"))
            self.integer(lane + self.ahead)
            self.emit("i32.mul")
            self.emit("i32.add")
        self.emit("call", self.functions.number("uniform_random", 5))

    def element(self, n: int) -> None:
        """The element of an access as a number of its kind, or what stands for it."""
        a = self.k.code.accesses[n]
        kind = kind_of(self.k, Element(n))
        if a.guard is None:
            self.load(n, kind, True)
            return
        guard = self.terms.of(a.guard, {})
        other = a.fallback if a.fallback is not None else Constant(kind, 0)
        fallback = self.terms.of(other, {})
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
            self.address(n, 0, safe)
            self.load_one(n, kind, 0)
            return
        stored = self.k.types[n]
        how = self.class_of(self.line, n)
        indexed = any(self.moves(t, self.line) for t in self.index_terms(n))
        if how == "0" and not indexed:
            self.address(n, 0, safe)
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
            self.address(n, lane, True)
            if lane == 0:
                self.emit("v128.load32_zero", 0, 0)
            else:
                self.get(out)
                self.emit("v128.load32_lane", 0, 0, lane)
            if lane < 3:
                self.set(out)
        release(self.f, out)

    def negative(self) -> None:
        """0 and 1 as none and all bits."""
        n = variable(self.f, "i32")
        self.set(n)
        self.integer(0)
        self.get(n)
        self.emit("i32.sub")
        release(self.f, n)

    def load_lane(self, n: int, kind: str, lane: int) -> None:
        self.address(n, lane, True)
        self.load_one(n, kind, 0)

    def load_one(self, n: int, kind: str, at: int) -> None:
        """An element at the address on the stack, as a number."""
        stored = self.k.types[n]
        self.emit(load_of(stored), 0, at)
        whole = not is_floating(stored)
        if not whole and BYTES[stored] == 4:
            self.emit("f64.promote_f32")
        if kind == "f" and whole:
            self.emit("f64.convert_i32_u" if stored == "uint32" else "f64.convert_i32_s")
        elif kind == "i" and self.is_unsigned_beside(n):
            self.get(0)
            self.w.faults = True
            self.emit("call", self.functions.number("signed_checked", 2))
        elif kind == "i" and not whole:
            self.emit("i32.trunc_sat_f64_s")
        elif kind == "b":
            self.emit("i32.const" if whole else "f64.const", 0)
            self.emit("i32.ne" if whole else "f64.ne")

    def is_unsigned_beside(self, n: int) -> bool:
        """Whether numbers of T are read out of uint32, and T is not that: what 32 bits with a sign do not hold is an
        error."""
        is_read = self.k.kernel.accesses[n].kind == "T" and self.k.call.dtype != "uint32"
        return is_read and self.k.types[n] == "uint32"

    def load_many(self, n: int, stored: str, kind: str) -> bool:
        """Neighbours at once, where there is a way."""
        at = self.ahead * BYTES[stored]
        four = self.w.lanes == 4
        size = BYTES[stored]
        own = compute_class(stored)
        if (
            size == 8
            and four
            or size < 4
            and not four
            or stored == "uint32"
            and (kind == "f" or self.is_unsigned_beside(n))
        ):
            return False
        self.address(n, -1, True)
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

    # --- Addresses ---

    def index_terms(self, n: int) -> list[Term]:
        """The computed indices of an access."""
        return [self.terms.of(e, {}) for e in self.k.code.accesses[n].index if e is not None]

    def address(self, n: int, lane: int, safe: bool) -> None:
        """The address of an access's element, on the stack; lane -1: of the first point of this turn of the loop."""
        self.get(self.pointers[n])
        if self.w.lanes > 1 and self.line >= 0:
            how = self.class_of(self.line, n)
            if how != "0" and lane >= 0 and lane + self.ahead > 0:
                self.step(self.line, n, lane + self.ahead)
                self.emit("i32.add")
        a = self.k.code.accesses[n]
        for i in range(len(a.index)):
            e = a.index[i]
            if e is None or self.is_zero(e):
                continue
            checked = isinstance(e, BoundsCheck) and not e.stores
            if checked:
                self.w.faults = True
                self.get(0)
            self.index(e, lane)
            if checked and a.guard is not None and self.w.lanes > 1:
                self.allowed(n, a.guard, lane)
            if checked or safe or len(elements_of(e)) > 0:
                self.get(self.parameter(f"length{n}_{i}"))
                self.emit("call", self.functions.number("check_bounds" if checked else "clamped", 2))
            self.get(self.parameter(f"by{n}_{i}"))
            self.emit("i32.mul")
            self.emit("i32.add")

    def allowed(self, n: int, guard: Node, lane: int) -> None:
        """Makes an index 0 where the element is not read: at one point, or at all of this turn where they share it."""
        t = self.terms.of(guard, {})
        self.w.keep(t)
        self.get(self.w.known[t.number])
        if any(self.moves(t, self.line) for t in self.index_terms(n)):
            self.w.extract("b", max(lane, 0))
        else:
            self.emit("v128.any_true")
            self.negative()
        self.emit("i32.and")

    def is_zero(self, e: Node) -> bool:
        return isinstance(e, Constant) and e.value == 0

    def index(self, e: Node, lane: int) -> None:
        """A computed index at one of the points."""
        t = self.terms.of(e, {})
        if self.w.lanes == 1:
            self.w.push(t)
            return
        self.w.keep(t)
        self.get(self.w.known[t.number])
        self.w.extract("i", max(lane, 0))

    def on_axes(self, n: int, lane: int) -> bool:
        """Whether the places that elements name for a store are on their axes, on the stack; False: there are none."""
        a = self.k.code.accesses[n]
        found = False
        for i in range(len(a.index)):
            e = a.index[i]
            if e is None or len(elements_of(e)) == 0:
                continue
            checked = isinstance(e, BoundsCheck) and e.stores
            if checked:
                self.w.faults = True
                self.get(0)
            self.index(e, lane)
            self.get(self.parameter(f"length{n}_{i}"))
            if checked:
                self.emit("call", self.functions.number("in_bounds", 3))
            else:
                self.emit("i32.lt_u")
            if found:
                self.emit("i32.and")
            found = True
        return found

    # --- Stores ---

    def store(self, step: Step, value: int, kind: str) -> None:
        """Stores what a variable holds."""
        n = step.target
        if self.k.types[n] == "":
            return
        if self.w.lanes == 1:
            self.store_one(step, value, kind, 0)
        elif self.class_of(self.line, n) != "1" or not self.store_many(step, value, kind):
            for lane in range(self.w.lanes):
                one = variable(self.f, SCALARS[kind])
                self.get(value)
                self.w.extract(kind, lane)
                if kind == "b":
                    self.integer(1)
                    self.emit("i32.and")
                self.set(one)
                self.store_one(step, one, kind, lane)
                release(self.f, one)

    def store_one(self, step: Step, value: int, kind: str, lane: int) -> None:
        n = step.target
        guarded = self.on_axes(n, lane)
        if guarded:
            self.emit("if")
        at = variable(self.f, "i32")
        lanes = self.w.lanes
        self.address(n, lane, False)
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
            self.load_one(n, "i", 0)
            self.get(value)
            if kind != "b":
                self.emit(f"{SCALARS[kind]}.const", 0)
                self.emit(f"{SCALARS[kind]}.ne")
            self.emit("i32.and" if step.mode == "*=" or step.mode == "min=" else "i32.or")
            return
        checked = kind == "i" and step.value == "T" and self.k.kernel.shape == "scatter"
        if checked and (step.mode == "+=" or step.mode == "*=") and not self.w.narrow:
            self.w.lead("narrow_checked")
            self.get(at)
            self.load_one(n, kind, 0)
            self.emit("i64.extend_i32_s")
            self.get(value)
            self.emit("i64.extend_i32_s")
            self.emit("i64.add" if step.mode == "+=" else "i64.mul")
            self.emit("call", self.functions.number("narrow_checked", 2))
            return
        self.get(at)
        self.load_one(n, kind, 0)
        self.get(value)
        if step.mode == "+=" or step.mode == "*=":
            self.emit(f"{SCALARS[kind]}.{'add' if step.mode == '+=' else 'mul'}")
        elif kind == "f":
            self.emit("f64.max" if step.mode == "max=" else "f64.min")
        else:
            self.get(at)
            self.load_one(n, kind, 0)
            self.get(value)
            self.emit("i32.gt_s" if step.mode == "max=" else "i32.lt_s")
            self.emit("select")

    def as_stored(self, stored: str, kind: str) -> None:
        """A number on the stack as what an element of a type holds."""
        if stored == "bool":
            if kind != "b":
                self.emit(f"{SCALARS[kind]}.const", 0)
                self.emit(f"{SCALARS[kind]}.ne")
        elif is_floating(stored):
            if kind != "f":
                self.emit("f64.convert_i32_u" if self.k.call.dtype == "uint32" else "f64.convert_i32_s")
            if is_rounded(stored):
                self.emit("call", self.functions.number(f"to_{stored}", 1))
            if stored != "float64":
                self.emit("f32.demote_f64")
        elif kind == "f":
            self.emit("call", self.functions.number("cut_unsigned" if stored == "uint32" else "cut", 1))

    def store_many(self, step: Step, value: int, kind: str) -> bool:
        """Stores neighbours at once, where there is a way."""
        n = step.target
        stored = self.k.types[n]
        four = self.w.lanes == 4
        indexed = any(self.moves(t, self.line) for t in self.index_terms(n))
        own = "b" if stored == "bool" else compute_class(stored)
        adds = step.mode == "+=" and kind == "f"
        if indexed or step.mode != "=" and not adds or is_rounded(stored) or own != kind or len(self.behind(n)) > 0:
            return False
        size = BYTES[stored]
        if size == 8 and four or size < 4 and not four or adds and stored == "bool":
            return False
        at = self.ahead * BYTES[stored]
        self.get(self.pointers[n])
        self.get(value)
        if adds:
            self.load_many(n, stored, kind)
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


class LoopState:
    """What stood before a loop: pointers, counters, the parts of the place.  made: its own variables."""

    def __init__(
        self, count: int, pointers: dict[int, int], counters: dict[str, int], places: list[int], made: list[int]
    ):
        self.count = count
        self.pointers = pointers
        self.counters = counters
        self.places = places
        self.made = made
