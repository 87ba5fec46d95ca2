"""Steps of bodies (dsl/ir/steps.py) as WGSL.

Where threads of a group share memory, barriers are found, not written: what one thread stores another may read, or
store again, after the next barrier only.  Outside of shared loops all threads do the same, and the first stores."""

from __future__ import annotations

from dataclasses import dataclass

from dsl.ir import expression as ir
from dsl.ir.builders import ZERO, sub
from dsl.ir.expression import E
from dsl.ir.program import Body, BodyLaunch
from dsl.ir.steps import For, If, Range, Set, Step, expressions, names_in, stored_by

from ..data.nodes import Apply, Binary, Cast, Constant, Local, Node, Select, Unary, Uniform, children
from ..kernels.bodies import BodyKinds, Layout, assigned_again, changed_by, settled
from ..kernels.context import NOTHING
from ..kernels.formulas import Lowering
from ..planner.printed import literal, operand
from . import prelude
from .barriers import Barrier, Barriers, Pending, Steps
from .names import RESERVED, Names, plain_name

TYPES = {"f": "f32", "i": "i32", "b": "bool", "T": "T"}
LEVELS = {
    "||": 1,
    "&&": 2,
    "|": 3,
    "^": 4,
    "&": 5,
    "==": 6,
    "!=": 6,
    "<": 6,
    "<=": 6,
    ">": 6,
    ">=": 6,
    "+": 8,
    "-": 8,
    "*": 9,
    "/": 9,
    "%": 9,
}
THREADS = "lane"


# --- Scalars ---------------------------------------------------------------------------------------


class BodyLowering(Lowering):
    """The expressions of one launch as nodes."""

    def __init__(self, layout: Layout) -> None:
        self.layout, self.kinds = layout, BodyKinds(layout)
        body = layout.body
        self.names = Names(
            {
                *map(plain_name, layout.tensors),
                *(x.name for x in body.launches),
                *("at", "item", THREADS, "agreed", "all_agree"),
                *prelude.functions(),
            }
        )
        for r in layout.launch.places if len(layout.launch.places) == 1 else ():
            self.names.known[r.name] = r.name if r.name not in self.names.taken | RESERVED else "at"
        self.op, self.integral, self.values = NOTHING, False, frozenset()
        self.helpers: list[str] = []  # what the places of elements call, which are texts in formulas

    def local(self, name: str) -> Node:
        return Local(self.names.of(name))

    def symbol(self, name: str) -> Node:
        if name in ("inf", "nan"):
            return Uniform(name)
        uniform = Local(f"p.{name}")
        return Binary("!=", uniform, Constant("i", 0)) if self.kinds.symbol(name) == "b" else uniform

    def own(self, e: E, kind: str, want: str) -> Node:
        match e:
            case ir.Index(loop):
                return Local(self.names.of(loop))
            case ir.Read():
                found = Local(self.element(e))
                if kind == "f":
                    return Cast("f", found)
                return Binary("!=", found, Constant("i", 0)) if kind == "b" else found
            case ir.Binary("//" | "%" as operator, left, right):
                if kind == "i" and self.layout.is_natural(left) and self.layout.is_natural(right):
                    return self.binary("/" if operator == "//" else "%", left, right, "i")
            case ir.Call("isnan", (operand,)) if self.kinds.kind(operand) == "T":
                return Binary("&&", Local("floating"), Apply("is_nan", [Cast("f", self.node(operand, "T"))]))
        return super().own(e, kind, want)

    def cast(self, e: Node, kind: str, want: str) -> Node:
        return e if kind == "T" and want == "i" else super().cast(e, kind, want)

    def element(self, e: ir.Read) -> str:
        """An element as it stands in the kernel."""
        place = self.node(self.layout.offset(e), "i")
        self.helpers += functions_in(place)
        return f"{plain_name(e.tensor)}[{text(place)}]"

    def stored(self, t: ir.Read, v: E) -> Node:
        """A value as the type of the element that becomes it."""
        kind = self.layout.tensors[t.tensor].kind
        if kind == "T":
            return Apply("T", [Constant("i", int(v.value))]) if isinstance(v, ir.Constant) else self.node(v, "T")
        if kind == "f" and isinstance(v, ir.Read) and self.kinds.kind(v) == "f":
            return Local(self.element(v))
        made = self.node(v, kind)
        return (
            Apply("T", [made])
            if kind == "f"
            else Select(made, Constant("i", 1), Constant("i", 0))
            if kind == "b"
            else made
        )


