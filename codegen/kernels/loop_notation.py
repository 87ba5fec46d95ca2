"""Loop programs as they stand in the package, read once, where derivatives are made.  codegen/api/loop_programs.py
writes them.

    ?when i*B j:N/k:K; 0[i k] 3[@0 k]:0; 4[i j]=sum:@0*@1?i<N+

A statement: perhaps a condition, its loops (`*` over a pack), after `/` those of a reduction; the elements that it
reads, by slot and index, after `:` what stands for one outside of its tensor: the nth is `@n` in formulas, also in
those of later ones; the element that it makes, by slot, `g4` the cotangent of slot 4, `d4` its gradient or another
tensor by its name in quotes; its mode; a reduction; the value, after `?` its filter; `+` for spread.

The results of an op's body: `!op:results:T`, after `?` a condition; the tensors that it reads; those that it makes,
also scratch memory; its uniforms; where it stands in another op the axes that stand for its packs, `B *B N`, and its
sizes and options, `K=N`.

An op: a line for each statement of its forward program.  Then gradients that are given: `>0` before the statements of
that of slot 0, `>` before what several share.  Then `^ result inner args complete targets` before those of a call that
says its own: lists of names with commas between."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from dsl.gradients.derivable import Derivable, spoken
from dsl.gradients.solve import Sizes
from dsl.ir.axes import Axis, axes
from dsl.ir.builders import integer, read, sym
from dsl.ir.expression import E, RawResult, Read, Reduction
from dsl.ir.intrinsics import Function
from dsl.ir.program import Body, Dim, DimKind, Dtype, Loop, Mode, Owned, Part, Program, Raw, Role, Stmt, Tensor
from dsl.ir.row_calls import Inlined

from ..binding.parts import entry
from ..data import model
from ..data.written import DIGITS, Formula, formula, run
from .computed import expression_of
from .loop_expressions import Scope, expression

KINDS: dict[str, Dtype] = {"T": "T", "own": "own", "int64": "int", "int32": "int", "bool": "bool", "float32": "float"}


OWN = ("input", "output")


@dataclass
class Callee:
    """An op with a body, to those that run it.  kernel: its own, with the body.  inputs, outputs: what the body calls
    its tensors.  itself: it in its own place."""

    op: Derivable
    kernel: model.Kernel
    inputs: list[str]
    outputs: list[str]
    itself: Inlined


Callees = Callable[[str], Callee]


class Lines:
    """The statements of one op.  scope: of the statement that is read."""

    def __init__(self, tensors: list[str], callees: Callees) -> None:
        self.tensors = tensors
        self.callees = callees
        self.scope = Scope(set(), [], [])

    def statement(self, text: str) -> Stmt:
        f = Formula(text, 0, [])
        self.scope = Scope(set(), [], [])
        when: E | None = None
        if taken(f, "?"):
            when = self.e(f)
            f.at += 1
        loops = self.loops(f)
        rloops = self.loops(f) if taken(f, "/") else ()
        f.at += 2
        while not taken(f, ";"):
            tensor = self.tensor(f)
            index = self.index(f)
            self.scope.reads.append(Read(tensor, index, self.e(f) if taken(f, ":") else None))
            taken(f, " ")
        f.at += 1
        target = self.tensor(f)
        idx = self.index(f)
        mode = cast(Mode, run(f, "=", False) + "=")
        f.at += 1
        start = f.at
        red: Reduction | None = cast(Reduction, run(f, ":(", False))
        if not taken(f, ":"):
            red = None
            f.at = start
        body = self.e(f)
        pred = self.e(f) if taken(f, "?") else None
        return Stmt(target, idx, loops, body, red, rloops, pred, mode, when, f.at < len(text))

    def body(self, text: str) -> list[Stmt]:
        """The statements for the results of a body."""
        self.scope = Scope(set(), [], [])
        head, given, made, uniforms, *rest = text.split("; ")
        at = head.find("?")
        when = self.e(Formula(head[at + 1 :], 0, [])) if at >= 0 else None
        name, count, dtype = (head[1:at] if at >= 0 else head[1:]).split(":")
        T = cast(Dtype, dtype)
        callee = self.callees(name)
        inlined = callee.itself
        if len(rest) == 2:
            inlined = Inlined(callee.op, {}, self.packs(rest[0]), self.sizes(rest[1]), T)
        tensors = [self.tensor(Formula(x, 0, [])) for x in made.split(" ")]
        outputs: list[tuple[str, str]] = []
        for k, t in enumerate(tensors):
            outputs.append((callee.outputs[k], t))
        reads = [read(self.tensor(Formula(x, 0, [])), ()) for x in given.split(" ")]
        numbers = [self.e(Formula(x, 0, [])) for x in uniforms.split(" ")]
        body = Body(name, (), (), (), frozenset())
        made_ = [Raw(body, tuple(callee.inputs), tuple(outputs), (), n, T, inlined) for n in range(int(count))]
        return [Stmt(tensors[r.n], (), (), RawResult(r, (*reads, *numbers)), when=when) for r in made_]

    def packs(self, text: str) -> dict[str, tuple[Axis, ...]]:
        out: dict[str, tuple[Axis, ...]] = {}
        for one in text.split(", "):
            name, *there = one.split(" ")
            out[name] = tuple(
                [Axis(None, x[1:]) if x[0] == "*" else Axis(self.e(Formula(x, 0, []))) for x in there if x != ""]
            )
        return out

    def sizes(self, text: str) -> dict[str, E]:
        out: dict[str, E] = {}
        for said in text.split(" "):
            at = said.find("=")
            if at < 0:
                out[said] = sym(said)
            else:
                out[said[:at]] = self.e(Formula(said[at + 1 :], 0, []))
        return out

    def loops(self, f: Formula) -> tuple[Loop, ...]:
        out: list[Loop] = []
        while f.text[f.at] not in "/;":
            name = run(f, ":*", False)
            f.loops.append(name)
            if taken(f, "*"):
                self.scope.packs.add(name)
                out.append(Loop(name, None, run(f, " ;", False)))
            else:
                f.at += 1
                out.append(Loop(name, self.e(f)))
            taken(f, " ")
        return tuple(out)

    def tensor(self, f: Formula) -> str:
        if taken(f, "'"):
            name = run(f, "'", False)
            f.at += 1
            return name
        prefix = run(f, "dg", True)
        name = self.tensors[int(run(f, DIGITS, True))]
        return f"{prefix}_{name}" if prefix != "" else name

    def index(self, f: Formula) -> tuple[E, ...]:
        out: list[E] = []
        f.at += 1
        while not taken(f, "]"):
            out.append(self.e(f))
            taken(f, " ")
        return tuple(out)

    def e(self, f: Formula) -> E:
        return expression(formula(f), self.scope)


def taken(f: Formula, character: str) -> bool:
    """Goes past a character if it stands here."""
    found = f.at < len(f.text) and f.text[f.at] == character
    if found:
        f.at += 1
    return found


def tensor(op: model.Op, s: model.Slot) -> Tensor:
    """A slot as programs have it; carried.py's `slot` turned round."""
    optional = any(p.optional and op.slots[p.slot] is s for p in op.params if p.slot >= 0)
    like = op.slots[s.like].name if s.like >= 0 else ""
    return Tensor(s.name, cast(Role, s.role), tuple([dim(d) for d in s.dims]), KINDS[s.dtype], like, optional, s.mut)


