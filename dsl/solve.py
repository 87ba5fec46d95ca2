"""Equations in loop variables: a scatter turned round into a gather.

`gather` asks, for each element k of a target, at which points of a loop nest an index expression equals
k, and solves those equations for as many loops as it can; what is left is a sum with a filter.  `tighten`
does the same for equations that a definition wrote in its own filter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from .affine import always, shorter
from .axes import Axis
from .expression import (
    ONE,
    ZERO,
    E,
    add,
    cond,
    conj,
    conjuncts,
    floordiv,
    idx,
    indices,
    is_const,
    mul,
    neg,
    pack,
    reads,
    sub,
    subst,
    transform,
)
from .ir import Fresh, Loop, Stmt


@dataclass(frozen=True)
class Sizes:
    """What is known of the numbers that a call decides.

    kin: the length of one axis -> the length that it grows with: a convolution's result is about as long as its input.
    positive: symbols that a call cannot make 0 or less."""

    kin: Mapping[str, str] = field(default_factory=dict)
    positive: frozenset[str] = frozenset()


class Unsolvable(Exception):
    """An index is read from a tensor, rounded, or not affine: the statement stays a scatter."""


def linear(e: E, names: set[str]) -> tuple[dict[str, E], E] | None:
    """e as ({loop: coefficient}, rest), affine in the single loops `names`; None if it is not."""
    if e.op == "idx" and e.val in names:
        return {e.val: ONE}, ZERO
    if not indices(e) & names:
        return {}, e
    a = e.args
    match e.op:
        case "+" | "-":
            left, right = linear(a[0], names), linear(a[1], names)
            if left is None or right is None:
                return None
            join = add if e.op == "+" else minus
            c = dict(left[0])
            for v, k in right[0].items():
                c[v] = join(c.get(v, ZERO), k)
            return {v: k for v, k in c.items() if not is_const(k, 0)}, join(left[1], right[1])
        case "neg":
            inner = linear(a[0], names)
            return None if inner is None else ({v: neg(k) for v, k in inner[0].items()}, neg(inner[1]))
        case "*":
            for x, y in (a, a[::-1]):
                if not indices(x) & names and (inner := linear(y, names)):
                    return {v: mul(x, k) for v, k in inner[0].items()}, mul(x, inner[1])
    return None


def minus(a: E, b: E) -> E:
    """a - b for whole numbers, without brackets where b is itself a sum."""
    if b.op == "+":
        return minus(minus(a, b.args[0]), b.args[1])
    if b.op == "-":
        return add(minus(a, b.args[0]), b.args[1])
    return sub(a, b)


def put(e: E, old: E, new: E) -> E:
    """e with `new` in the place of the subexpression `old`."""
    return transform(e, lambda n: new if n == old else None)


class System:
    """Loops not yet solved for, the equations on them, and expressions that follow the solution."""

    def __init__(self, loops: list[Loop], conditions: list[E], fresh: Fresh, sizes: Sizes, extents: list[E | None]):
        self.kin = sizes.kin
        # An axis without elements has no points to solve for.
        self.positive = sizes.positive | {
            e.val for e in (*extents, *(v.extent for v in loops)) if e is not None and e.op == "sym"
        }
        self.left = {v.name: v for v in loops}
        self.rank = {v.name: i for i, v in enumerate(loops)}  # outer loops are solved for first
        self.conditions = conditions
        self.equations: list[tuple[E, E, E | None]] = []  # index == value, value < extent (None: not known)
        self.env: dict[str, E] = {}
        self.divided: list[tuple[E, E]] = []  # quotients whose value an equation gives
        self.fresh = fresh

    def settle(self, name: str, value: E, exact: bool = False):
        """The loop `name` has this value: put it everywhere; unless exact, it must lie in the loop's range."""
        extent = self.left.pop(name).extent
        here = {name: value}
        self.env = {v: subst(x, here) for v, x in self.env.items()} | here
        self.equations = [(subst(e, here), subst(k, here), n) for e, k, n in self.equations]
        self.conditions = [subst(p, here) for p in self.conditions]
        if not exact:
            self.conditions += [E(">=", (value, ZERO)), E("<", (value, extent))]

    def new_loop(self, stem: str, extent: E) -> E:
        name = self.fresh(stem)
        self.left[name] = Loop(name, extent)
        self.rank[name] = len(self.rank)
        return idx(name)

    def solve(self):
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
            raise Unsolvable(data[0][0])
        self.conditions += [E("==", (subst(e, self.env), k)) for e, k, _ in data]

    def exact_divisions(self):
        """e // b == k where a filter says e % b == 0: e == b*k."""
        for i, (e, k, _n) in enumerate(self.equations):
            if e.op != "//":
                continue
            whole = E("==", (E("%", e.args), ZERO))
            if whole not in self.conditions or not self.above_zero(e.args[1]):
                continue
            self.conditions.remove(whole)
            self.equations[i] = (e.args[0], mul(k, e.args[1]), None)
            self.divided.append((e, k))
            self.conditions = [put(p, e, k) for p in self.conditions]

    def finish(self, outer: list[Loop], *expressions: E) -> tuple[E | None, list[E], tuple[Loop, ...]]:
        """The filter that is left, the expressions with the solution put in, and the loops that are left."""

        def settled(e: E) -> E:
            for old, new in self.divided:
                e = put(e, old, new)
            e = subst(e, self.env)
            for quotient, whole in exact:
                e = put(e, quotient, whole)
            return transform(e, lambda n: shorter(n) if n.op in ("+", "-") else None)

        exact: list[tuple[E, E]] = []
        for p in self.conditions:  # where e % d == 0:  e // d * d == e
            if p.op == "==" and p.args[0].op == "%" and p.args[1] == ZERO:
                e, d = p.args[0].args
                if self.never_zero(d):
                    exact.append((mul(E("//", (e, d)), d), e))
        left = tuple(self.left.values())
        conditions = [p for p in map(settled, self.conditions) if not always(p, outer + list(left))]
        conditions.sort(key=lambda p: bool(reads(p)))  # those that read come after those that make the read legal
        return conj(*conditions), [settled(e) for e in expressions], left

    def above_zero(self, e: E) -> bool:
        """Whether e is seen to be at least 1: indices divide by it."""
        match e.op:
            case "const":
                return is_const(e) and e.val > 0
            case "sym":
                return e.val in self.positive
            case "*":
                return all(map(self.above_zero, e.args))
            case "+":
                return all(self.above_zero(a) or is_const(a, 0) for a in e.args)
            case "call" if e.val == "max":
                return any(map(self.above_zero, e.args))
        return False

    def never_zero(self, e: E) -> bool:
        return self.above_zero(e) or self.above_zero(neg(e)) or is_const(e) and e.val < 0

    def pivot(self):
        """The cheapest (equation, loop): an index alone; then a loop about as long as the axis, so that the
        shorter ones are left; then a coefficient of +-1; then any."""
        best = None
        for i, (e, _, n) in enumerate(self.equations):
            form = linear(e, set(self.left))
            for v, c in (form[0] if form else {}).items():
                if not self.never_zero(c):
                    continue
                unit = is_const(c, 1) or is_const(c, -1)
                cost = (e != idx(v), not self.related(self.left[v].extent, n), not unit, self.rank[v])
                if best is None or cost < best[0]:
                    best = (cost, i, v, form)
        return best and best[1:]

    def related(self, a: E | None, b: E | None) -> bool:
        """Whether two lengths grow together."""
        root = lambda e: self.kin.get(e.val, e.val) if e is not None and e.op == "sym" else None
        return a == b or root(a) is not None and root(a) == root(b)

    def eliminate(self, i: int, v: str, form: tuple[dict[str, E], E]):
        """Solves equation i, affine, for the loop v."""
        e, k, n = self.equations.pop(i)
        coefficients, rest = form
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
            self.conditions.append(E("==", (E("%", (numerator, c)), ZERO)))
            self.settle(v, E("//", (numerator, c)))

    def rounded(self, e: E, k: E, n: E | None):
        """An equation with a division or remainder, or one without loops, which is a condition."""
        if not indices(e) & set(self.left):
            if e != k:
                self.conditions.append(E("==", (e, k)))
            return
        form = linear(e.args[0], set(self.left)) if e.op in ("//", "%") and not indices(e.args[1]) else None
        if form is None or len(form[0]) != 1:
            raise Unsolvable(e)
        ((v, a),), c, b = form[0].items(), form[1], e.args[1]
        if not self.above_zero(b):
            raise Unsolvable(e)
        extent = self.left[v].extent
        if e.op == "//" and is_const(a, 1):  # v = b*k - c + u, u < b
            self.settle(v, add(minus(mul(b, k), c), self.new_loop("u", b)))
        elif e.op == "//" and self.above_zero(a):  # b*k <= a*v + c < b*(k + 1)
            first = floordiv(add(minus(minus(mul(b, k), c), ONE), a), a)
            value = add(first, self.new_loop("u", add(floordiv(b, a), ONE)))
            self.conditions.append(E("<", (add(mul(a, value), c), mul(b, add(k, ONE)))))
            self.settle(v, value)
        elif e.op == "%" and is_const(a, 1) and extent == b:  # a rotation: exactly one
            if n != b:
                self.conditions.append(E("<", (k, b)))
            self.settle(v, E("%", (minus(k, c), b)), exact=True)
        elif e.op == "%" and is_const(a, 1):  # v = (k - c) % b + b*t
            if n != b:
                self.conditions.append(E("<", (k, b)))
            turns = self.new_loop("t", floordiv(add(extent, sub(b, ONE)), b))
            self.settle(v, add(E("%", (minus(k, c), b)), mul(b, turns)))
        else:
            raise Unsolvable(e)


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
    system = System(loops, conjuncts(condition), fresh, sizes, [a.extent for a in axes])
    index, out = [], []
    try:
        for e, name, axis in zip(at, names, axes):
            if name is None:
                index.append(ZERO)
            elif axis.pack:
                loop = system.left.get(e.val) if e.op == "pack" else None
                if loop is None or loop.pack != axis.pack:
                    raise Unsolvable(e)
                system.settle(e.val, pack(name), exact=True)
                index.append(pack(name))
                out.append(Loop(name, pack=axis.pack))
            else:
                system.equations.append((e, idx(name), axis.extent))
                index.append(idx(name))
                out.append(Loop(name, axis.extent))
        system.solve()
    except Unsolvable:
        return Stmt(target, at, tuple(loops), body, pred=conj(condition, inside), mode="+=")
    p, (b,), left = system.finish(out, body)
    if left:
        return Stmt(target, tuple(index), tuple(out), b, "sum", left, p)
    return Stmt(target, tuple(index), tuple(out), cond(p, b, ZERO))


