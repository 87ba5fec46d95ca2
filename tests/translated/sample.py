"""Every construct of the subset once."""

from __future__ import annotations

from dataclasses import dataclass
from struct import pack

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
    return [f"{name}: {n + 1} `${{x}}` \\", ", ".join([str(i) for i in range(n)]), name.upper(), "-" * n, name + "!", name[0], name[1:],
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


def bytes_of(x: float) -> list[int]:
    return [*pack("<d", x), len(pack("<d", -x))]


def copies(pairs: list[list[int]]) -> list[int]:
    first = {p[0]: p[1] for p in pairs}
    second = {**first}
    second[7] = 70
    first[8] = 80
    third = {**second, 9: 90}
    return [len(first), len(second), second.get(8, 0), first.get(7, 0), third[7], third[9]]
