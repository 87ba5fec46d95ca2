"""Host code and templates mean the same in TypeScript as in Python: both are run on the same arguments, in Node
and here; what has no equal meaning is refused with its place."""

import json
import types

import pytest

from buildtools import node
from codegen.translator.subset import Refused
from codegen.translator.template import TEXT_TS, environment, templates_module
from codegen.translator.translate import PYTHON_TS, translate

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


def taken(n: int) -> str:
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
    ("taken", [3]),
    ("every", [[1, 2], {"a": 0}]),
    ("every", [[3, -1], {}]),
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
    """The module above in a folder: as Python, and translated."""
    folder = tmp_path_factory.mktemp("subset")
    (folder / "sample.py").write_text(SUBSET)
    (folder / "sample.ts").write_text(translate(folder / "sample.py"))
    (folder / "python.ts").write_text(PYTHON_TS)
    return folder


def test_same_results(subset):
    module = types.ModuleType("sample")
    import sys

    sys.modules["sample"] = module  # dataclasses looks its module up
    try:
        exec(compile(SUBSET, "sample.py", "exec"), module.__dict__)
    finally:
        del sys.modules["sample"]
    want = [
        plain(
            getattr(module, name)(
                *(module.Point(**a) if isinstance(a, dict) and "x" in a else json.loads(json.dumps(a)) for a in args)
            )
        )
        for name, args in CALLS
    ]
    calls = ", ".join(f"m.{name}(...{json.dumps(args)} as any)" for name, args in CALLS)
    got = run(
        subset, f'import * as all from "./sample.js";\nconst m = all as any;\nconsole.log(JSON.stringify([{calls}]));'
    )
    for (name, args), w, g in zip(CALLS, want, got, strict=True):
        assert g == w, (name, args)


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
        ]
    )
    assert done.returncode == 0, done.stdout
    text = (subset / "sample.ts").read_text()
    assert (
        "/** Rounding goes down, a remainder has the divisor's sign. */\nexport function arithmetic(a: number, b: number): number[] {"
        in text
    )
    assert "// declared before the branches that set it" in text and "  /** words */\n  tags: string[] | null;" in text


@pytest.mark.parametrize(
    "code, message",
    [
        ("def f(xs: list[int]) -> bool: return xs == [1]", "1: a comparison of lists"),
        ("def f(x: float) -> str:\n    return f'{x}'", "2: `x` in a text must be an int or str"),
        (
            "def f(x: list[int] | None) -> bool:\n    if x: return True\n    return False",
            "2: the truth of a value that may be None",
        ),
        ("def f(x) -> int: return 1", "1: parameter `x` has no type"),
        (
            "def f(n: int) -> int:\n    for i in range(n): pass\n    return i",
            "3: the loop variable `i` is used outside its loop",
        ),
        ("def f(n: int) -> int:\n    for i in range(n): i += 1\n    return n", "2: the loop variable `i` is assigned"),
        ("def f(n: int) -> int:\n    x = []\n    return n", "2: the type of `x` is unknown"),
        ("def f(n: int) -> int: return len({1, n})", "1: Set is not in the host subset"),
        (
            "def f(n: int) -> int:\n    try: return n\n    except ValueError: return 0",
            "2: Try is not in the host subset",
        ),
        ("def f(n: int) -> int: return undefined_name", "1: unknown name `undefined_name`"),
        ("def f(d: dict[int, str]) -> int: return 1", "1: the keys of a dict must be str"),
        ("def f(n: int) -> int: return divmod(n, 2)[0]", "1: `divmod` is not in the host subset"),
        ("@property\ndef f(n: int) -> int: return n", "2: FunctionDef at the top of a module"),
    ],
)
def test_refused(tmp_path, code, message):
    (tmp_path / "bad.py").write_text(code + "\n")
    with pytest.raises(Refused) as e:
        translate(tmp_path / "bad.py")
    assert f"bad.py:{message}" in str(e.value)


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
