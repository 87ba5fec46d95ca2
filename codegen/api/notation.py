"""The notation of programs in the package: parameters in a line, tensors in a line, a kernel a line.
runtime/program/notation.ts reads it.

    params: "input Num, other Num|num, *alpha num=1"
    slots: "@I, @I, out @I, g_2, d_0, d_1"
    programs: `
    0 1 > 2
    map i*I; 0[i] 1[i]; 2[i] = @0+(p.alpha*@1)
    `

Params: `name kind`, or the class of a tensor; `*` before it: by keyword only.  After the kind, in this order: `|num` or
`|ints` may be given, too; `?` may be None; `~` flat; `(a/b)` choices; `:2` how many numbers; `*K` the pack whose rank
they give; `=` and the default, if that is not None.

Slots, by number.  `g_2`: the cotangent of slot 2, `d_2`: its gradient, of the same shape unless dims follow; `gg_2`,
`dd_2`: those of programs[2]; their names begin so, too.  Any other: its name (a parameter's is left out), its dims,
then perhaps `=int64` (its type, where that is not T) or `&` (it is written to).  Dims: `N` an axis whose length is
called N; `:N` an axis that long; `*B` a pack, `~B` one that broadcasts; `@I` a domain; `%A` a chosen axis; `/H.W` one
that is split; then perhaps `(dim` the option that names the axes, `(dim!` of which those are kept; `?N` it exists only
where N is not 0.

A program: `inputs > outputs`, each output perhaps with `:` and the inputs it needs, where those are not all (`-1 - n`
for n, if it is not held: dsl/gradients/saving.py); then its kernels.

A kernel: `head; reads; step; step`.
Head: the shape; `+` for spread; `-` from the end; `?when`; the loops, after `/` those of the reduction: `i:N` runs to
N, `i*B` over the pack B, `i!:N` is used in arithmetic. Reads: `SLOT[axes]`, where an axis is a loop or a formula; then
perhaps `?guard:fallback`; `<` before it: of a contraction's factor A.  The nth is `@n` in formulas.  Steps: `sum body`,
`argmax:fi body` (the kinds of the value and of what is compared, where they are not T), or a store: `SLOT[axes] =
body`, which is the next access, or `@3 = body` to access 3 of the reads; `!` before it: at every point of the
reduction, too.  The nth is `$n`.  `body?condition`: only where that holds.  `floating#integral`: one text for each
class of T.  A raw kernel: `raw0?when SLOTS; stores`, then the values of its uniforms; `raw0=int32`: what the body calls
T.

How formulas are written is said in data/written.py.  Where a number is asked for, a name stands for the call's
environment, and `$3` for `values[3]`, a function of it.  Last in a kernel `$1 $2` are what the uniforms host0_, host1_
are, by the alphabet.  Kinds, uniforms, constants and names that are left out follow from the rest: `Writer` refuses
what would not."""

from __future__ import annotations

from dsl.ir import expression
from dsl.ir.expression import E

from ..data import model
from ..data.errors import decimal
from ..data.nodes import (
    Apply,
    Binary,
    BoundsCheck,
    Cast,
    Constant,
    Element,
    Index,
    Item,
    Node,
    Option,
    Random,
    Result,
    Select,
    Unary,
    Uniform,
)
from ..data.statements import Assign, Choose, Procedure, Repeat, Statement
from ..data.written import DIVISIONS
from . import loop_programs

DIMS = {"one": "", "pack": "*", "domain": "@", "chosen": "%", "split": "/"}
SIGNS = {name: sign for sign, name in DIVISIONS.items()}
KINDS = {"T": "T", "int64": "i", "int32": "i", "bool": "b", "float32": "f"}
OWN = {"Int": "i", "Bits": "i", "Bool": "b"}


def written(e: Node | None) -> str:
    """A formula, which data/written.py reads."""
    match e:
        case None:
            return ""
        case Unary(operator, operand):
            return operator + part(operand)
        case Binary(operator, left, right):
            return part(left) + operator + part(right)
        case Constant("b", value):
            return f"{int(value)}b"
        case Constant("i", value):
            return str(int(value))
        case Constant("f", value):
            return digits if {".", "e"} & set(digits := decimal(value)) else f"{digits}."
        case Index(name) | Option(name):
            return name
        case Element(access):
            return f"@{access}"
        case Item(access, place):
            return f"@{access}[{written(place)}]"
        case Result(step):
            return f"${step}"
        case Uniform(name):
            return f"p.{name}"
        case Random(draw):
            return f"uniform_random({draw})"
        case Cast(kind, operand):
            return f"{kind}32({written(operand)})"
        case BoundsCheck(operand, stores):
            return f"{'in_bounds' if stores else 'check_bounds'}({written(operand)})"
        case Select(condition, yes, no):
            return f"{{{written(no)},{written(yes)},{written(condition)}}}"
        case Apply(name, [left, right]) if name in SIGNS:
            return part(left) + SIGNS[name] + part(right)
        case Apply(name, operands):
            return f"{name}({','.join(map(written, operands))})"
    raise TypeError(f"not written in the package: {e}")


