"""Host code and templates mean the same in TypeScript as in Python: both are run on the same arguments, in Node
and here; what has no equal meaning is refused with its place."""

import importlib
import json
import sys

import pytest

from buildtools import node
from codegen.translator.subset import Refused
from codegen.translator.template import TEXT_TS, environment, templates_module
from codegen.translator.translate import PYTHON_TS, Project, translate

SUBSET = '''\
"""Every construct of the subset once."""

from __future__ import annotations

from dataclasses import dataclass

SIZES: dict[str, int] = {"a": 1, "b": 2}
Pair = tuple[int, str]


@dataclass
class Point:
    """A place."""
    x: int
    y: int = 7
    tags: list[str] | None = None       # words


def arithmetic(a: int, b: int) -> list[float]:
    """Rounding goes down, a remainder has the divisor's sign."""
    c = a
    c //= b
    c %= 5
    return [a // b, a % b, -a // b, a ** 2, -(a ** 2), (a - b) - (a - 1), a - (b - a), a / 4, (a & 6) | 1, c, abs(-a), 7 - -b]


def truth(xs: list[int], word: str, n: int, d: dict[str, int]) -> list[bool]:
    out: list[bool] = []
    if xs: out.append(True)
    if not word: out.append(False)
    if n and not d: out.append(True)
    if (xs or n) and d: out.append(False)
    out.append(not xs)
    out.append(1 <= n < 5)
    out.append(n in xs or word in d)
    return out


def build(n: int) -> list[Point]:
    """Constructors by place and by name."""
    points = [Point(i, y=i * i) for i in range(n) if i % 2 == 0]
    points.append(Point(n))
    points[-1].x += 1
    return points


def loops(xs: list[int], ys: list[int]) -> dict[str, int]:
    found: dict[str, int] = {}
    total = 0
    for i, x in enumerate(xs):
        if x == 3: continue
        if x > 90: break
        found[f"x{i}"] = x
    for a, b in zip(xs, ys): total += a * b
    for i in range(3, 0, -1): total -= i
    for i in reversed(range(len(ys))): total = total * 2 + ys[i]
    for x in reversed(xs): total += x
    while total > 100: total -= 100     # down again
    for k, v in SIZES.items(): found[k] = v + total
    return found


def hoisted(flag: bool, n: int) -> int:
    # declared before the branches that set it
    if flag:
        value = n
    elif n > 3:
        value = 2 * n
    else:
        value = 0
    a, b = value, n
    a, b = b, a
    return 10 * a + b


def lists(xs: list[int]) -> list[list[int]]:
    ys = xs.copy()
    ys.insert(0, 5)
    ys.extend([8, 9])
    last = ys.pop()
    del ys[1]
    grid = [[i, x] for i, x in enumerate(xs)]
    return [ys, [last, ys.index(8)], xs[1:], xs[:-1], xs[::-1], sorted(xs), sorted(xs, key=lambda v: -v), [0] * 3 + xs,
            [a + b for a in xs for b in [10, 20] if a != b], *grid, [min(xs), max(1, 2), sum(xs), sum(2 * x for x in xs)]]


def texts(name: str, n: int) -> list[str]:
    return [f"{name}: {n + 1} `${{x}}` \\\\", ", ".join([str(i) for i in range(n)]), name.upper(), "-" * n, name + "!", name[0], name[1:],
            name.replace("a", "b"), "yes" if name.startswith("a") else "no", "x" if n > 1 else "y" if n else "z"]


def told(v: Point | list[int] | int | bool | str | None) -> str:
    if v is None: return "none"
    if isinstance(v, bool): return "bool"
    if isinstance(v, (int, float)): return "number"
    if isinstance(v, str): return "text"
    return "list" if isinstance(v, list) else "point"


def pair(n: int) -> Pair: return n, "n" * n


def pieces(n: int) -> str:
    number, text = pair(n)
    return text + str(number)


def every(xs: list[int], d: dict[str, int]) -> list[bool]:
    new = d.get("a", 0) == 0
    return [any(x > 2 for x in xs), all(x > 0 for x in xs if x != -1), "a" in d, new, d.get("zz") is None]
'''

