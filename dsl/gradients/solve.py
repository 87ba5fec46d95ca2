"""Equations in loop variables: a scatter turned round into a gather.

`gather` asks, for each element k of a target, at which points of a loop nest an index expression equals
k, and solves those equations for as many loops as it can; what is left is a sum with a filter.  `tighten`
does the same for equations that a definition wrote in its own filter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ..ir.affine import Linear, always, linear, minus, shorter
from ..ir.axes import Axis
from ..ir.builders import ONE, ZERO, add, cond, conj, conjuncts, floordiv, idx, is_binary, is_const, mul, neg, pack, sub
from ..ir.expression import Binary, Call, Constant, E, Pack, Symbol, show
from ..ir.program import Fresh, Loop, Stmt
from ..ir.rewriting import reads, subst, transform
from ..ir.tidy import masks, simplify


@dataclass(frozen=True)
class Sizes:
    """What is known of the numbers that a call decides.

    kin: the length of one axis -> the length that it grows with: a convolution's result is about as long as its input.
    positive: symbols that a call cannot make 0 or less."""

    kin: Mapping[str, str] = field(default_factory=dict)
    positive: frozenset[str] = frozenset()


class Unsolvable(Exception):
    """An index is read from a tensor, rounded, or not affine: the statement stays a scatter."""


def put(e: E, old: E, new: E) -> E:
    """e with `new` in the place of the subexpression `old`."""
    return transform(e, lambda n: new if n is old else None)


class System:
    """Loops not yet solved for, the equations on them, and expressions that follow the solution."""

    def __init__(self, loops: list[Loop], conditions: list[E], fresh: Fresh, sizes: Sizes, extents: list[E | None]):
        self.kin = sizes.kin
        # An axis without elements has no points to solve for.
        self.positive = sizes.positive | {
            e.name for e in (*extents, *(v.extent for v in loops)) if isinstance(e, Symbol)
        }
        self.left = {v.name: v for v in loops}
        self.rank = {v.name: i for i, v in enumerate(loops)}  # outer loops are solved for first
        self.conditions = conditions
        self.equations: list[tuple[E, E, E | None]] = []  # index == value, value < extent (None: not known)
        self.env: dict[str, E] = {}
        self.divided: list[tuple[E, E]] = []  # quotients whose value an equation gives
        self.fresh = fresh

    def settle(self, name: str, value: E, exact: bool = False) -> None:
        """The loop `name` has this value: put it everywhere; unless exact, it must lie in the loop's range."""
        loop = self.left.pop(name)
        here = {name: value}
        self.env = {v: subst(x, here) for v, x in self.env.items()} | here
        self.equations = [(subst(e, here), subst(k, here), n) for e, k, n in self.equations]
        self.conditions = [subst(p, here) for p in self.conditions]
        if not exact:
            self.conditions += [Binary(">=", value, ZERO), Binary("<", value, loop.length)]

    def new_loop(self, stem: str, extent: E) -> E:
        name = self.fresh(stem)
        self.left[name] = Loop(name, extent)
        self.rank[name] = len(self.rank)
        return idx(name)

    def solve(self) -> None:
        """Solves every equation or raises Unsolvable.

        An index read from a tensor cannot be solved for; where nothing else is left to run over, it is a
        filter: at most one point of the nest reaches each element."""
        data = [q for q in self.equations if reads(q[0])]
        self.equations = [q for q in self.equations if not reads(q[0])]
        self.exact_divisions()
        while (pick := self.pivot()) is not None:
            self.eliminate(*pick)
        while self.equations:
            self.rounded(*self.equations.pop(0))
        if data and self.left:
            raise Unsolvable(show(data[0][0]))
        self.conditions += [Binary("==", subst(e, self.env), k) for e, k, _ in data]

    def exact_divisions(self) -> None:
        """e // b == k where a filter says e % b == 0: e == b*k."""
        for i, (e, k, _) in enumerate(self.equations):
            if not is_binary(e, "//"):
                continue
            whole = Binary("==", Binary("%", e.left, e.right), ZERO)
            if whole not in self.conditions or not self.above_zero(e.right):
                continue
            self.conditions.remove(whole)
            self.equations[i] = (e.left, mul(k, e.right), None)
            self.divided.append((e, k))
            self.conditions = [put(p, e, k) for p in self.conditions]

    def finish(self, outer: list[Loop], *expressions: E) -> tuple[E | None, list[E], tuple[Loop, ...]]:
        """The filter that is left, the expressions with the solution put in, and the loops that are left."""
        exact: list[tuple[E, E]] = []
        for p in self.conditions:  # where e % d == 0:  e // d * d == e
            if is_binary(p, "==") and is_binary(p.left, "%") and p.right is ZERO:
                e, d = p.left.left, p.left.right
                if self.never_zero(d):
                    exact.append((mul(Binary("//", e, d), d), e))

        def settled(e: E) -> E:
            for old, new in self.divided:
                e = put(e, old, new)
            e = subst(e, self.env)
            for quotient, whole in exact:
                e = put(e, quotient, whole)
            return transform(e, lambda n: shorter(n) if is_binary(n, "+", "-") else None)

        left = tuple(self.left.values())
        conditions = [p for p in map(settled, self.conditions) if not always(p, outer + list(left))]
        conditions.sort(key=lambda p: bool(reads(p)))  # those that read come after those that make the read legal
        return conj(*conditions), [settled(e) for e in expressions], left

    def above_zero(self, e: E) -> bool:
        """Whether e is seen to be at least 1: indices divide by it."""
        match e:
            case Constant():
                return e.kind != "b" and e.value > 0
            case Symbol(name):
                return name in self.positive
            case Binary("*", left, right):
                return self.above_zero(left) and self.above_zero(right)
            case Binary("+", left, right):
                return all(self.above_zero(x) or is_const(x, 0) for x in (left, right))
            case Call("max", operands):
                return any(self.above_zero(x) for x in operands)
            case _:
                return False

    def never_zero(self, e: E) -> bool:
        return self.above_zero(e) or self.above_zero(neg(e)) or is_const(e) and e.value < 0

    def pivot(self) -> tuple[int, str, Linear] | None:
        """The cheapest (equation, loop): an index alone; then a loop about as long as the axis, so that the
        shorter ones are left; then a coefficient of +-1; then any."""
        best: tuple[tuple[bool, bool, bool, int], tuple[int, str, Linear]] | None = None
        for i, (e, _, n) in enumerate(self.equations):
            form = linear(e, frozenset(self.left))
            if form is None:
                continue
            for v, c in form.factors.items():
                if not self.never_zero(c):
                    continue
                unit = is_const(c, 1) or is_const(c, -1)
                cost = (e != idx(v), not self.related(self.left[v].extent, n), not unit, self.rank[v])
                if best is None or cost < best[0]:
                    best = cost, (i, v, form)
        return None if best is None else best[1]

    def related(self, a: E | None, b: E | None) -> bool:
        """Whether two lengths grow together."""
        return a is b or self.root(a) != "" and self.root(a) == self.root(b)

    def root(self, e: E | None) -> str:
        """The length that a length grows with, or itself."""
        return self.kin.get(e.name, e.name) if isinstance(e, Symbol) else ""

    def eliminate(self, i: int, v: str, form: Linear) -> None:
        """Solves equation i, affine, for the loop v."""
        e, k, n = self.equations.pop(i)
        coefficients, rest = form.factors, form.rest
        c = coefficients[v]
        for w, cw in coefficients.items():
            if w != v:
                rest = add(rest, mul(cw, idx(w)))
        if e == idx(v):
            self.settle(v, k, exact=n is not None and self.left[v].extent == n)
        elif is_const(c, 1):
            self.settle(v, minus(k, rest))
        elif is_const(c, -1):
            self.settle(v, minus(rest, k))
        else:
            numerator = minus(k, rest)
            self.conditions.append(Binary("==", Binary("%", numerator, c), ZERO))
            self.settle(v, Binary("//", numerator, c))

    def rounded(self, e: E, k: E, n: E | None) -> None:
        """An equation with a division or remainder, or one without loops, which is a condition."""
        if e.loops.isdisjoint(self.left):
            if e != k:
                self.conditions.append(Binary("==", e, k))
            return
        if not is_binary(e, "//", "%") or e.right.loops:
            raise Unsolvable(show(e))
        form = linear(e.left, frozenset(self.left))
        if form is None or len(form.factors) != 1:
            raise Unsolvable(show(e))
        v, a = list(form.factors.items())[0]
        c, b = form.rest, e.right
        if not self.above_zero(b):
            raise Unsolvable(show(e))
        extent = self.left[v].length
        if e.operator == "//" and is_const(a, 1):  # v = b*k - c + u, u < b
            self.settle(v, add(minus(mul(b, k), c), self.new_loop("u", b)))
        elif e.operator == "//" and self.above_zero(a):  # b*k <= a*v + c < b*(k + 1)
            first = floordiv(add(minus(minus(mul(b, k), c), ONE), a), a)
            value = add(first, self.new_loop("u", add(floordiv(b, a), ONE)))
            self.conditions.append(Binary("<", add(mul(a, value), c), mul(b, add(k, ONE))))
            self.settle(v, value)
        elif e.operator == "%" and is_const(a, 1) and extent is b:  # a rotation: exactly one
            if n != b:
                self.conditions.append(Binary("<", k, b))
            self.settle(v, Binary("%", minus(k, c), b), exact=True)
        elif e.operator == "%" and is_const(a, 1):  # v = (k - c) % b + b*t
            if n != b:
                self.conditions.append(Binary("<", k, b))
            turns = self.new_loop("t", floordiv(add(extent, sub(b, ONE)), b))
            self.settle(v, add(Binary("%", minus(k, c), b), mul(b, turns)))
        else:
            raise Unsolvable(show(e))


