"""Random definitions in index notation, and what they mean element by element: nested reductions, filters, computed
indices, reads through an index tensor, fallbacks.  `made(seed)` is a definition with its brute-force meaning."""

from __future__ import annotations

import math
import operator
import random
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

SIZES = {"N": 4, "M": 5, "K": 3}
INPUTS = {"x": "NM", "y": "M", "w": "K", "z": "N"}  # z holds indices
COMPARE = {"<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne, ">": operator.gt}
BOUND = 9  # largest and least elements are kept finite: of nothing they are infinite

Env = dict  # index -> its value; "" -> the tensors


@dataclass(frozen=True)
class Formula:
    text: str
    value: Callable[[Env], float]


@dataclass(frozen=True)
class Statement:
    target: str
    axes: str  # of SIZES, each indexed by the small letter before it in INDICES
    formula: Formula

    @property
    def left(self) -> str:
        return f"{self.target}[{', '.join(INDICES[d] for d in self.axes)}]"


INDICES = {"N": "a", "M": "b", "K": "c"}


@dataclass(frozen=True)
class Definition:
    text: str
    statements: list[Statement]

    def brute(self, tensors: dict[str, np.ndarray]) -> np.ndarray:
        """`out`, one element after another."""
        tensors = dict(tensors)
        for s in self.statements:
            made = np.zeros([SIZES[d] for d in s.axes])
            for at in np.ndindex(*made.shape):
                made[at] = s.formula.value({**dict(zip((INDICES[d] for d in s.axes), at)), "": tensors})
            tensors[s.target] = made
        return tensors["out"]


class Generator:
    """Draws formulas.  bound: the indices that are known, with their sizes."""

    def __init__(self, seed: int):
        self.r, self.reductions, self.made = random.Random(seed), 0, {}

    def index(self, bound: dict[str, str], depth: int = 0) -> Formula:
        """A whole number from indices."""
        kind, names = self.r.random(), list(bound)
        if depth > 1 or kind < 0.45:
            return self.variable(self.r.choice(names))
        if kind < 0.6:
            return self.constant(self.r.randint(0, 3))
        a, b, k = self.index(bound, depth + 1), self.index(bound, depth + 1), self.r.randint(1, 3)
        x, y, p, q = a.value, b.value, a.text, b.text
        return self.r.choice(
            [
                Formula(f"({p} + {q})", lambda e: x(e) + y(e)),
                Formula(f"({p} - {q})", lambda e: x(e) - y(e)),
                Formula(f"({k} * {p})", lambda e: k * x(e)),
                Formula(f"({p} * {q})", lambda e: x(e) * y(e)),
                Formula(f"({p} // {k})", lambda e: x(e) // k),
                Formula(f"({p} % {k})", lambda e: x(e) % k),
                Formula(f"abs({p} - {q})", lambda e: abs(x(e) - y(e))),
                Formula(f"min({p}, {q})", lambda e: min(x(e), y(e))),
                Formula(f"({p} if {q} > {k} else {q})", lambda e: x(e) if y(e) > k else y(e)),
            ]
        )

    def variable(self, name: str) -> Formula:
        return Formula(name, lambda e: e[name])

    def constant(self, value: float) -> Formula:
        return Formula(f"({value})" if value < 0 else str(value), lambda e: value)

    def read(self, bound: dict[str, str]) -> Formula:
        """An element, or a fallback where the index lies outside."""
        known = {**INPUTS, **self.made}
        tensor = self.r.choice(list(known))
        at = [self.place(bound, d, tensor) for d in known[tensor]]
        other = round(self.r.uniform(-1, 1), 2)

        def value(e: Env) -> float:
            place, elements = tuple(int(i.value(e)) for i in at), e[""][tensor]
            return float(elements[place]) if all(0 <= p < n for p, n in zip(place, elements.shape)) else other

        return Formula(f"({tensor}[{', '.join(i.text for i in at)}] ?? {other})", value)

    def place(self, bound: dict[str, str], axis: str, tensor: str) -> Formula:
        fitting, rows = [n for n, d in bound.items() if d == axis], [n for n, d in bound.items() if d == "N"]
        if fitting and self.r.random() < 0.6:
            return self.variable(self.r.choice(fitting))
        if rows and tensor != "z" and self.r.random() < 0.25:
            row = self.r.choice(rows)
            return Formula(f"z[{row}]", lambda e: int(e[""]["z"][e[row]]))
        return self.index(bound)

    def condition(self, bound: dict[str, str]) -> Formula:
        whole = self.r.random() < 0.5
        a, b = (self.index(bound), self.index(bound)) if whole else (self.read(bound), self.read(bound))
        sign = self.r.choice(list(COMPARE) if whole else ["<", ">"])
        return Formula(f"{a.text} {sign} {b.text}", lambda e: COMPARE[sign](a.value(e), b.value(e)))

    def formula(self, bound: dict[str, str], depth: int) -> Formula:
        kind = self.r.random()
        if depth <= 0 or kind < 0.2:
            return self.read(bound)
        if kind < 0.28:
            return self.constant(round(self.r.uniform(-2, 2), 2))
        if kind < 0.33:
            return self.index(bound)
        if kind >= 0.85:
            return self.reduction(bound, depth)
        a = self.formula(bound, depth - 1)
        if kind >= 0.62 and kind < 0.7:
            name = self.r.choice(["sin", "tanh", "cos"])
            return Formula(f"{name}({a.text})", lambda e: getattr(math, name)(a.value(e)))
        b = self.formula(bound, depth - 1)
        if kind < 0.55:
            sign, of = self.r.choice([("+", operator.add), ("-", operator.sub), ("*", operator.mul)])
            return Formula(f"({a.text} {sign} {b.text})", lambda e: of(a.value(e), b.value(e)))
        if kind < 0.62:
            return Formula(f"({a.text} / (1.5 + {b.text} ** 2))", lambda e: a.value(e) / (1.5 + b.value(e) ** 2))
        if kind < 0.76:
            name, which = self.r.choice([("max", max), ("min", min)])
            return Formula(f"{name}({a.text}, {b.text})", lambda e: which(a.value(e), b.value(e)))
        q = self.condition(bound)
        return Formula(f"({a.text} if {q.text} else {b.text})", lambda e: a.value(e) if q.value(e) else b.value(e))

    def reduction(self, bound: dict[str, str], depth: int) -> Formula:
        self.reductions += 1
        name, size, kind = (
            f"i{self.reductions}",
            self.r.choice(list(SIZES)),
            self.r.choice(["sum", "sum", "max", "min", "mean", "prod"]),
        )
        inner = {**bound, name: size}
        q = self.condition(inner) if kind != "mean" and self.r.random() < 0.4 else None
        a = self.formula(inner, depth - 1)
        of = {
            "sum": sum,
            "prod": math.prod,
            "mean": lambda all: sum(all) / len(all),
            "max": lambda all: max(all, default=-math.inf),
            "min": lambda all: min(all, default=math.inf),
        }[kind]
        value = lambda e: of(
            [a.value(here) for i in range(SIZES[size]) for here in [{**e, name: i}] if q is None or q.value(here)]
        )
        text = f"({kind}[{name} < {size}{f' if {q.text}' if q else ''}] {a.text})"
        if kind not in ("max", "min"):
            return Formula(text, value)
        return Formula(f"min(max({text}, {-BOUND}), {BOUND})", lambda e: min(max(value(e), -BOUND), BOUND))


def made(seed: int) -> Definition:
    g, statements = Generator(seed), []
    for target, depth in [*[(t, 2) for t in "su"[: g.r.randint(0, 2)]], ("out", 3)]:
        axes = g.r.choice(["N", "M", "NM"])
        formula = g.formula({INDICES[d]: d for d in axes}, depth)
        # Reads by every index, so that each loop has its length.
        size = f" + 0 * x[{'a' if 'N' in axes else 0}, {'b' if 'M' in axes else 0}]" if target != "out" else ""
        statements.append(Statement(target, axes, Formula(formula.text + size, formula.value)))
        g.made[target] = axes
    used = {"out"}
    for s in reversed(statements):
        if s.target in used:
            used |= {t for t in "su" if f"{t}[" in s.formula.text}
    statements = [s for s in statements if s.target in used]
    lines = "\n".join(f"    {s.left} = {s.formula.text}" for s in statements)
    return Definition(
        f"op f(x: Float[N, M], y: Float[M], w: Float[K], z: Int[N]) -> Float[{', '.join(statements[-1].axes)}]\n"
        f'    require N == 4 and M == 5 and K == 3, "sizes"\n{lines}\n',
        statements,
    )
