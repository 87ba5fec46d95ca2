"""Map, row, scan and scatter kernels as functions of plain loops.

A kernel goes row by row; in a row along the innermost anonymous loop; inside it through its named
loops where they stand further in.  Each step runs at every point; a reduction or an `inner` store
opens the loops of the reduction around itself.  A scan makes its stores inside the reduction, so one
pass suffices.  Contractions run in blocks from their data (runtime/devices/cpu/contraction.ts), and so where they are
narrow or whole."""

from __future__ import annotations

from dsl.ir.expression import ZERO, E, Element, Index, Local, Random, Result, Symbol, is_loop, is_unary, walk
from dsl.ir.program import Loop
from dsl.opdef import OpDef

from ..kernels.kernel import Kernel, Step, named_loops
from .access import Place, dependence, parts_of, reads_of
from .expr import UNARY, Hole, Printer
from .names import Names, camel
from .text import Text, describe, listed, open_kernel
from .words import tensor_kind, word_hole, word_value, words_of

BOOL = Local("bool")  # whether whole numbers of T are 0 and 1
START = {
    "sum": "0",
    "prod": "1",
    "max": "-Infinity",
    "min": "Infinity",
    "any": "false",
    "all": "true",
    "argmax": "0",
    "argmin": "0",
}
STEMS = {
    "sum": "sum",
    "prod": "product",
    "max": "largest",
    "min": "smallest",
    "any": "any",
    "all": "all",
    "argmax": "where",
    "argmin": "where",
}