CALLS = [
    ("arithmetic", [7, 2]),
    ("arithmetic", [-7, 3]),
    ("arithmetic", [7, -3]),
    ("truth", [[], "", 1, {}]),
    ("truth", [[3], "k", 3, {"k": 1}]),
    ("truth", [[], "toString", 9, {"k": 1}]),
    ("build", [5]),
    ("loops", [[1, 3, 50, 95, 2], [4, 5, 6]]),
    ("hoisted", [True, 4]),
    ("hoisted", [False, 4]),
    ("hoisted", [False, 2]),
    ("lists", [[3, 1, 2]]),
    ("texts", ["abca", 3]),
    ("texts", ["b", 0]),
    *(("told", [v]) for v in (None, True, 3, "t", [1], {"x": 1, "y": 2, "tags": None})),
    ("pieces", [3]),
    ("every", [[1, 2], {"a": 0}]),
    ("every", [[3, -1], {}]),
]


# What is not translated: what a class of interned instances becomes is the translator's business.
INTERNED = """\
class Interned(type):
    made: dict[tuple[object, ...], object] = {}

    def __call__(cls, *fields: object) -> object:
        return cls.made.setdefault((cls, *fields), super().__call__(*fields))
"""

# What a compiler's passes are written in: node classes, sets, tables, closures, generators.
PASSES = '''\
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
'''

PASS_CALLS = [
    *(("rewritten", [n]) for n in (0, 4, 5, 11, 17)),
    ("collections", [["a", "b", "c"], ["b", "", "q"]]),
    ("tables", [["bb", "a", "cc", "a"]]),
    ("orders", [[3, 10, -7, 22, 5]]),
    ("equality", [4]),
    ("once", [2]),
    ("taken_apart", [[1, 2, 3]]),
    ("taken_apart", [[5, 4, 3, 2]]),
    ("found", [[1, 50, 3], "up"]),
    ("found", [[2], "down"]),
    ("guarded", [1]),
    ("guarded", [5]),
    ("values", [8]),
    ("called", [7]),
    ("quantified", [[1, 2, 30]]),
    ("quantified", [[0, 0]]),
]


def plain(value):
    if hasattr(value, "__dict__"):
        return {k: plain(v) for k, v in vars(value).items()}
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value


def run(folder, main: str):
    """What a program in TypeScript prints, as JSON."""
    (folder / "main.ts").write_text(main)
    done = node.run(
        [
            node.tool("esbuild"),
            folder / "main.ts",
            "--bundle",
            "--format=esm",
            f"--outfile={folder / 'main.mjs'}",
            "--log-level=warning",
        ]
    )
    assert done.returncode == 0, done.stdout
    done = node.run([folder / "main.mjs"])
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def subset(tmp_path_factory):
    """The modules above in a folder: as Python, and translated."""
    folder = tmp_path_factory.mktemp("subset")
    for name, text in (("sample", SUBSET), ("passes", PASSES), ("interned", INTERNED)):
        (folder / f"{name}.py").write_text(text)
    project = Project([folder / "sample.py", folder / "passes.py"], [folder])
    for name in ("sample", "passes"):
        (folder / f"{name}.ts").write_text(translate(folder / f"{name}.py", project))
    (folder / "python.ts").write_text(PYTHON_TS)
    return folder