def text(e: Node, level: int = 0) -> str:
    """A node with the brackets that it needs."""
    match e:
        case Constant(kind=kind, value=value) if value >= 0 or level <= 8:
            return literal(kind, value)
        case Unary(operator=sign, operand=inner):
            return wrapped(f"{sign}{text(inner, 11)}", 10, level)
        case Select(condition=condition, yes=yes, no=no):
            return f"select({text(no, 7)}, {text(yes, 7)}, {text(condition)})"
        case Apply(name=name, operands=operands):
            return f"{name}({', '.join([text(a, 7) for a in operands])})"
        case Cast(kind=kind, operand=inner):
            return f"{TYPES[kind]}({text(inner, 7)})"
        case Binary(operator=sign, left=left, right=right) if sign in LEVELS:
            own_ = LEVELS[sign]
            # WGSL mixes neither `&&` with `||` nor operations on bits with others, and compares once.
            if own_ < LEVELS["=="]:
                a, b = inside(left, sign), inside(right, sign)
            else:
                a, b = text(left, max(own_, 7)), text(right, own_ + 1)
            return wrapped(f"{a} {sign} {b}", own_, level)
    return operand(e)


def inside(e: Node, sign: str) -> str:
    """An operand of a logical operation, or of one on bits."""
    if isinstance(e, Binary) and e.operator == sign and sign in ("&&", "||"):
        return text(e)
    return text(e, 6 if sign in ("&&", "||") else 11)


def wrapped(s: str, own_: int, level: int) -> str:
    return f"({s})" if own_ < level else s


def functions_in(e: Node) -> list[str]:
    mine = [e.name] if isinstance(e, Apply) else []
    return mine + [n for c in children(e) for n in functions_in(c)]


# --- Statements ------------------------------------------------------------------------------------


# What the first thread found, for all: WGSL wants proof that all threads come to a barrier.
AGREE = """\
var<workgroup> agreed: i32;

fn all_agree(lane: i32, found: bool) -> bool {
  if (lane == 0) { agreed = i32(found); }
  return workgroupUniformLoad(&agreed) != 0;
}"""


@dataclass(frozen=True)
class Made:
    """The functions of a body, and what they call."""

    text: str
    helpers: list[str]


def printed_body(body: Body) -> Made:
    texts, helpers, agrees = [], [], False
    for x in body.launches:
        w = Writer(body, x)
        texts.append(w.function())
        helpers += w.helpers
        agrees = agrees or bool(w.agreed)
    if agrees:
        texts.insert(0, AGREE)
    return Made("\n\n".join(texts), list(dict.fromkeys(helpers)))


