"""Statements that read more tensors than a kernel of a GPU binds, as several that read fewer.

Sums come apart into statements that add up (`added_up`); of any other formula a part goes to a temporary of its own
(`narrowed`).  The CPU binds any number: there it costs what the temporaries take."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

from .axes import loop_dim, loop_index
from .builders import ONE, ZERO, is_binary, is_condition, is_loop, joined_by, read
from .expression import Binary, Call, Cast, E, Random, RawResult, Read, Select, Unary, walk
from .intrinsics import PREDICATES
from .program import Fresh, Program, Stmt, Tensor
from .rewriting import transform

MOST_TENSORS = 8  # WebGPU promises eight storage buffers to a kernel


def fits(s: Stmt) -> bool:
    """Whether a kernel can bind all that a statement names; a body has launches of its own."""
    return isinstance(s.body, RawResult) or len(s.inputs | {s.target}) <= MOST_TENSORS


# --- Sums ------------------------------------------------------------------------------------------


def added_up(s: Stmt) -> list[Stmt]:
    """A statement over too many tensors as several that add up, where it is a sum."""
    if fits(s) or s.mode not in ("=", "+=") or s.red not in (None, "sum"):
        return [s]
    if s.red is None and s.pred is not None:
        return [s]
    parts = terms(s.body)
    if len(parts) < 2:
        return [s]
    half = len(parts) // 2
    first, second = joined_by("+", parts[:half]), joined_by("+", parts[half:])
    return added_up(replace(s, body=first)) + added_up(replace(s, body=second, mode="+="))


def terms(e: E) -> list[E]:
    """What is added up: also through a sign, a product with one factor, a quotient's numerator and a choice."""
    match e:
        case Binary("+", left, right):
            return terms(left) + terms(right)
        case Binary("-", left, right):
            return terms(left) + [Unary("-", t) for t in terms(right)]
        case Binary("/", left, right):
            return [Binary("/", t, right) for t in terms(left)]
        case Binary("*", left, right):
            parts = terms(left)
            if len(parts) > 1:
                return [Binary("*", t, right) for t in parts]
            return [Binary("*", left, t) for t in terms(right)]
        case Unary("-", operand):
            return [Unary("-", t) for t in terms(operand)]
        case Select(condition, first, second):
            yes, no = terms(first), terms(second)
            rows = max(len(yes), len(no))
            if rows < 2:
                return [e]
            yes, no = yes + [ZERO] * (rows - len(yes)), no + [ZERO] * (rows - len(no))
            return [Select(condition, a, b) for a, b in zip(yes, no, strict=True)]
        case _:
            return [e]


# --- Other formulas --------------------------------------------------------------------------------


def narrowed(p: Program, fresh: Fresh, whole: bool) -> None:
    """Changes the program: the statements that are no sums of narrower ones read temporaries.

    whole: whether the program's type may be one of whole numbers; a temporary of it holds no fractions."""
    out: list[Stmt] = []
    for s in p.stmts:
        parts = added_up(s)
        for part in [s] if all(map(fits, parts)) else parts:  # else the kernels' maker takes the sum apart
            out += in_steps(part, p, fresh, whole)
    p.stmts = out


def in_steps(s: Stmt, p: Program, fresh: Fresh, whole: bool) -> list[Stmt]:
    """A statement after those for the temporaries that it then reads; alone, if that does not make it narrow."""
    if fits(s) or len(added_up(s)) > 1:
        return [s]
    narrow, steps = s, list[Stmt]()
    tensors = {**p.tensors}
    while not fits(narrow):
        found = taken_out(narrow, tensors, whole)
        if found is None:
            return [s]
        part, value = found
        loops = tuple([v for v in s.loops + s.rloops if v.name in value.loops])
        at = tuple(map(loop_index, loops))
        name = fresh("part")
        tensors[name] = Tensor(name, "temp", tuple(map(loop_dim, loops)))
        steps.append(Stmt(name, at, loops, value, when=s.when))
        kept: E = read(name, at)
        narrow = replace(narrow, body=put(narrow.body, part, Binary("!=", kept, ZERO) if is_condition(part) else kept))
    p.tensors = tensors
    return [*steps, narrow]