def simple(e: E) -> str:
    """A host formula that is an entry of the environment or a number, as it is written; "" for more than that."""
    match e:
        case expression.Cast(_, operand):
            return simple(operand)
        case expression.Symbol(name) if name not in ("inf", "nan"):
            return name
        case expression.Constant("f", value):
            return repr(value) if 1e-4 <= abs(value) < 1e16 or not value else ""
        case expression.Constant(_, value):
            return str(int(value))
        case expression.Unary("-", expression.Constant() as operand) if text := simple(operand):
            return f"-{text}"
        case _:
            return ""


def part(e: Node) -> str:
    """A formula beside an operator."""
    brackets = (
        isinstance(e, (Unary, Binary))
        or isinstance(e, Apply)
        and e.name in SIGNS
        or isinstance(e, Constant)
        and e.value < 0
    )
    return f"({written(e)})" if brackets else written(e)


class Writer:
    """Writes the slots and programs of one op.  values: the functions that the text only numbers."""

    def __init__(self, op: model.Op):
        self.op, self.values, self.bodies = op, [], []
        for n in (n for p in op.programs for n in p.kernels):
            self.follows(n)

    def follows(self, n: model.Kernel):
        """Refuses a kernel of which what is left out would be read otherwise."""
        kinds = [
            KINDS.get(s.dtype) or next(OWN.get(p.cls, "f") for p in self.op.params if p.name == s.name)
            for s in self.op.slots
        ]
        right = all(a.kind == kinds[a.slot] for a in n.accesses) and len(self.bodies) < 10
        for k, s in enumerate(n.steps):
            if s.target < 0:
                right &= s.name == f"acc{k}"
            else:
                right &= (
                    s.name in ("", f"acc{k}")
                    and s.value == n.accesses[s.target].kind
                    and not s.red
                    and s.compared == "T"
                )
        if not right:
            raise ValueError(f"{self.op.name}, kernel {n.number}: not written as others")

    def value(self, v) -> str:
        if known := simple(v.e):
            return known
        text = loop_programs.formula(v.e, {})
        if text not in self.values:
            self.values.append(text)
        return f"${self.values.index(text)}"

    # --- Parameters and slots ---

    def params(self) -> str:
        return ", ".join(map(self.param, self.op.params))

    def param(self, p: model.Param) -> str:
        text = (
            ("*" if p.keyword else "")
            + f"{p.name} {p.cls or p.kind}"
            + (f"|{'real' if p.precise else p.instead}" if p.instead else "")
            + "?" * p.optional
            + "~" * p.flat
        )
        if p.choices:
            text += f"({'/'.join(p.choices)})"
        return (
            text
            + (f":{p.rank}" if p.rank >= 0 else "")
            + (f"*{p.pack}" if p.pack else "")
            + "=" * p.has_default
            + (self.value(p.default) if p.default else "")
        )

    def slots(self) -> str:
        return ", ".join(" ".join(self.slot(n, s)) for n, s in enumerate(self.op.slots))

    def slot(self, n: int, s: model.Slot) -> list[str]:
        dims = [self.dim(d) for d in s.dims]
        if s.like >= 0 and s.role != "output":
            return [
                f"{s.name.removesuffix(self.op.slots[s.like].name)}{s.like}",
                *(dims if s.dims != self.op.slots[s.like].dims else []),
            ]
        return [
            *([s.name] if s.role != "input" else []),
            *dims,
            *([f"={s.dtype}"] if s.dtype != "T" else []),
            *([f"^{s.like}"] if s.like >= 0 else []),
            *(["&"] if s.mut else []),
        ]

    def dim(self, d: model.Dim) -> str:
        text = (
            ("~" if d.broadcast else DIMS[d.kind])
            + (d.name or (":" + self.value(d.size) if d.size else ""))
            + ".".join(d.factors)
        )
        if d.option:
            text += f"({d.option}" + ("!" if d.part == "kept" else "")
        return text + (f"?{self.value(d.when)}" if d.when else "")

    # --- Programs ---

    def programs(self) -> str:
        return "\n".join(line for p in self.op.programs for line in (self.program(p), *map(self.kernel, p.kernels)))

    def program(self, p: model.Program) -> str:
        numbers = lambda of, by=" ": by.join(map(str, of))
        needs = lambda saves: ":" + numbers(saves, ".") if saves != p.inputs else ""
        return f"{numbers(p.inputs)} > {numbers(f'{o}{needs(s)}' for o, s in zip(p.outputs, p.saves))}"

    def kernel(self, n: model.Kernel) -> str:
        when = f"?{self.value(n.when)}" if n.when else ""
        if n.raw is not None:
            values = [self.value(w.value) for w in n.uniforms if w.value]
            dtype = f"={n.raw.dtype}" if n.raw.dtype != "T" else ""
            if n.raw.text not in self.bodies:
                self.bodies.append(n.raw.text)  # fewer than ten: the number is a digit
            head = f"raw{self.bodies.index(n.raw.text)}{dtype}{when} {' '.join(str(a.slot) for a in n.accesses)}"
            return f"{head}; {len(n.steps)} {' '.join(values)}".strip()
        loops = [" ".join(map(self.loop, ls)) for ls in (n.loops, n.rloops)]
        head = f"{n.shape}{'+' * n.spread}{'-' * n.reverse}{when} {'/'.join(loops if n.rloops else loops[:1])}"
        stores = [s for s in n.steps if s.target >= 0]
        last = [s.target for s in stores] == list(range(len(n.accesses) - len(stores), len(n.accesses)))
        reads = [self.access(n, k) for k in range(len(n.accesses) - len(stores) * last)]
        hosts = {w.name: self.value(w.value) for w in n.uniforms if w.value}
        return "; ".join(
            [
                head,
                " ".join(reads),
                *(self.step(n, k, last) for k in range(len(n.steps))),
                *([" ".join(hosts[name] for name in sorted(hosts))] if hosts else []),
            ]
        )

    def loop(self, l: model.Loop) -> str:
        return l.name + "!" * l.named + (f"*{l.pack}" if l.pack else f":{self.value(l.extent)}")

    def access(self, n: model.Kernel, k: int) -> str:
        a, codes = n.accesses[k], [c and c.accesses[k] for c in (n.floating, n.integral)]
        axes = [axis or both(*(c and c.index[i] for c in codes)) for i, axis in enumerate(a.axes)]
        text = ("<" if k in n.left else "") + f"{a.slot}[{' '.join(axes)}]"
        guard, fallback = (both(*(c and getattr(c, part) for c in codes)) for part in ("guard", "fallback"))
        return text + (f"?{guard}:{fallback}" if guard else "")

    def step(self, n: model.Kernel, k: int, last: bool) -> str:
        s, codes = n.steps[k], [c and c.steps[k] for c in (n.floating, n.integral)]
        body, pred = (both(*(c and getattr(c, part) for c in codes)) for part in ("body", "pred"))
        if pred:
            body += f"?{pred}"
        if s.kind == "store":
            return (
                ("!" if s.inner else "") + (self.access(n, s.target) if last else f"@{s.target}") + f" {s.mode} {body}"
            )
        kinds = s.value + s.compared
        return s.red + (f":{kinds}" if kinds != "TT" else "") + f" {body}"