class Writer:
    """Writes the function of one launch."""

    def __init__(self, body: Body, launch: BodyLaunch) -> None:
        self.launch = launch
        self.layout = Layout(body, launch)
        self.w = BodyLowering(self.layout)
        self.again = assigned_again(launch)
        self.lines: list[str] = []
        self.depth = 1
        self.helpers = self.w.helpers
        self.agreed: set[int] = set()
        self.shared = False  # whether this stands in a shared loop, or there is one thread only

    def add(self, line: str) -> None:
        self.lines.append("  " * self.depth + line)

    def show(self, e: E, kind: str) -> str:
        return self.said(self.w.node(e, kind))

    def said(self, node: Node) -> str:
        self.helpers += functions_in(node)
        return text(node)

    def function(self) -> str:
        x, steps = self.launch, self.launch.body
        if x.lanes:
            names = {x.step, *(r.name for r in x.places)} | {n for n, _ in self.layout.body.symbols}
            found = Barriers(stored_by(steps), names)
            steps, _ = found.block(steps, Pending())
            self.agreed, self.found = found.agreed, found
        else:
            self.shared = True
        self.block(steps)
        body, self.lines = self.lines, []
        alone = len(x.places) == 1
        at = self.w.names.of(x.places[0].name) if alone else "at"
        rest = "at"
        for n, r in enumerate(x.places if not alone else ()):
            inner = " * ".join(
                self.show(q.high, "i")
                if isinstance(q.high, (ir.Symbol, ir.Constant))
                else f"({self.show(q.high, 'i')})"
                for q in x.places[n + 1 :]
            )
            several = len(x.places) - n > 2
            shown = f"{rest} / ({inner})" if several else f"{rest} / {inner}" if inner else rest
            this = shown if n == 0 else f"{shown} % {self.show(r.high, 'i')}"
            if self.uses(r.name):
                self.add(f"let {self.w.names.of(r.name)} = {this};")
        if x.step and self.uses(x.step):
            self.add(f"let {self.w.names.of(x.step)} = p.{x.step};")
        for base, e in self.layout.bases.items():
            self.add(f"let {self.w.names.of(base)} = {self.show(e, 'i')};")
        head = f"fn {x.name}({at}: i32{f', {THREADS}: i32' if x.lanes else ''}) {{"
        return "\n".join([head, *self.lines, *body, "}"])

    def uses(self, name: str) -> bool:
        return any(name in names_in(e) for e in expressions(self.launch.body)) or any(
            name in names_in(e) for e in self.layout.bases.values()
        )

    def block(self, steps: Steps) -> None:
        for s in steps:
            self.step(s)

    def inner(self, steps: Steps) -> None:
        self.depth += 1
        self.block(steps)
        self.depth -= 1

    def step(self, s: Step | Barrier) -> None:
        match s:
            case Barrier():
                self.add("storageBarrier();")
            case Set():
                self.set(s)
            case If():
                self.branch(s)
            case For(shared=True):
                self.share(s)
            case For():
                self.loop(s)
            case _:
                self.add("break;")

    def set(self, s: Set) -> None:
        values: list[str | E] = list(s.values)
        before, self.lines = self.lines, []
        for n, (t, v, keep) in enumerate(zip(s.targets, s.values, settled(s.targets, s.values))):
            if keep:
                values[n] = self.w.names.fresh("kept")
                self.add(f"let {values[n]} = {self.given(t, v)};")
        for t, value in zip(s.targets, values):
            self.assign(t, value, s.declares)
        made, self.lines = self.lines, before
        if not self.shared and isinstance(s.targets[0], ir.Read):
            self.first(made)
        else:
            self.lines += made

    def first(self, lines: list[str]) -> None:
        """What one thread stores for all."""
        if len(lines) == 1:
            self.add(f"if ({THREADS} == 0) {{ {lines[0].strip()} }}")
            return
        self.add(f"if ({THREADS} == 0) {{")
        self.lines += ["  " + line for line in lines]
        self.add("}")

    def assign(self, t: ir.Local | ir.Read, v: str | E, declares: bool) -> None:
        begins = ("var " if t.name in self.again else "let ") if isinstance(t, ir.Local) and declares else ""
        name = self.w.element(t) if isinstance(t, ir.Read) else self.w.names.of(t.name)
        kind = self.w.kinds.kind(t)
        if isinstance(v, str):
            self.add(f"{begins}{name} = {v};")
        elif isinstance(v, ir.Select) and v.reads:
            if begins:
                self.add(f"var {name}: {TYPES[kind]};")
            self.choice(t, name, v, kind)
        elif (change := changed_by(t, v)) and kind in ("f", "i"):
            self.add(f"{name} {change[0]}= {self.given(t, change[1])};")
        else:
            self.add(f"{begins}{name} = {self.given(t, v)};")

    def given(self, t: ir.Local | ir.Read, v: E) -> str:
        """A value as what becomes it holds it."""
        return self.said(self.w.stored(t, v) if isinstance(t, ir.Read) else self.w.node(v, self.w.kinds.kind(t)))

    def choice(self, t: ir.Local | ir.Read, name: str, v: E, kind: str) -> None:
        """A choice reads only what it takes."""
        if not isinstance(v, ir.Select):
            self.add(f"{name} = {self.given(t, v)};")
            return
        self.add(f"if ({self.show(v.condition, 'b')}) {{")
        self.depth += 1
        self.choice(t, name, v.yes, kind)
        self.depth -= 1
        self.add("} else {")
        self.depth += 1
        self.choice(t, name, v.no, kind)
        self.depth -= 1
        self.add("}")

    def condition(self, s: If | For, e: E) -> str:
        found = self.show(e, "b")
        return f"all_agree({THREADS}, {found})" if id(s) in self.agreed else found

    def branch(self, s: If, head: str = "") -> None:
        self.add(f"{head}if ({self.condition(s, s.condition)}) {{")
        self.inner(s.yes)
        if len(s.no) == 1 and isinstance(s.no[0], If):
            before = len(self.lines)
            self.branch(s.no[0], "} else ")
            del before
            return
        if s.no:
            self.add("} else {")
            self.inner(s.no)
        self.add("}")

    def loop(self, s: For) -> None:
        r = s.ranges[0]
        name = self.w.names.of(r.name)
        high = self.show(r.high, "i")
        goes = f"{name} < {high}"
        if id(s) in self.agreed:
            goes = f"all_agree({THREADS}, {goes}{'' if s.condition is None else f' && {self.joined(s.condition)}'})"
        elif s.condition is not None:
            goes += f" && {self.joined(s.condition)}"
        self.add(f"for (var {name} = {self.show(r.low, 'i')}; {goes}; {name}++) {{")
        self.inner(s.body)
        self.add("}")

    def joined(self, e: E) -> str:
        """A condition behind `&&`."""
        node = self.w.node(e, "b")
        self.helpers += functions_in(node)
        return inside(node, "&&")

    def share(self, s: For) -> None:
        """Every thread takes every so many of the iterations."""
        lanes = self.launch.lanes
        self.shared = True
        if len(s.ranges) == 1:
            name, low = self.w.names.of(s.ranges[0].name), s.ranges[0].low
            start = THREADS if low is ZERO else f"{self.show(low, 'i')} + {THREADS}"
            self.add(f"for (var {name} = {start}; {name} < {self.show(s.ranges[0].high, 'i')}; {name} += {lanes}) {{")
        else:
            lengths = [self.length(r) for r in s.ranges]
            self.add(f"for (var item = {THREADS}; item < {' * '.join(lengths)}; item += {lanes}) {{")
            self.depth += 1
            for n, r in enumerate(s.ranges):
                rest = " * ".join(lengths[n + 1 :])
                several = len(lengths) - n > 2
                at = f"item / ({rest})" if several else f"item / {rest}" if rest else "item"
                at = f"{at} % {lengths[n]}" if n else at
                begin = "" if r.low is ZERO else f"{self.show(r.low, 'i')} + "
                self.add(f"let {self.w.names.of(r.name)} = {begin}{at};")
            self.depth -= 1
        self.inner(s.body)
        self.add("}")
        self.shared = False

    def length(self, r: Range) -> str:
        e = r.high if r.low is ZERO else sub(r.high, r.low)
        shown = self.show(e, "i")
        return shown if isinstance(e, (ir.Symbol, ir.Local, ir.Constant, ir.Index)) else f"({shown})"