def gather(
    target: str,
    at: tuple[E, ...],
    names: list[str | None],
    axes: list[Axis],
    loops: list[Loop],
    condition: E | None,
    body: E,
    fresh: Fresh,
    inside: E | None = None,
    sizes: Sizes = Sizes(),
) -> Stmt:
    """target[at] += body over loops where condition   ==>   target[k] = sum[what is left] body.

    names: the loop of k for each logical axis of the target, None where the axis has length 1; none of
    them may be a name in `loops`.  If an equation cannot be solved the answer is the scatter itself, mode
    `+=`, also filtered by `inside` (the gather needs no such filter: k is inside by construction)."""
    if any(reads(e) for e in at):  # which may be legal only where the body counts
        condition, body = unmasked(condition, body)
    system = System(loops, conjuncts(condition), fresh, sizes, [a.extent for a in axes])
    index: list[E] = []
    out: list[Loop] = []
    try:
        for e, name, axis in zip(at, names, axes):
            if name is None:
                index.append(ZERO)
            elif axis.pack:
                if not isinstance(e, Pack) or e.loop not in system.left or system.left[e.loop].pack != axis.pack:
                    raise Unsolvable(show(e))
                system.settle(e.loop, pack(name), exact=True)
                index.append(pack(name))
                out.append(Loop(name, pack=axis.pack))
            else:
                system.equations.append((e, idx(name), axis.extent))
                index.append(idx(name))
                out.append(Loop(name, axis.extent))
        system.solve()
    except Unsolvable:
        condition, body = unmasked(condition, body)
        return Stmt(target, at, tuple(loops), body, pred=conj(condition, inside), mode="+=")
    p, bodies, left = system.finish(out, body)
    b = bodies[0]
    if left:
        return Stmt(target, tuple(index), tuple(out), b, "sum", left, p)
    return Stmt(target, tuple(index), tuple(out), cond(p, b, ZERO))


