"""Host code and templates mean the same in TypeScript as in Python: both are run on the same arguments, in Node
and here; what has no equal meaning is refused with its place."""

import importlib
import json
import shutil
import sys
from pathlib import Path

import pytest

from buildtools import node
from codegen.translator.subset import Refused
from codegen.translator.template import TEXT_TS, environment, templates_module
from codegen.translator.translate import PYTHON_TS, Project, translate

# `sample` has every construct of the subset once; `passes` is written as a compiler's passes are: node classes, sets,
# tables, closures, generators.
MODULES = Path(__file__).parent / "translated"
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
    ("bytes_of", [-1.5]),
    ("bytes_of", [5e-324]),
    ("bytes_of", [1.7976931348623157e308]),
    ("copies", [[[1, 2], [3, 4]]]),
]


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
    """The modules of tests/translated in a folder: as Python, and translated."""
    folder = tmp_path_factory.mktemp("subset")
    for file in MODULES.glob("*.py"):
        shutil.copy(file, folder)
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
    assert not [line for line in text.splitlines() if line.strip() == "//"]
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
    ("def f(s: str) -> list[str]: return s.split(sep=',')", "1: keywords here"),
    ("class A(metaclass=type):\n    pass", "1: the keyword metaclass of a class"),
    ("import json\ndef f() -> int: return 1", "1: `import`: write `from ... import`"),
    ("from json import dumps\ndef f() -> str: return dumps(1)", "1: import of json"),
    ("def f(*, n: int, **more: int) -> int: return n", "1: ** and / parameters"),
    ("def f(*xs: int, n: int) -> int: return n", "1: parameters behind * parameters"),
    ("class A:\n    class B: pass", "2: ClassDef in a class"),
    ("class A:\n    n: int = 1\n    del n", "3: Delete in a class"),
    (
        "def f(n: int) -> int:\n    assert n\n    del n\n    return 1",
        "3: Delete is not in the subset that is translated",
    ),
    ("def f(xs: list[int]) -> list[int]:\n    xs[0:1] = [2]\n    return xs", "2: assignment to a slice"),
    (
        "def f(n: int) -> int:\n    for i in range(0, 9, n): n += i\n    return n",
        "2: the step of a range must be a constant",
    ),
    *(
        (f"def f(n: int, xs: list[int]) -> int: return len([i for i in {of}])", f"1: this form of `{of.split('(')[0]}`")
        for of in ("range(0, 9, n)", "enumerate(xs, 1)", "enumerate(xs, start=1)", "zip(xs)", "map(pow, xs, xs)")
    ),
    ("def f(xs: list[int]) -> None:\n    for i, x in enumerate(xs, start=1): pass", "2: this form of `enumerate`"),
    ("def f(n: int) -> int:\n    raise ValueError", "2: `raise` of this"),
    (
        "def f(n: int) -> None:\n    e = ValueError('x')\n    raise e",
        "2: `ValueError` is not in the subset that is translated",
    ),
    (
        "class E(Exception): pass\nclass G(Exception): pass\ndef f(n: int) -> int:\n    try: return n\n    except E: return 0\n    except G: return 1",
        "4: several `except`",
    ),
    (
        "def f(xs: list[int]) -> list[int]: return [y for x in xs if (y := x + 1) > 2]",
        "1: `:=` in a comprehension: its conditions are asked of all items first",
    ),
    ("def f(s: str) -> list[str]: return s.split()", "1: split needs a separator"),
    ("def f(s: str) -> str: return s.title()", "1: str.title is not in the subset that is translated"),
    (
        "def f(d: dict[str, int]) -> tuple[str, int]: return d.popitem()",
        "1: dict.popitem is not in the subset that is translated here",
    ),
    (
        "def f(s: set[str]) -> set[str]: return s.symmetric_difference(s)",
        "1: set.symmetric_difference is not in the subset that is translated",
    ),
    ("def f(n: int) -> str: return f'{n:3}'", "1: format specifications"),
    (
        "def f(n: float, m: float) -> bool: return 1 < n + 1 < m < n * 2",
        "1: the middle of a chained comparison must be a name",
    ),
    ("def f(a: set[str], b: set[str]) -> set[str]: return a ^ b", "1: this operator between sets"),
    ("def f(n: int) -> bool: return n is 3", "1: `is` is for None and for objects"),
    ("def f(n: int, m: float) -> int: return sorted([n], reverse=True)[0]", "1: sorted takes a key only"),
    ("def f(xs: list[list[int]]) -> list[int]: return sum(xs, [])", "1: sum of numbers only"),
    ("def f(xs: list[int]) -> str: return str(xs)", "1: str of this"),
    ("def f(xs: list[int]) -> str: return repr(xs)", "1: repr of what has no __repr__"),
    ("def f(xs: list[int]) -> int: return next(iter(xs))", "1: next takes a generator with one `for`"),
    (
        "def f(n: int) -> object:\n    match n:\n        case _: return 1\n        case 2: return 2",
        "2: a match whose first case is met by all",
    ),
    (
        "def f(n: list[int]) -> int:\n    match n:\n        case [*_, 2]: return 2\n    return 1",
        "3: * before the end of a pattern",
    ),
    (
        "def f(n: dict[str, int]) -> int:\n    match n:\n        case {'a': 2}: return 2\n    return 1",
        "3: this pattern",
    ),
    (
        "from functools import cache\nfrom functools import lru_cache\n@lru_cache(3)\ndef f(n: int) -> int: return n",
        "4: FunctionDef at the top of a module",
    ),
    (
        'from struct import pack\ndef f(n: int) -> list[int]:\n    return list(pack("<i", n))',
        '3: pack of what is no float, "<d"',
    ),
    ("def f(n: int) -> int:\n    global g\n    return n", "2: Global is not in the subset that is translated"),
    (
        "from collections.abc import Iterator\ndef f(n: int) -> int:\n    def g(k: int) -> Iterator[int]:\n        yield k\n    return next(g(n))",
        "3: a generator inside a function",
    ),
    ("for i in range(3): pass", "1: For at the top of a module"),
    ("def f(n: int) -> float: return float([n][0] > 2)", "1: float of numbers and texts only"),
    (
        "def f(xs: list[int], n: int) -> int:\n    for x in xs:\n        n += x\n    else:\n        n = 0\n    return n",
        "2: For is not in the subset that is translated",
    ),
    (
        "def f(n: int) -> int:\n    while n:\n        n -= 1\n    else:\n        n = 2\n    return n",
        "2: While is not in the subset that is translated",
    ),
    (
        "from typing import Literal\ndef f(n: Literal['a', 'b']) -> int:\n    match n:\n        case 'c': return 1\n    return 2",
        "4: `'c'` is none of these texts",
    ),
    ("def f(s: str) -> str: return s % 2", "1: this operator between str and int"),
    (
        "def f(k: tuple[int, int]) -> dict[int, int]: return dict.fromkeys(k, 1)",
        "1: dict.fromkeys of keys that are no texts",
    ),
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