class LoopKernel:
    """The TypeScript of one kernel for one class of T, as a function `name`.

    A kernel whose target may lack axes (`kernel.spread`) gets them among the loops of its reduction; spread: a map
    kernel does so in a function of its own; summed: the name of that function, which
    this one hands over to where there is something to add.  `str(kernel.write())` is the
    text, `helpers` the functions of runtime/elements/math.ts that it calls."""

    FIXED = frozenset(
        {
            "count",
            "reduceRows",
            "reduceCount",
            "seed0",
            "seed1",
            "call",
            "place",
            "placeStep",
            "math",
            "whole",
            "within",
            "uniform",
        }
    )

    def __init__(
        self, kernel: Kernel, op: OpDef, name: str, integral: bool, tensors=None, spread: bool = False, summed: str = ""
    ):
        self.kernel, self.op, self.name, self.integral, self.spread = kernel, op, name, integral, spread
        self.summed = summed
        self.adds = spread or kernel.spread and kernel.shape in ("row", "contract")
        self.named = named_loops(kernel)
        words = words_of(kernel, self.named)
        self.names = Names(self.FIXED)
        self.printer = Printer(integral, integral)
        for l in kernel.loops + kernel.rloops:
            if l.name in self.named and Index(l.name) not in self.printer.holes:
                self.printer.holes[Index(l.name)] = Hole(self.names.fresh(l.name), "i")
        self.n, self.row, self.i, self.j, self.k = map(self.names.fresh, ("n", "row", "i", "j", "k"))
        self.words = {w: self.names.fresh(camel(w)) for w in words}
        for w, n in self.words.items():
            self.printer.holes[Symbol(w)] = word_hole(op, w, n, integral)
        if integral and any(is_unary(n, "~") for s in kernel.steps for n in walk(s.body)):
            self.printer.holes[BOOL] = Hole("bool", "b")
        self.arrays: dict[str, str] = {}
        depends = dependence(kernel)
        self.places = [self.place(i, depends[i], tensors) for i in range(len(kernel.accesses))]
        self.locals: dict[str, str] = {}
        self.arguments: dict[str, tuple[str, str]] = {}  # argmax, argmin: the best value so far, the point's number
        self.lows: dict[str, str] = {}  # sums of elements: their lowest 32 bits
        self.indices: dict[E, str] = {}  # computed indices that have a name
        self.inside = False  # between open_reduction and close_reduction
        self.text = Text()

    def place(self, number: int, loops: frozenset[str], tensors) -> Place:
        access = self.kernel.accesses[number]
        if access.tensor not in self.arrays:
            self.arrays[access.tensor] = self.names.fresh(camel(access.tensor))
        computed = [i for i in access.index if not is_loop(i) or i.loop in self.named]
        ends = [f"{part}{n}" for n in range(len(computed)) for part in ("Stride", "Length")]
        stem = self.names.stem(camel(access.tensor), ["At", "Step", "In", "Rows", "Reduce", *ends])
        terms = [(i, f"{stem}Stride{n}", f"{stem}Length{n}") for n, i in enumerate(computed)]
        kind = tensor_kind(self.op, access.tensor, self.integral, tensors)
        return Place(number, access, self.arrays[access.tensor], stem, kind, f"{stem}At", tuple(terms), loops)

    # --- Which loops there are ---

    @property
    def outer_named(self) -> list[Loop]:
        return [l for l in self.kernel.loops if l.name in self.named]

    @property
    def along(self) -> bool:
        """Whether the innermost outer loop is anonymous, so that the kernel runs along it."""
        return not self.kernel.loops or self.kernel.loops[-1].name not in self.named

    def moves(self, p: Place) -> bool:
        """Whether an access moves along the anonymous outer loops."""
        return any(l.name in p.loops and l.name not in self.named for l in self.kernel.loops) and any(
            is_loop(i) and i.loop not in self.named and any(l.name == i.loop for l in self.kernel.loops)
            for i in p.access.index
        )

    def reduces(self, p: Place) -> bool:
        """Whether an access moves along the anonymous loops of the reduction."""
        own = {i.loop for i in p.access.index if is_loop(i) and i.loop not in self.named}
        return self.adds and self.moves(p) or any(l.name in own for l in self.kernel.rloops)

    def inner(self, s: Step) -> bool:
        """Whether a step stores at every point of the reduction."""
        return s.kind == "store" and (s.inner or self.kernel.shape == "scan")

    @property
    def reduce_anonymous(self) -> bool:
        return self.adds or any(l.name not in self.named for l in self.kernel.rloops)

    # --- The function ---

    def write(self) -> Text:
        t, used = self.text, self.used()
        open_kernel(t, self.name, describe(self.kernel))
        if self.summed:
            t.add(f"if (args.reduceRows * args.reduceN !== 1) return {self.summed}(args);")
        start = len(t.lines)
        t.open("do")
        for l in self.outer_named:
            t.open(for_loop(l, self.printer))
        moving = [p for p in used if self.moves(p)]
        along = self.along and (bool(moving) or self.random())
        # A step of 0 is nothing beside a sum, and makes kernels equal whose axes differ: products of matrices and of
        # vectors.
        if not self.named:
            moving = used
        still = [p for p in used if p not in moving] if along else used
        for line in listed("let", [f"{p.at} = args.at[{p.number}]" for p in used if p not in still]):
            t.add(line)
        for line in listed("const", [f"{p.at} = args.at[{p.number}]" for p in still]):
            t.add(line)
        if self.random():
            t.add(self.place_of_random(along))
        if along:
            t.open(f"for (let {self.n} = 0; {self.n} < count; {self.n}++)")
        self.steps()
        if along:
            t.add(
                " ".join(f"{p.at} += {p.stem}Step;" for p in moving) + (" place += placeStep;" if self.random() else "")
            )
            t.close()
        for _ in self.outer_named:
            t.close()
        t.close(" while (args.nextRow());")
        t.close()
        indent = "  "
        t.lines[start:start] = [indent + line for line in self.preamble(used, moving if along else [], along)]
        return t

    def used(self) -> list[Place]:
        """The accesses the kernel touches, in order."""
        seen: set[int] = set()

        def visit(*parts):
            for r in reads_of(*parts):
                if r not in seen:
                    seen.add(r)
                    visit(*parts_of(self.kernel.accesses[r]))

        for s in self.kernel.steps:
            visit(s.body, s.pred)
            if s.target >= 0:
                seen.add(s.target)
                visit(*self.kernel.accesses[s.target].index)
        return [p for p in self.places if p.number in seen]

    def preamble(self, used: list[Place], moving: list[Place], along: bool) -> list[str]:
        arrays = {p.array: p.number for p in reversed(used)}
        lines = listed("const", [f"{a} = args.arrays[{n}]" for a, n in reversed(arrays.items())])
        if along:
            lines += listed("const", ["count = args.n", *(f"{p.stem}Step = args.steps[{p.number}]" for p in moving)])
        if self.random():
            at = len(self.kernel.accesses)
            lines += ["const seed0 = args.words.seed0_, seed1 = args.words.seed1_, call = args.words.call_;"]
            if along:
                lines += [f"const placeStep = args.steps[{at}];"]
        lines += listed(
            "const",
            [
                f"{s} = args.strides[{p.number}][{k}]"
                for p in used
                for k, (i, s, _) in enumerate(p.terms)
                if i is not ZERO
            ],
        )
        lines += listed(
            "const",
            [
                f"{n} = args.lengths[{p.number}][{k}]"
                for p in used
                for k, (i, _, n) in enumerate(p.terms)
                if reads_of(i)
            ],
        )
        lines += listed("const", [f"{n} = {word_value(self.op, w, self.integral)}" for w, n in self.words.items()])
        if BOOL in self.printer.holes:
            lines.append("const bool = args.bool;")
        targets = {s.target for s in self.kernel.steps if not self.inner(s)}
        reducing = [p for p in used if self.reduces(p) and p.number not in targets]
        if self.reduce_anonymous and any(s.kind == "reduce" or s.inner or self.spread for s in self.kernel.steps):
            lines += listed("const", ["reduceRows = args.reduceRows", "reduceCount = args.reduceN"])
            lines += listed(
                "const",
                [
                    f"{p.stem}Rows = args.reduceAt[{p.number}], {p.stem}Reduce = args.reduceSteps[{p.number}]"
                    for p in reducing
                ],
            )
        return lines

    # --- Random numbers ---

    def random(self) -> bool:
        return any(isinstance(n, Random) for s in self.kernel.steps for n in walk(s.body))

    def place_of_random(self, along: bool) -> str:
        at = len(self.kernel.accesses)
        terms = [f"args.at[{at}]"] + [
            f"{self.printer.holes[Index(l.name)].text} * args.strides[{at}][{k}]"
            for k, l in enumerate(self.outer_named)
        ]
        return f"{'let' if along else 'const'} place = {' + '.join(terms)};"

    # --- Steps ---

    def steps(self):
        if self.spread:
            return self.spread_step()
        if self.kernel.shape == "scan":
            return self.scan()
        for group in groups(self.kernel.steps):
            if group[0].kind == "reduce":
                self.reduce(group)
            elif group[0].inner:
                with_reads = self.open_reads(group, outer=True)
                self.open_reduction(group)
                self.open_reads(group, skip=with_reads)
                self.store(group[0])
                self.close_reduction(group)
            else:
                self.open_reads(group)
                self.store(group[0])

    def reduce(self, group: list[Step]):
        for s in group:
            self.start(s)
        hoisted = self.open_reads(group, outer=True)
        self.open_reduction(group)
        self.open_reads(group, skip=hoisted)
        for s in group:
            self.accumulate(s)
        self.close_reduction(group)
        for s in group:
            if self.checked(s):
                self.text.add(f"{self.locals[s.name]} = {self.settled(s)};")

    def checked(self, s: Step) -> bool:
        """Whether a reduction is kept wide until its end."""
        return s.red in ("sum", "prod") and self.printer.holes[Result(s.result)].kind == "w"

    def settled(self, s: Step) -> str:
        """A sum or product that was kept wide, at its end."""
        name, low = self.locals[s.name], self.lows.get(s.name)
        return f"whole.settled({name}, {low}, args)" if low else self.fitting(name)

    @staticmethod
    def fitting(value: str) -> str:
        return f"whole.fits({value}, args)"

    def scan(self):
        steps = list(self.kernel.steps)
        reduces = [s for s in steps if s.kind == "reduce"]
        for s in reduces:
            self.start(s)
        hoisted = self.open_reads(steps, outer=True)
        self.open_reduction(steps, self.kernel.reverse)
        self.open_reads(steps, skip=hoisted)
        for s in steps:
            if s.kind == "reduce":
                self.accumulate(s)
            else:
                self.store(s)
        self.close_reduction(steps, self.kernel.reverse)

    def spread_step(self):
        step = self.kernel.steps[-1]
        total = self.names.fresh("sum")
        self.text.add(f"let {total} = 0;")
        self.open_reduction([step])
        self.open_reads([step])
        value = self.printer.number(step.body)
        self.text.add(
            (f"if ({self.printer.truth(step.pred)}) " if step.pred is not None else "") + f"{total} += {value};"
        )
        self.close_reduction([step])
        p = self.places[step.target]
        self.text.add(f"{p.array}[{p.position(self.printer, p.at)}] {step.mode} {total};")

    # --- Values ---

    def start(self, s: Step):
        kind = "b" if s.red in ("any", "all") else "i" if s.red in ("argmax", "argmin") else self.printer_kind(s)
        name = self.names.fresh(STEMS[s.red])
        self.locals[s.name] = name
        first = START[s.red]
        if s.red in ("max", "min") and kind != "f":
            first = "-2147483648" if s.red == "max" else "2147483647"
        self.text.add(f"let {name} = {first};")
        if s.red in ("argmax", "argmin"):
            best, point = self.arguments[s.name] = self.names.fresh("best"), self.names.fresh("point")
            self.text.add(f"let {best} = {'-Infinity' if s.red == 'argmax' else 'Infinity'}, {point} = 0;")
        self.printer.holes[Result(s.result)] = Hole(name, kind)
        # A sum of elements as they are is checked at its end, by its lowest 32 bits: once an element takes twice the
        # time.
        if s.red == "sum" and kind == "w" and isinstance(s.body, (Element, Result)) and self.kernel.shape != "scan":
            self.lows[s.name] = self.names.fresh("low")
            self.text.add(f"let {self.lows[s.name]} = 0;")

    def printer_kind(self, s: Step) -> str:
        """The kind of a reduction's value; its reads need not be open yet."""
        known = self.printer.holes.copy()
        for r in reads_of(s.body):
            if Element(r) not in known:
                self.printer.holes[Element(r)] = Hole("", self.value_kind(r))
        kind = self.printer.kind(s.body)
        self.printer.holes = known
        return "i" if kind == "b" else kind

    def value_kind(self, r: int) -> str:
        p = self.places[r]
        fallback = p.access.fallback
        if fallback is None or p.kind == "f":
            return p.kind
        known = self.printer.holes.copy()
        for q in reads_of(fallback):
            self.printer.holes[Element(q)] = Hole("", self.value_kind(q))
        kind = self.printer.kind(fallback)
        self.printer.holes = known
        return "f" if kind == "f" else p.kind

    def accumulate(self, s: Step):
        t, name, kind = self.text, self.locals[s.name], self.printer.holes[Result(s.result)].kind
        if s.pred is not None:
            t.open(f"if ({self.printer.truth(s.pred)})")
        value = self.printer.truth(s.body) if s.red in ("any", "all") else self.printer.number(s.body)
        match s.red:
            case "sum" | "prod" if kind == "w" and self.kernel.shape == "scan":  # each is a result
                sign = "+" if s.red == "sum" else "*"
                t.add(f"{name} = {self.fitting(f'{name} {sign} {self.printer.number(s.body, UNARY)}')};")
            case "sum" if s.name in self.lows:
                low = self.lows[s.name]
                t.add(f"{name} += {value}; {low} = {low} + ({value}) | 0;")
            case "sum":
                t.add(
                    f"{name} = whole.exact({name} + {self.printer.wide(s.body)}, args);"
                    if kind == "w"
                    else f"{name} += {value};"
                )
            case "prod":
                t.add(f"{name} *= {value};")
            case "any":
                t.add(f"if ({value}) {name} = true;")
            case "all":
                t.add(f"if (!({value})) {name} = false;")
            case "max" | "min":
                t.add(f"{name} = Math.{s.red}({name}, {value});")
            case "argmax" | "argmin":
                self.accumulate_argument(s, name, value)
        if s.pred is not None:
            t.close()
        if s.red in ("argmax", "argmin"):
            t.add(f"{self.arguments[s.name][1]}++;")

    def accumulate_argument(self, s: Step, name: str, value: str):
        best, point = self.arguments[s.name]
        if not value.isidentifier():
            self.text.add(f"const {(v := self.names.fresh('value'))} = {value};")
            value = v
        last = self.kernel.shape == "scan"  # a running one names the last of equal values
        better = f"{value} {'>' if s.red == 'argmax' else '<'}{'=' if last else ''} {best}"
        if self.printer_kind(s) == "f":
            better += f" || Number.isNaN({value})" + (f" && !Number.isNaN({best})" if not last else "")
        self.text.add(f"if ({better}) {{ {best} = {value}; {name} = {point}; }}")

    def store(self, s: Step):
        p = self.places[s.target]
        to = f"{p.array}[{p.position(self.printer, self.at(p))}]"
        value = self.printer.number(s.body)
        if p.kind == "w" and self.printer.kind(s.body) == "f":
            value = self.fitting(f"Math.trunc({value})")
        parts = [
            *(e for o in self.kernel.steps if o is not s for e in (o.body, o.pred)),
            *(e for a in self.kernel.accesses for e in parts_of(a)),
        ]
        later = any(s.result in e.results for e in parts if e is not None)
        if later:
            name = self.names.fresh(camel(s.name))
            kind = self.printer.kind(s.body)
            self.text.add(f"const {name} = {value};")
            self.printer.holes[Result(s.result)] = Hole(name, "i" if kind == "b" else kind)
            value = name
        elif s.mode != "=":
            value = self.printer.number(s.body, UNARY)
        line = self.changed(to, s.mode, value, p)
        self.text.add(f"if ({self.printer.truth(s.pred)}) {line}" if s.pred is not None else line)

    def changed(self, to: str, mode: str, value: str, p: Place) -> str:
        """The statement `to mode value`, as JavaScript says it."""
        if p.kind == "w" and mode in ("+=", "*="):
            return f"{to} = {self.fitting(f'{to} {mode[0]} {value}')};"
        if mode in ("=", "+=", "*="):
            return f"{to} {mode} {value};"
        return f"{to} = Math.{mode[:-1]}({to}, {value});"

    # --- Reads ---

    def at(self, p: Place) -> str:
        """The variable with an access's position where the text now stands."""
        return f"{p.stem}In" if self.inside and self.reduces(p) else p.at

    def needed(self, group: list[Step]) -> list[int]:
        """The reads of the steps, those in the index of another first; one used twice stands there twice."""
        out: list[int] = []

        def visit(*parts):
            for r in reads_of(*parts):
                visit(*parts_of(self.kernel.accesses[r]))
                out.append(r)

        for s in group:
            visit(s.body, s.pred)
            if s.target >= 0:
                visit(*self.kernel.accesses[s.target].index)
        return out

    def open_reads(self, group: list[Step], outer: bool = False, skip=()) -> set[int]:
        """Makes the values of reads known: named here where one is used more than once, or does not change in
        the reduction about to open (`outer`), else put in place.  Answers those it opened."""
        order = self.needed(group)
        done: set[int] = set()
        inner_loops = {l.name for l in self.kernel.rloops}
        for r in dict.fromkeys(order):
            p = self.places[r]
            if r in skip:
                continue
            if outer and (
                p.loops & inner_loops
                or self.adds
                and self.moves(p)
                or p.checked
                or any(q not in done for q in reads_of(*parts_of(p.access)))
            ):
                continue
            for i in p.computed:
                self.name_index(i)
            value = p.named(self.indices).read(self.printer, self.at(p))
            if (outer or order.count(r) > 1) and not p.checked:
                name = self.names.fresh(f"{p.stem}Value")
                self.text.add(f"const {name} = {value.raw or value.text};")
                value = Hole(f"{name} !== 0", "b", value.level, name) if value.kind == "b" else Hole(name, value.kind)
            self.printer.holes[Element(r)] = value
            done.add(r)
        for s in group:
            if s.target >= 0 and s.kind == "store":
                for i in self.places[s.target].computed:
                    self.name_index(i)
        return done

    def name_index(self, i: E):
        """Gives a computed index a name."""
        if i in self.indices:
            return
        name = self.names.fresh("i")
        self.text.add(f"const {name} = {self.printer.number(i)};")
        self.indices[i] = name
        self.printer.holes[Local(name)] = Hole(name, "i")

    # --- The loops of a reduction ---

    def open_reduction(self, group: list[Step], reverse: bool = False):
        t, p = self.text, self.printer
        self.saved = dict(self.indices)
        named = [l for l in self.kernel.rloops if l.name in self.named]
        for l in named:
            t.open(for_loop(l, p, reverse))
        self.inside = True
        if self.reduce_anonymous:
            touched = self.touched(group)
            t.open(f"for (let {self.row} = 0; {self.row} < reduceRows; {self.row}++)")
            last = lambda q: f" + (reduceCount - 1) * {q.stem}Reduce" if reverse else ""
            for line in listed("let", [f"{q.stem}In = {q.at} + {q.stem}Rows[{self.row}]{last(q)}" for q in touched]):
                t.add(line)
            t.open(f"for (let {self.k} = 0; {self.k} < reduceCount; {self.k}++)")

    def close_reduction(self, group: list[Step], reverse: bool = False):
        t = self.text
        if self.reduce_anonymous:
            t.add(" ".join(f"{q.stem}In {'-' if reverse else '+'}= {q.stem}Reduce;" for q in self.touched(group)))
            t.close()
            t.close()
        self.inside = False
        self.indices = self.saved
        for l in self.kernel.rloops:
            if l.name in self.named:
                t.close()

    def touched(self, group: list[Step]) -> list[Place]:
        """The accesses of the steps that move with the reduction."""
        numbers = set(self.needed(group)) | {s.target for s in group if self.inner(s)}
        return [p for p in self.places if p.number in numbers and self.reduces(p)]


def for_loop(l: Loop, printer: Printer, reverse: bool = False) -> str:
    end = printer.number(l.length, 12)
    i = printer.holes[Index(l.name)].text
    return f"for (let {i} = {end} - 1; {i} >= 0; {i}--)" if reverse else f"for (let {i} = 0; {i} < {end}; {i}++)"


def groups(steps: tuple[Step, ...]) -> list[list[Step]]:
    """Neighbouring reductions that do not use each other's result share their loops."""
    out: list[list[Step]] = []
    for s in steps:
        used = s.body.results if s.pred is None else s.body.results | s.pred.results
        if s.kind == "reduce" and out and out[-1][0].kind == "reduce" and used.isdisjoint([o.result for o in out[-1]]):
            out[-1].append(s)
        else:
            out.append([s])
    return out