def unmasked(condition: E | None, body: E) -> tuple[E | None, E]:
    """The conditions without which a body is nothing, as part of the filter: where they fail nothing is written, for
    there the place may not even exist."""
    conditions, body = masks(simplify(body))
    return conj(condition, *conditions), body


def tighten(s: Stmt, fresh: Fresh, sizes: Sizes = Sizes()) -> Stmt:
    """Solves equations in a filter:  sum[i, k if i*2 + k == y] f(i, k)  runs over i alone, with k = y - i*2."""
    if s.red != "sum" or s.pred is None:
        return s
    inner = frozenset(v.name for v in s.rloops if not v.pack)
    outer: dict[E, E | None] = {idx(v.name): v.extent for v in s.loops if not v.pack}
    equations: list[tuple[E, E, E | None]] = []
    conditions: list[E] = []
    for p in conjuncts(s.pred):
        if not is_binary(p, "==") or p.reads:
            conditions.append(p)
            continue
        left, right = linear(p.left, inner), linear(p.right, inner)
        if left is None or right is None or not left.factors and not right.factors:
            conditions.append(p)
        elif not right.factors:
            equations.append((p.left, p.right, outer.get(p.right)))
        elif not left.factors:
            equations.append((p.right, p.left, outer.get(p.left)))
        else:
            equations.append((minus(p.left, p.right), ZERO, None))
    if not equations:
        return s
    system = System([v for v in s.rloops if not v.pack], conditions, fresh, sizes, [v.extent for v in s.loops])
    system.equations = equations
    try:
        system.solve()
    except Unsolvable:
        return s
    pred, bodies, solved = system.finish(list(s.loops), s.body)
    body = bodies[0]
    rloops = tuple([v for v in s.rloops if v.pack]) + solved
    if rloops:
        return replace(s, body=body, rloops=rloops, pred=pred)
    return replace(s, body=cond(pred, body, ZERO), red=None, rloops=(), pred=None)
