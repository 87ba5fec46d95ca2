"""Mutated definitions never make the front end raise or hang; whatever it answers can be shown.

A bounded, repeatable number of cases; `FUZZ=50000 pytest tests/test_fuzz.py` runs more, each time others."""

import os
import re
import time
from functools import cache
from pathlib import Path

import pytest
from front import checked
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from dsl.text.diagnostics import CODES, render, to_json
from dsl.text.parse import parse_text
from dsl.text.show import show

ROOT = Path(__file__).resolve().parent.parent
CASES = int(os.environ.get("FUZZ", 1500))
SECONDS = 5  # of computing; a case that takes longer counts as a hang
TOKEN = re.compile(r'"""|"[^"\n]*"|[A-Za-z_]\w*|\d+(?:\.\d+)?|\n *|[ \t]+|\*\*|//|\.\.|\?\?|->|[=!<>~+]=|.', re.S)
SIGNS = list("()[]{}<>=+-*/%.,:;@?!&|^~#\"'$\\ \n\t") + [
    '"""',
    "??",
    "..",
    "**",
    "//",
    "->",
    "==",
    "~=",
    "+=",
    "max=",
    "<<",
    "\n    ",
    "\n  ",
    "\n        ",
    "\r\n",
    "\0",
    "é",
    "∑",
    "\u2028",
    "\ufeff",
    "𝟙",
]
WORDS = [
    "if",
    "else",
    "and",
    "or",
    "not",
    "in",
    "op",
    "def",
    "schedule",
    "for",
    "where",
    "as",
    "require",
    "test",
    "raises",
    "grad",
    "nograd",
    "sample",
    "drop",
    "like",
    "unless",
    "mut",
    "when",
    "foreach",
    "wgsl",
    "sum[k]",
    "max[dim]",
    "sum",
    "exp",
    "out",
    "g",
    "g.values",
    "x_",
    "inf",
    "true",
    "all",
    "1e999",
    "0x",
    "9" * 60,
    "1e-400",
    "{D}",
    "D",
    "*B",
    "K@dim",
]


@cache
def definitions() -> list[str]:
    """All items of ops/ and of the broken definitions: read when they are wanted, as that takes seconds."""
    found = []
    for path in sorted((ROOT / "ops").glob("*.op")) + sorted((ROOT / "tests" / "broken").glob("*.op")):
        source = parse_text(path.read_text(encoding="utf-8"))[2]
        found += [source.text[a:b].rstrip() + "\n" for a, b in source.items()]
    return found


NUMBER = st.integers(0, 9999)
EDITS = st.lists(st.tuples(st.integers(0, 9), NUMBER, NUMBER, NUMBER), min_size=1, max_size=6)


def mutated(base: int, other: int, edits: list[tuple[int, int, int, int]]) -> str:
    """A definition with tokens left out, doubled, swapped, exchanged with another's, or with letters changed."""
    tokens, others = (TOKEN.findall(definitions()[n % len(definitions())]) for n in (base, other))
    for kind, a, b, c in edits:
        i = a % (len(tokens) + 1)
        match kind:
            case 0:
                del tokens[i : i + 1]
            case 1:
                tokens.insert(i, SIGNS[b % len(SIGNS)])
            case 2:
                tokens.insert(i, WORDS[b % len(WORDS)])
            case 3:
                tokens[i : i + 1] = [others[b % len(others)]]
            case 4:
                tokens[i : i + 1] = tokens[i : i + 1] * (2, 3, 50)[b % 3]
            case 5:
                j = b % (len(tokens) + 1)
                tokens[i : i + 1], tokens[j : j + 1] = tokens[j : j + 1], tokens[i : i + 1]
            case 6:
                places = [n for n, t in enumerate(tokens) if t.isidentifier()]
                if places:
                    tokens[places[a % len(places)]] = tokens[places[b % len(places)]]
            case 7:
                del tokens[i : i + b % 12]
            case 8:
                j, k = sorted((b % (len(others) + 1), c % (len(others) + 1)))
                tokens[i:i] = others[j:k]
            case 9:
                tokens[i : i + 1] = [t.swapcase() if b % 2 else t[:-1] for t in tokens[i : i + 1]]
    return "".join(tokens)


def survive(text: str):
    """The front end answers, in time, with errors that can be shown; what it accepts can be printed and parsed
    again."""
    start = time.process_time()
    errors, source = checked(text, trials=0)
    for e in errors:
        assert e.code in CODES and e.message and 0 <= e.span[0] <= e.span[1] <= len(source.text)
        assert not e.message.endswith(".") and (not e.message[0].isupper())
    assert bool(render(errors, source)) == bool(errors)
    to_json(errors, source)
    for item in parse_text(text)[0]:
        again, problems, _ = parse_text(show(item))
        assert problems == [] and again == [item]
    assert time.process_time() - start < SECONDS


@settings(
    max_examples=CASES,
    deadline=None,
    database=None,
    derandomize="FUZZ" not in os.environ,
    suppress_health_check=list(HealthCheck),
)
@given(NUMBER, NUMBER, EDITS)
def test_mutated_definitions(base, other, edits):
    text = mutated(base, other, edits)
    note(text)
    survive(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        " ",
        "#",
        "op",
        "op f",
        "op f(",
        "op f()",
        "op f() =",
        '"',
        '"""',
        "\t",
        "    out = 1\n",
        "def f(x) = f(x)\n",
        "op f(x: Num) = " + "-" * 5000 + "x\n",
        "op f(x: Num) = " + "(" * 5000 + "x" + ")" * 5000 + "\n",
        "op f(x: Num) = " + " + ".join(["x"] * 5000) + "\n",
        "op f(x: Num) = x" + "[0]" * 3000 + "\n",
        "op f(x: Num) = x ?? " * 3000 + "x\n",
        "op f(x: Num) = " + "not " * 3000 + "x\n",
        "op f(x: Num) = " + "sum[k] " * 3000 + "x\n",
        "op f(x: Num) = " + "x if x else " * 3000 + "x\n",
        "op f(x: Num[" + "*" * 3000 + "])\n",
        "op f(" + ", ".join(f"x{i}: Num" for i in range(3000)) + ") = x0\n",
        "op f(x: Num) = " + "9" * 100_000 + "\n",
        "\n" * 100_000,
        "op f(x: Num) = " + '"' * 9999 + "\n",
        "op f(x: Num)\n" + "    out = x\n" * 500,
        "\0\0\0",
        "op f(x: Num) = \ud800\n",
    ],
    ids=range(30),
)
def test_odd_texts(text):
    survive(text)