@pytest.fixture
def imported(subset, monkeypatch):
    """The same modules as Python has them."""
    monkeypatch.syspath_prepend(subset)
    yield importlib.import_module
    for name in ("sample", "passes", "interned"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("name, calls", [("sample", CALLS), ("passes", PASS_CALLS)])
def test_same_results(subset, imported, name, calls):
    module = imported(name)

    def run_here(function, args):
        args = [module.Point(**a) if isinstance(a, dict) and "x" in a else json.loads(json.dumps(a)) for a in args]
        return plain(getattr(module, function)(*args))

    want = [run_here(function, args) for function, args in calls]
    said = ", ".join(f"m.{function}(...{json.dumps(args)} as any)" for function, args in calls)
    main = f'import * as all from "./{name}.js";\nconst m = all as any;\nconsole.log(JSON.stringify([{said}]));'
    for (function, args), w, g in zip(calls, want, run(subset, main), strict=True):
        assert g == w, (function, args)


def test_strict_and_documented(subset):
    done = node.run(
        [
            node.compiler(),
            "--ignoreConfig",
            "--noEmit",
            "--strict",
            "--target",
            "es2022",
            "--lib",
            "es2022",
            "--module",
            "nodenext",
            subset / "sample.ts",
            subset / "passes.ts",
        ]
    )
    assert done.returncode == 0, done.stdout
    text = (subset / "sample.ts").read_text()
    assert (
        "/** Rounding goes down, a remainder has the divisor's sign. */\nexport function arithmetic(a: number, b: number): number[] {"
        in text
    )
    assert "// declared before the branches that set it" in text and "  /** words */\n  tags: string[] | null;" in text


REFUSED = [
    ("def f(x: float) -> str:\n    return f'{x}'", "2: `x` in a text must be an int or str"),
    (
        "def f(x: list[int] | None) -> bool:\n    if x: return True\n    return False",
        "2: the truth of a value that may be None",
    ),
    ("def f(x) -> int: return 1", "1: Function is missing a type annotation for one or more parameters"),
    (
        "def f(n: int) -> int:\n    for i in range(n): pass\n    return i",
        "3: the loop variable `i` is used outside its loop",
    ),
    ("def f(n: int) -> int:\n    for i in range(n): i += 1\n    return n", "2: the loop variable `i` is assigned"),
    ("def f(n: int) -> int:\n    x = []\n    return n", '2: Need type annotation for "x"'),
    ("def f(n: int) -> int: return len({(1, n)})", "1: keys and items of sets are texts, numbers or objects equal to"),
    ("def f(d: dict[tuple[int, int], str]) -> int: return len({**d})", "1: keys and items of sets"),
    (
        "def f(n: int) -> int:\n    try: return n\n    except ValueError: return 0",
        "3: `except` takes classes of the modules",
    ),
    ("def f(n: int) -> int: return undefined_name", '1: Name "undefined_name" is not defined'),
    ("def f(n: int) -> int: return divmod(n, 2)[0]", "1: `divmod` is not in the subset"),
    ("@property\ndef f(n: int) -> int: return n", '1: "property" used with a non-method'),
    ("def f(n: int) -> str: return n", "1: Incompatible return value type"),
    ("def f(xs: list[int]) -> int: return xs and 1 or 2", "1: `and`, `or` outside a condition"),
    ("def f(*, n: int) -> int:\n    g = lambda x: x + n\n    return g(1)", "2: the type of `x` is unknown"),
    ("class A: pass\nclass C: pass\nclass B(A, C): pass", "3: this base of a class"),
    ("def zip(n: int) -> int: return n", "1: `zip` as the name of a function"),
    ("def f(n: int) -> int:\n    with open('x'): return n", "2: With is not in the subset"),
    ("async def f(n: int) -> int: return n", "1: AsyncFunctionDef at the top of a module"),
    ("def f(xs: list[int]) -> list[int]: return xs[::2]", "1: only the slice step [::-1]"),
    ("class E(Exception):\n    pass\ndef f(n: int) -> None: raise E(n)", "3: E takes a text"),
    ("def f(n: int) -> bool: return n == True", "1: a boolean compared with a number"),
]


@pytest.fixture(scope="module")
def refusals(tmp_path_factory):
    """What the translator says of each, asked together."""
    folder = tmp_path_factory.mktemp("refused")
    files = [folder / f"bad{n}.py" for n in range(len(REFUSED))]
    for file, (code, _) in zip(files, REFUSED, strict=True):
        file.write_text(code + "\n")
    project = Project(files, [folder])
    said = []
    for file in files:
        try:
            said.append(translate(file, project) and "")
        except Refused as refused:
            said.append(str(refused))
    return said


@pytest.mark.parametrize("n", range(len(REFUSED)), ids=lambda n: REFUSED[n][1])
def test_refused(refusals, n):
    message = REFUSED[n][1]
    assert refusals[n].startswith(f"bad{n}.py:{message}"), refusals[n]


TEMPLATE = """\
{% from "macros.j2" import twice %}
{% macro line(a, b=1) %}
x{{ a }}:{{ b }}
{%- endmacro %}
// head `quoted` ${not} \\n
{% set ns = namespace(n=0) %}
{% for i in xs if i.k %}
  {{ i.name|indent(4) }}{{ ", " if not loop.last else ";" }} {{ loop.index0 + 1 }} {% if loop.first %}first{% endif %}

    {% set ns.n = ns.n + 1 %}
{% else %}
none
{% endfor %}
    {% if a == 2 and not c %}
    A {{ a }}
{% elif d[0] in [1, 2] or a is none %}
B
{% else %}
{{ line(1, 2) }} {{ line(3) }}
{% endif %}
{% set q = name ~ a %}
{% if c %}{% set z = "1" %}{% else %}{% set z = "2" %}{% endif %}
{{ q }}{{ z }} {{ d|join(", ") }} {{ ns.n }} {{ d[-1] }} {{ (d|length) // 2 }} {{ -7 % 3 }} {{ d[1:]|join("") }} {{ twice("t") }}
{%- for k, v in m.items() %} {{ k }}={{ v if v > 1 else "one" }}{% endfor %}
{# nothing #}
{% for i in range(a) %}{{ i * i - 1 }} {% endfor %}
tail
"""
CONTEXTS = [
    {
        "xs": [{"k": 1, "name": "p\nq"}, {"k": 0, "name": "no"}, {"k": 2, "name": "r"}],
        "a": 2,
        "c": [],
        "d": [1, 2, 3],
        "name": "nm",
        "m": {"u": 1, "v": 2},
    },
    {"xs": [], "a": 3, "c": [0], "d": [2], "name": "", "m": {}},
    {"xs": [{"k": 0, "name": "no"}], "a": 0, "c": "x", "d": [5, 6], "name": "`", "m": {"w": 3}},
]


def test_same_template_text(tmp_path):
    (tmp_path / "sample.wgsl.j2").write_text(TEMPLATE)
    (tmp_path / "macros.j2").write_text("{% macro twice(s) %}{{ s }}{{ s }}{% endmacro %}\n")
    for folder, file, text in (("host", "python.ts", PYTHON_TS), ("wgsl", "text.ts", TEXT_TS)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / file).write_text(text)
    (tmp_path / "wgsl" / "templates.ts").write_text(
        templates_module([("sample.wgsl.j2", "sample", "any")], {}, ["macros.j2"], tmp_path)
    )
    want = [environment(tmp_path).get_template("sample.wgsl.j2").render(c) for c in CONTEXTS]
    got = run(
        tmp_path,
        f'import {{ sample }} from "./wgsl/templates.js";\nconsole.log(JSON.stringify({json.dumps(CONTEXTS)}.map(sample)));',
    )
    assert got == want


@pytest.mark.parametrize(
    "text, message",
    [
        ("a\n{% include 'x' %}", "2: Include is not covered"),
        ("{{ a|tojson }}", "1: the filter `tojson`"),
        ("{{ 1 if a }}", "1: `a if b` needs an `else`"),
        ("{% set x = 1 %}{% for i in a %}{% set x = i %}{% endfor %}", "1: `x` is set here and outside"),
        ("{{ a.sort() }}", "1: this call"),
    ],
)
def test_refused_template(tmp_path, text, message):
    (tmp_path / "bad.j2").write_text(text)
    with pytest.raises(Refused) as e:
        templates_module([("bad.j2", "bad", "any")], {}, [], tmp_path)
    assert f"bad.j2:{message}" in str(e.value)