def written_procedure(p: Procedure) -> str:
    """A routine or a body, which data/statements.py reads."""

    def names(of: list[str]) -> str:
        return " ".join(n if p.kinds[n] == "f" else f"{n}:{p.kinds[n]}" for n in of)

    variables = [n for n in p.kinds if n not in p.parameters]
    return f"{names(p.parameters)}|{names(variables)}|{written_statements(p.statements)}"


def written_statements(statements: list[Statement]) -> str:
    return "".join(map(written_statement, statements))


def written_statement(s: Statement) -> str:
    match s:
        case Assign(targets, values):
            return f"{','.join(map(written, targets))}={','.join(map(written, values))};"
        case Repeat(name, low, high, condition, body):
            bounds = ",".join(map(written, (low, high) if condition is None else (low, high, condition)))
            return f"for({name},{bounds}){{{written_statements(body)}}}"
        case Choose(condition, yes, no):
            other = f"else{{{written_statements(no)}}}" if no else ""
            return f"if({written(condition)}){{{written_statements(yes)}}}{other}"
        case _:
            return "break;"


def both(floating: Node | None, integral: Node | None) -> str:
    """The formulas for both classes of T, one of which may never be."""
    if floating is None or integral is None:
        return written(floating or integral)
    return written(floating) + (f"#{written(integral)}" if integral != floating else "")