def dim(d: model.Dim) -> Dim:
    factors = tuple([integer(int(x)) if x[0] in DIGITS else sym(x) for x in d.factors])
    size, when = expression_of(d.size), expression_of(d.when)
    if size is None and d.name and not factors and d.kind in ("one", "chosen"):
        size = sym(d.name)
    return Dim(cast(DimKind, d.kind), d.name, size, factors, d.option, cast(Part, d.part), d.broadcast, when)


def callee(op: model.Op) -> Callee:
    """An op with a body, of which `complete` says the rest."""
    bodies = [n for n in op.programs[0].kernels if n.raw is not None]
    inputs = [p.name for p in op.params if p.slot >= 0]
    outputs = [op.slots[n].name for n in op.outputs]
    raw = bodies[0].raw
    scratch = raw.names[len(inputs) + len(outputs) :] if raw is not None else []
    d = Derivable(op.name, {}, outputs, [], [], {}, [], Sizes({}, frozenset()), unchecked)
    return Callee(d, bodies[0], inputs, [*outputs, *scratch], Inlined(d, {}, {}))


def complete(c: Callee, op: model.Op, text: str, callees: Callees) -> None:
    """Reads the op's lines, in which it may stand itself; without gradients it has none."""
    if text == "":
        return
    d = read_derivable(op, text, callees)
    c.op.tensors, c.op.grads = d.tensors, d.grads
    known = [*[s.name for s in op.sizes], *[entry(p.name) for p in op.params if p.slot < 0]]
    for t in d.tensors.values():
        for a in axes(t):
            if a.pack:
                c.itself.packs[a.pack] = (Axis(None, a.pack),)
                known.append(f"count_{a.pack}")
            elif a.extent is not None:
                known += sorted(a.extent.symbols)
    for n in known:
        c.itself.env[n] = sym(n)