def put(e: E, old: E, new: E) -> E:
    return transform(e, lambda n: new if n is old else None)


def taken_out(s: Stmt, tensors: dict[str, Tensor], whole: bool) -> tuple[E, E] | None:
    """The part of a statement's formula without which it reads the fewest tensors, and is the shortest, and what a
    temporary for it holds; None: no part can be computed apart."""
    best: tuple[E, E] | None = None
    elsewhere = replace(s, body=ZERO).inputs
    least = (0, 0)
    for part, value in parts_of(s):
        given = {r.tensor for r in value.reads}
        if not 2 <= len(given) < MOST_TENSORS or s.target in given or not can_be_kept(part, tensors, whole):
            continue
        rest = beside(s.body, part)
        left = (len({n.tensor for n in rest if isinstance(n, Read)} | elsewhere), len(rest))
        if best is None or left < least:
            best, least = (part, value), left
    return best


def beside(e: E, part: E) -> set[E]:
    """What an expression is made of, beside a part of it."""
    found: set[E] = set()

    def visit(n: E) -> None:
        if n is not part and n not in found:
            found.add(n)
            for x in n.parts():
                visit(x)

    visit(e)
    return found


Path: TypeAlias = "tuple[tuple[E, bool], ...]"  # conditions that hold where a part is computed, and those that do not


def parts_of(s: Stmt) -> list[tuple[E, E]]:
    """The parts of a formula, each with what can be computed of it at every point: zero where nothing asks for it and
    it may read what is not there, and 1 or 0 for a condition."""
    paths: dict[E, Path | None] = {}  # None: under conditions that differ from place to place

    def visit(n: E, path: Path | None) -> None:
        if n in paths:
            path = common(paths[n], path)
            if path == paths[n]:
                return
        paths[n] = path
        if isinstance(n, Select):
            visit(n.condition, path)
            visit(n.yes, None if path is None else (*path, (n.condition, True)))
            visit(n.no, None if path is None else (*path, (n.condition, False)))
        elif not isinstance(n, Read):
            for i, x in enumerate(n.parts()):
                visit(x, path if i == 0 or not is_condition(n) else None)

    visit(s.body, () if s.pred is None else ((s.pred, True),))
    out: list[tuple[E, E]] = []
    for n, path in paths.items():
        value = Select(n, ONE, ZERO) if is_condition(n) else n
        if all(is_there(r) for r in n.reads):
            out.append((n, value))
        elif path is not None:
            out.append((n, where(path, value)))
    return out


def common(one: Path | None, other: Path | None) -> Path | None:
    """Under which conditions a part is computed that stands in two places: those of one, if the other asks for more."""
    if one is None or other is None:
        return None
    short, long = (one, other) if len(one) <= len(other) else (other, one)
    return short if long[: len(short)] == short else None


def where(path: Path, e: E) -> E:
    for condition, holds in reversed(path):
        e = Select(condition, e, ZERO) if holds else Select(condition, ZERO, e)
    return e


def is_there(r: Read) -> bool:
    """Whether there is something to be read at every point."""
    return r.fallback is not None or all(is_loop(i) for i in r.index)


def can_be_kept(e: E, tensors: dict[str, Tensor], whole: bool) -> bool:
    """Whether a formula is the same in a temporary of the program's type as in its place."""
    if any(isinstance(n, Random) for n in walk(e)):
        return False
    if is_condition(e):
        return True
    if whole and any(isinstance(n, Call) or is_binary(n, "/") for n in walk(e)):
        return False
    return of_type(e, tensors) and all(tensors[r.tensor].dtype != "float" for r in e.reads)


def of_type(e: E, tensors: dict[str, Tensor]) -> bool:
    """Whether a formula's values are of the program's type."""
    match e:
        case Read(tensor, _, _):
            return tensors[tensor].dtype == "T"
        case Cast(to, _):
            return to == "T"
        case Call(name, _) if name in PREDICATES:
            return False
        case Select(_, yes, no):
            return of_type(yes, tensors) or of_type(no, tensors)
        case _:
            return any(of_type(part, tensors) for part in e.parts())
