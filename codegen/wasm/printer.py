"""A kernel being printed: one function `run` of the address of its parameters.

Here: parameters, and lines as loops.  What elements are read and stored: elements.py, stores.py.  What a kernel does at
its points: steps.py."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dsl.ir.dtypes import is_narrow

from ..data.nodes import Constant, Element, Index, Node, Random, Uniform
from ..planner.lines import Line
from .encoder import new_variable, release
from .instructions import Instruction
from .planning.kernel_plan import BYTES, Plan, kind_of, settled
from .scalars.formulas import Formulas
from .scalars.helpers import Functions
from .scalars.terms import Term, Terms
from .scalars.values import SCALARS
from .writing import FunctionWriter


@dataclass
class LoopState:
    """What stood before a loop: pointers, counters, the parts of the place.  made: its own variables."""

    count: int
    pointers: dict[int, int]
    counters: dict[str, int]
    places: list[int]
    made: list[int]


class Printer(FunctionWriter):
    """pointers: by access, the variable with the address of its element here.  counters: by loop, the variable that
    says where it stands.  fixed: where loops stand that are printed point by point.  line: the number of the line that
    is taken several points at once, -1 for none; ahead: how many points before what the pointers say.  kept: the
    variable with the address of what is kept of a row here, -1 for none; column: of what is kept of a column; row: the
    line along which both lie."""

    def __init__(self, k: Plan):
        functions = Functions()
        super().__init__(functions.add("run", ["i32"], ["i32"]))
        self.k = k
        self.functions = functions
        self.head: list[Instruction] = []
        self.w = Formulas(self.f, self.functions, is_narrow(k.call.dtype))
        self.terms = Terms(lambda e: kind_of(k, e), lambda e: self.settled(e), lambda n: self.behind(n), k.call.dtype)
        self.w.floats = k.floats
        self.terms.floats = k.floats
        self.parameters: dict[str, int] = {}
        self.uniforms: dict[str, int] = {}
        self.lines: list[Line] = k.outer + k.reduce
        self.pointers: dict[int, int] = {}
        self.counters: dict[str, int] = {}
        self.places: list[int] = []
        self.line = -1
        self.ahead = 0
        self.fixed: dict[str, int] = {}
        self.kept = -1
        self.column = -1
        self.row = len(self.lines) - 1
        self.moving: dict[str, bool] = {}

    # --- Parameters ---

    def parameter(self, name: str) -> int:
        """The variable of a whole number that the plan tells the kernel."""
        if name not in self.parameters:
            self.parameters[name] = new_variable(self.f, "i32")
            self.take(self.k.numbers[name], "i32.load")
            self.head.append(Instruction("local.set", [self.parameters[name]]))
        return self.parameters[name]

    def uniform(self, name: str) -> int:
        """The variable of a uniform, as a number of its kind."""
        if name not in self.uniforms:
            kind = kind_of(self.k, Uniform(name))
            if kind != "f" and kind != "l":
                kind = "i"
            n = new_variable(self.f, SCALARS[kind])
            self.take(self.k.uniforms[name], "i32.load" if kind == "i" else "f64.load")
            if kind == "l":
                self.head.append(Instruction("call", [self.functions.number("cut_long", 1)]))
            if kind == "f" and self.k.call.dtype != "float64" and self.is_of_type(name):
                self.head.append(Instruction("f32.demote_f64", []))
                self.head.append(Instruction("f64.promote_f32", []))
            self.head.append(Instruction("local.set", [n]))
            self.uniforms[name] = n
        return self.uniforms[name]

    def take(self, number: int, load: str) -> None:
        """A parameter of the block, before all."""
        self.head.append(Instruction("local.get", [0]))
        self.head.append(Instruction(load, [2, 16 + 8 * number]))

    def is_of_type(self, name: str) -> bool:
        """Whether a uniform is a number of T."""
        return any(w.name == name and w.kind == "T" for w in self.k.kernel.uniforms)

    def settled(self, e: Node) -> Node:
        match e:
            case Index(loop=loop) if loop in self.fixed:
                return Constant("i", self.fixed[loop])
            case _:
                return settled(self.k, e)

    def finish(self) -> None:
        """What the function answers, and its parameters before all."""
        if self.w.faults:
            self.get(0)
            self.emit("i32.load", 2, 0)
        else:
            self.integer(0)
        self.f.code = self.head + self.w.first + self.f.code
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
        if f"place{d}" in self.k.numbers:
            place = self.zero()
            if shared:
                self.get(self.parameter("begin"))
                self.get(self.parameter(f"place{d}"))
                self.emit("i32.mul")
                self.set(place)
            made.append(place)
            self.places = [*self.places, place]
        return LoopState(count, before, counters, places, made)

    def stay(self, d: int, count: int) -> LoopState:
        """The same from where the kernel stands on an opened line, for so many points as a variable says."""
        before = {**self.pointers}
        counters = {**self.counters}
        made = [self.copied(count)]
        for n in self.k.used:
            if self.class_of(d, n) != "0":
                self.pointers[n] = self.copied(self.pointers[n])
                made.append(self.pointers[n])
        name = self.lines[d].name
        if name != "":
            self.counters[name] = self.copied(self.counters[name])
            made.append(self.counters[name])
        return LoopState(made[0], before, counters, self.places, made)

    def shift(self, pointer: int, d: int, n: int, times: int) -> None:
        """Takes a pointer into access n as many points along a line as a variable says."""
        self.get(pointer)
        self.get(times)
        self.step(d, n, 1)
        self.emit("i32.mul")
        self.emit("i32.add")
        self.set(pointer)

    def move(self, d: int, n: int) -> None:
        """Takes a pointer as many points along a line as the stack says."""
        self.step(d, n, 1)
        self.emit("i32.mul")
        self.get(self.pointers[n])
        self.emit("i32.add")
        self.set(self.pointers[n])

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
        self.count_down(state.count, turn)
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
        if self.kept >= 0 and d == self.row:
            self.add(self.kept, self.k.kept_bytes() * turn)
        if self.column >= 0 and d == self.row:
            self.add(self.column, 8 * turn)
        name = self.lines[d].name
        if name != "":
            self.add(self.counters[name], way * turn)
        if f"place{d}" in self.k.numbers:
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

    def behind(self, n: int) -> list[Node]:
        """The formulas on which an access depends: whether it is there, what stands for it, its indices."""
        a = self.k.code.accesses[n]
        out: list[Node] = []
        for e in [a.guard, a.fallback, *a.index]:
            if e is not None:
                out.append(e)
        return out


class KernelPart(FunctionWriter):
    """What writes into the function of a kernel beside its printer.  w: its formulas; k: what it is printed from."""

    def __init__(self, p: Printer):
        super().__init__(p.f)
        self.p = p
        self.w = p.w
        self.k = p.k