def read_derivable(op: model.Op, text: str, callees: Callees) -> Derivable:
    """What derivation knows of an op.  text: the lines, and before them one with the parameters that have gradients,
    sizes that are above 0 and, as `Y=H`, those that grow with an axis.  callees: the ops whose bodies it runs."""
    names = [s.name for s in op.slots]
    head, *lines = text.split("\n")
    wanted: list[str] = []
    positive: list[str] = []
    kin: dict[str, str] = {}
    for said in head.split(" "):
        pair = said.split("=")
        if len(pair) == 2:
            kin[pair[0]] = pair[1]
        elif said[0] in DIGITS:
            wanted.append(names[int(said)])
        else:
            positive.append(said)
    reader = Lines(names, callees)
    stmts: list[Stmt] = []
    grads: dict[str, list[Stmt]] = {}
    owned: list[Owned] = []
    into = stmts
    for line in lines:
        if line[0] == ">":
            into = []
            grads[names[int(line[1:])] if len(line) > 1 else ""] = into
        elif line[0] == "^":
            into = []
            results, inner, args, complete, targets = line[2:].split(" ")
            owned.append(
                Owned(
                    numbered(names, results),
                    numbered(names, inner),
                    numbered(names, args),
                    complete == "1",
                    into,
                    {t.split("=")[0]: names[int(t.split("=")[1])] for t in targets.split(",")},
                )
            )
        elif line[0] == "!":
            into += reader.body(line)
        else:
            into.append(reader.statement(line))
    sizes = Sizes(kin, frozenset(positive))
    mentioned = spoken(stmts, grads, owned)  # other slots may be those of gradients that are carried
    tensors = {s.name: tensor(op, s) for s in op.slots if s.role in OWN or s.role == "temp" and s.name in mentioned}
    return Derivable(op.name, tensors, [names[n] for n in op.outputs], wanted, stmts, grads, owned, sizes, unchecked)


@dataclass(frozen=True)
class Slopes:
    """What derivation knows of a routine; see dsl.ir.expression.Function."""

    params: tuple[str, ...]
    slopes: dict[str, E]
    integral: bool


def read_routines(text: str) -> dict[str, Function]:
    """The derivatives of routines, a line for each: `name x,y`, `!` if it may work on whole numbers, `x=formula`."""
    reader = Lines([], nobody)
    found: dict[str, Function] = {}
    for line in text.split("\n") if text else []:
        name, said, *rest = line.split(" ")
        integral = said.endswith("!")
        params = tuple((said[:-1] if integral else said).split(","))
        reader.scope = Scope(set(), [], [*params, "out"])
        slopes: dict[str, E] = {}
        for slope in rest:
            at = slope.find("=")
            slopes[slope[:at]] = reader.e(Formula(slope[at + 1 :], 0, []))
        found[name] = Slopes(params, slopes, integral)
    return found


def nobody(name: str) -> Callee:
    """Routines run no bodies."""
    raise ValueError(name)


def numbered(names: list[str], text: str) -> tuple[str, ...]:
    return tuple([names[int(n)] for n in text.split(",")])


def unchecked(p: Program, after: str, unknown: bool) -> None:
    """The build has checked what is derived here."""
