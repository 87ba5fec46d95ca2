"""Small passes over small trees."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from interned import Interned

Order = Literal["up", "down"]
ZERO, ONE = 0, 1


class NoRule(Exception):
    """Nothing is known of a node."""


@dataclass(frozen=True, eq=False)
class Expression(ABC):
    """A tree; each is equal to itself alone."""

    @property
    @abstractmethod
    def parts(self) -> tuple[Expression, ...]:
        """What it is made of."""

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset(n for p in self.parts for n in p.names)

    def depth(self, start: int = 0) -> int:
        return start + max((p.depth(1) for p in self.parts), default=0)


@dataclass(frozen=True, eq=False)
class Name(Expression):
    text: str

    @property
    def parts(self) -> tuple[Expression, ...]:
        return ()

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset((self.text,))


@dataclass(frozen=True, eq=False)
class Count(Expression):
    value: int

    @property
    def parts(self) -> tuple[Expression, ...]:
        return ()


@dataclass(frozen=True, eq=False)
class Sum(Expression):
    left: Expression
    right: Expression = field(default=Count(0))

    @property
    def parts(self) -> tuple[Expression, ...]:
        return self.left, self.right


class Node(metaclass=Interned):
    def size(self) -> int:
        return 1


@dataclass(frozen=True, eq=False)
class Leaf(Node):
    name: str
    places: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Pair(Node):
    left: Node
    right: Node | None

    def size(self) -> int:
        return self.left.size() + (self.right.size() if self.right is not None else 0)


def once(n: int) -> list[bool | int]:
    a, b = Leaf("a", (1, n)), Leaf("a", (1, n))
    pair = Pair(a, None)
    table = {pair: 1, Pair(b, b): 2}
    same: list[bool | int] = [a is b, Pair(b, None) is pair, Pair(b, a) is pair, Leaf("a", (n, 1)) == a, a is Leaf("b", (1, n))]
    return [*same, table[Pair(b, None)], table[Pair(a, a)], Pair(pair, pair).size()]


@dataclass(frozen=True)
class Range:
    """Equal where its fields are."""

    name: str
    stop: int | None = None
    steps: tuple[int, ...] = ()

    @property
    def length(self) -> int:
        return self.stop or 0

    @cached_property
    def doubled(self) -> int:
        return 2 * self.length

    def shifted(self, by: int, *, name: str = "") -> Range:
        return replace(self, stop=self.length + by, name=name or self.name)


class Fresh:
    """Names that nobody has."""

    def __init__(self, taken: set[str], start: int = 0):
        self.taken, self.start = set(taken), start
        self.count: dict[str, int] = {}

    def name(self, stem: str) -> str:
        stem = stem.rstrip("_").rstrip("0123456789") or "v"
        n = self.count.get(stem, self.start)
        self.count[stem] = n + 1
        made = f"{stem}{n}_"
        return self.name(stem) if made in self.taken else made


def shown(e: Expression) -> str:
    match e:
        case Name(text):
            return text
        case Count(value=0):
            return "nothing"
        case Count(value):
            return str(value)
        case Sum(Count(a), Count(b)) if a == b:
            return f"2 {a}"
        case Sum(left, right=Count() as n):
            return f"{shown(left)} + {n.value}"
        case Sum(left, right):
            return f"({shown(left)} + {shown(right)})"
    raise NoRule("no rule")


def tree(n: int) -> Expression:
    return Name(f"x{n}") if n % 3 == 0 else Count(n) if n % 3 == 1 else Sum(tree(n - 1), tree(n // 2))


def walk(e: Expression | None) -> Iterator[Expression]:
    """All nodes, each before its parts."""
    left = [] if e is None else [e]
    while left:
        n = left.pop()
        yield n
        left.extend(n.parts[::-1])


def leaves(e: Expression) -> Iterator[str]:
    if isinstance(e, Sum):
        for p in e.parts:
            yield from leaves(p)
    elif isinstance(e, Name | Count):
        yield shown(e)


def transform(e: Expression, f: Callable[[Expression], Expression | None]) -> Expression:
    done: dict[Expression, Expression] = {}
    made = 0

    def visit(e: Expression) -> Expression:
        nonlocal made
        if (found := done.get(e)) is not None:
            return found
        if isinstance(e, Sum):
            left, right = visit(e.left), visit(e.right)
            n: Expression = e if (left, right) == (e.left, e.right) else Sum(left, right)
        else:
            n = e
        r = f(n)
        if r is not None:
            made += 1
        done[e] = out = n if r is None else r
        return out

    return Sum(visit(e), Count(made))


def rewritten(n: int) -> list[str]:
    grown = transform(tree(n), lambda e: Count(e.value + 1) if isinstance(e, Count) else None)
    names = sorted(grown.names)
    return [shown(grown), *names, " ".join(leaves(grown)), str(sum(1 for _ in walk(grown))), str(grown.depth(start=2))]


def collections(words: list[str], more: list[str]) -> list[list[str]]:
    a, b = set(words), {w for w in more if w}
    both = a & b
    either = a | b
    either |= {"z"}
    either.update(words[:1])
    either.discard("q")
    lone: set[str] = set()
    lone.add("one")
    answers = ["a" in a, a <= either, a < a, a.isdisjoint(["k"]), not lone - a, bool(both), len(either) > 2]
    united = frozenset[str]().union(*[{w} for w in words])
    joined = set().union(a, b)
    return [sorted(both), sorted(either), sorted(a - b), [str(int(x)) for x in answers], sorted(united), sorted(joined)]


def tables(words: list[str]) -> list[str]:
    by_length: dict[int, list[str]] = {}
    for w in words:
        by_length.setdefault(len(w), []).append(w)
    first: dict[str, str] = {}
    for w in words:
        first.setdefault(w[0], w)
    lengths = {w: n for n, w in enumerate(words)}
    places = {Name(w): w for w in words}
    again = {**lengths, "new": 9} | {"end": 1}
    taken = again.pop("new")
    del again["end"]
    swapped = {n: w for w, n in lengths.items() if n > 0}
    keys = [k for k in by_length if k in by_length and 77 not in by_length]
    unique = list(dict.fromkeys(words))
    return [
        *[f"{k}:{'.'.join(v)}" for k, v in sorted(by_length.items())],
        *first.values(),
        str(taken),
        str(len(again)),
        *[swapped[n] for n in sorted(swapped)],
        str(sum(keys)),
        *unique,
        str(len(places)),
        *[e.text for e in places if e.text > "b"],
        dict(zip(words, more_of(words)))[words[0]],
        swapped.get(99, "none"),
    ]


def more_of(words: Sequence[str]) -> list[str]:
    return [w.upper() for w in words]


def orders(xs: list[int]) -> list[list[int]]:
    ranges = [Range("r", x, (x % 2, -x)) for x in xs]
    by_pair = sorted(ranges, key=lambda r: (r.length % 2 == 0, -r.length))
    best = max(ranges, key=lambda r: r.length, default=None)
    least = min(xs, key=abs)
    none = min([x for x in xs if x > 1000], default=-1)
    pairs = sorted((x % 3, x) for x in xs)
    return [
        [r.length for r in by_pair],
        [best.length if best is not None else 0, least, none],
        [b for _, b in pairs],
        [int((1, 2) < (1, 3)), int([2] < [1, 5])],
        sorted({x // 10 for x in xs}),
    ]


def equality(n: int) -> list[bool]:
    a, b = Range("a", n, (1, 2)), Range("a", n, (1, 2))
    name, other = Name("x"), Name("x")
    table = {"a": [a], "c": [b]}
    return [
        a == b, a != b, a is b, name == other, name == name, (a, 1) == (b, 1), [a] == [b, b], a in [b],
        (a.name, a.stop) == ("a", n), {1, 2} == {2, 1}, table == {"a": [b], "c": [a]}, [b].index(a) == 0, [a, b].count(b) == 2,
        a.shifted(1) == b, replace(a, stop=n) == b, a.doubled == a.shifted(1).doubled, None in (name, None),
    ]


def taken_apart(xs: list[int]) -> list[int]:
    first, *rest = xs
    a, (b, c) = first, (rest[0], len(rest))
    total = d = 0
    for i, (x, y) in enumerate(zip(xs, reversed(xs))):
        total += i * x + y
    for x, y, z in zip(xs, rest, xs[::-1]):
        d += x * y * z
    for x in (*xs, 7, d):
        total -= x
    match rest:
        case [p, q]:
            c += p - q
        case [p, *others]:
            c += p * len(others)
    pair = (a, b)[::-1]
    return [a, b, c, d, total, *pair, *(q for q in (1, 2, 3) if q != 2), *[0] * 2]


def found(xs: list[int], order: Order) -> list[int]:
    first = next((x for x in xs if x > 2), -1)
    place = next((n for n, x in enumerate(xs) if x == 50), None)
    if (half := first // 2) > 10 and order == "up":
        half = 10
    down = xs.copy()
    while down and (last := down.pop()) > 1:
        half += last
    value = 1
    value, other = value + 1, value
    direction = 1 if order == "up" else -1
    return [first, place if place is not None else -5, half, value, other, direction]


def guarded(n: int) -> str:
    try:
        if n > 2:
            raise NoRule(f"{n}")
        made = shown(tree(n))
    except NoRule:
        made = "no rule"
    finally:
        n += 1
    assert n > 0
    return f"{made} {n}"


def either(e: Expression | None, text: str | None, xs: list[int] | None = None) -> list[str]:
    name = e.text if e is not None and isinstance(e, Name) else ""
    inner = e and isinstance(e, Sum) and e.left
    shown_inner = shown(inner) if inner else "leaf"
    xs = [] if xs is None else xs
    if not text and not e: xs = [3]
    return [text or "no text", name or "no name", shown_inner, str(len(xs)), "yes" if e else "no"]


def values(n: int) -> list[list[str]]:
    return [either(tree(n), None), either(None, "", [1]), either(None, None), either(Name("q"), "t")]


def called(n: int) -> list[int]:
    fresh = Fresh({"v0_", "i1_"}, 0)
    names = [fresh.name(s) for s in ("i", "i", "i7_", "_", "j_")]

    def add(*parts: int) -> int:
        return sum(parts)

    def scaled(x: int, by: int = 10) -> int:
        return x * by

    several = [1, 2, n]
    maps = [*map(scaled, several)]
    return [add(), add(1, 2), add(*several), scaled(2), scaled(n, by=3), *maps, sum(x > 1 for x in several), *[len(x) for x in names]]


def quantified(xs: list[int]) -> list[bool]:
    def small(x: int) -> bool:
        return x < 10

    grid = [[x, -x] for x in xs]
    return [
        any(x > y for x in xs for y in xs if y != 1), all(map(small, xs)), any(map(bool, xs)), all(r[0] == -r[1] for r in grid),
        any(x == 2 for r in grid for x in r), not any(grid[:0]),
    ]
