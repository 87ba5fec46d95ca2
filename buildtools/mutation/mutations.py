"""Small changes to the sources, drawn at random, that a test should notice: a sign, a comparison, a dropped statement.

Which text is code, and not a comment or a string, is pygments' knowledge.  Running tests on a mutation is `mutate`."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pygments.lexer import RegexLexer
from pygments.lexers import PythonLexer, TypeScriptLexer, WgslLexer
from pygments.token import Comment, Name, Number, Operator, Punctuation, String, Text

from ..paths import ROOT

# What is in the package, or decides what is; not tools, tests and examples.
FOLDERS = ("ops", "dsl", "codegen", "workbench", "runtime", "compat")
SWAPS = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "===": "!==",
    "!==": "===",
    "+": "-",
    "-": "+",
    "*": "+",
    "/": "*",
    "//": "*",
    "%": "/",
    "+=": "-=",
    "-=": "+=",
    "&&": "||",
    "||": "&&",
    "and": "or",
    "or": "and",
    "??": "&&",
    "min": "max",
    "max": "min",
    "true": "false",
    "false": "true",
    "True": "False",
    "False": "True",
}
# A statement on a line of its own: a call or an assignment, not a declaration that others need to compile.
STATEMENT = re.compile(r"^ +(?:await )?[\w.$!?\[\]]+(?:\(.*\)| [-+*/|&?]*= .*);?$")


class OpLexer(RegexLexer):
    """As much of the op language as tells code from texts and comments."""

    tokens = {
        "root": [
            (r"#[^\n]*", Comment),
            (r'"""(?:.|\n)*?"""|"[^"\n]*"', String),
            (r"\d+\.\d*|\d+", Number),
            (r"[A-Za-z_]\w*", Name),
            (r"[-+*/%<>=!?&|]+", Operator),
            (r"[^\w\s]", Punctuation),
            (r"\s+", Text),
        ]
    }


LEXERS = {".py": PythonLexer, ".ts": TypeScriptLexer, ".wgsl": WgslLexer, ".op": OpLexer}


@dataclass(frozen=True)
class Mutation:
    """file: relative to the checkout.  start, end: the characters that `text` replaces."""

    file: str
    line: int
    start: int
    end: int
    before: str
    text: str

    def __str__(self) -> str:
        dropped = self.text.strip() in ("", "pass")
        what = f"without `{self.before.strip()}`" if dropped else f"`{self.before}` becomes `{self.text}`"
        return f"{self.file}:{self.line}: {what}"

    def of(self, source: str) -> str:
        """The file with the mutation, from the one without."""
        assert source[self.start : self.end] == self.before, f"{self.file} is not what the mutation was drawn from"
        return source[: self.start] + self.text + source[self.end :]

    def apply(self, root: Path) -> None:
        """Change the file under `root`."""
        file = root / self.file
        file.write_text(self.of(file.read_text()))


def draw(count: int, seed: int, only: str = "") -> list[Mutation]:
    """So many mutations in different lines; files weigh by their lines.  only: in files whose path begins so."""
    rng = random.Random(seed)
    by_line: dict[tuple[str, int], list[Mutation]] = {}
    for file in sources():
        if not file.startswith(only):
            continue
        for m in mutations(file, (ROOT / file).read_text()):
            by_line.setdefault((m.file, m.line), []).append(m)
    lines = rng.sample(sorted(by_line), min(count, len(by_line)))
    return [rng.choice(by_line[line]) for line in lines]


def sources() -> list[str]:
    """The files that can be mutated."""
    return sorted(
        str(file.relative_to(ROOT))
        for folder in FOLDERS
        for file in (ROOT / folder).rglob("*")
        if file.suffix in LEXERS
    )


@cache
def mutations(file: str, source: str) -> list[Mutation]:
    """All mutations of one file."""
    return list(found_in(file, source))


def found_in(file: str, source: str) -> Iterator[Mutation]:
    suffix = Path(file).suffix
    code = [
        (at, kind, text)
        for at, kind, text in LEXERS[suffix]().get_tokens_unprocessed(source)
        if kind not in Comment and kind not in String and kind not in Text
    ]
    written = {at for at, _, _ in code}
    for at, kind, text in code:
        new = SWAPS.get(text)
        # Operators of two operands have blanks round them; signs, generics and spreads do not.
        if (
            new
            and not text[0].isalpha()
            and not (source[at - 1 : at] == " " and source[at + len(text) : at + len(text) + 1] in (" ", "\n"))
        ):
            new = None
        if new is None and kind in Number and text.isdigit():
            new = str(int(text) + 1)
        if new:
            yield Mutation(file, source.count("\n", 0, at) + 1, at, at + len(text), text, new)
    at = 0
    for number, line in enumerate(source.splitlines(keepends=True), 1):
        bare = line.rstrip("\n")
        if (
            suffix in (".py", ".ts")
            and at + len(bare) - len(bare.lstrip()) in written
            and STATEMENT.match(bare)
            and balanced(bare)
        ):
            indent = bare[: len(bare) - len(bare.lstrip())]
            yield Mutation(file, number, at, at + len(bare), bare, f"{indent}pass" if suffix == ".py" else "")
        if suffix == ".op" and re.match(r" {4}require ", line):
            yield Mutation(file, number, at, at + len(bare), bare, "")
        at += len(line)


def balanced(line: str) -> bool:
    return all(line.count(a) == line.count(b) for a, b in ("()", "[]", "{}"))