def tighten(s: Stmt, fresh: Fresh, sizes: Sizes = Sizes()) -> Stmt:
    """Solves equations in a filter:  sum[i, k if i*2 + k == y] f(i, k)  runs over i alone, with k = y - i*2."""
    if s.red != "sum" or s.pred is None:
        return s
    inner = {v.name for v in s.rloops if not v.pack}
    outer = {idx(v.name): v.extent for v in s.loops if not v.pack}
    equations, conditions = [], []
    for p in conjuncts(s.pred):
        sides = p.args if p.op == "==" else ()
        forms = [linear(x, inner) if not reads(x) else None for x in sides]
        if not sides or None in forms or not any(f[0] for f in forms):
            conditions.append(p)
        elif not forms[1][0]:
            equations.append((sides[0], sides[1], outer.get(sides[1])))
        elif not forms[0][0]:
            equations.append((sides[1], sides[0], outer.get(sides[0])))
        else:
            equations.append((minus(*sides), ZERO, None))
    if not equations:
        return s
    system = System([v for v in s.rloops if not v.pack], conditions, fresh, sizes, [v.extent for v in s.loops])
    system.equations = equations
    try:
        system.solve()
    except Unsolvable:
        return s
    p, (body,), left = system.finish(list(s.loops), s.body)
    left = tuple(v for v in s.rloops if v.pack) + left
    if left:
        return replace(s, body=body, rloops=left, pred=p)
    return replace(s, body=cond(p, body, ZERO), red=None, rloops=(), pred=None)
