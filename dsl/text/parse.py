"""Text to syntax tree, one item at a time, so that a syntax error costs one item only.

Here: the parser and what it expected, in words.  Mistakes with a text of their own are in
dsl/text/mistakes.py, layout in `indentation` below."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from lark import Lark
from lark.exceptions import UnexpectedInput, UnexpectedToken, VisitError
from lark.utils import TextSlice

from .blocks import Misplaced, with_steps
from .diagnostics import Error, either, located
from .mistakes import Failure, continues, known_mistake, strings_of
from .places import GRAMMAR
from .places import cache as cache_folder
from .source import Source, read
from .syntax import Def, Op, Schedule, Variant, X
from .tree import Build
from .tree_values import Unreadable
from .variants import completed

DEPTH = 100  # formulas nested deeper are refused: the later passes recurse

# What a terminal is called in a message; terminals that stand for one word or sign show it.
WORDS = {
    "$END": "the end of the definition",
    "_CLAUSE": "a new clause",
    "NAME": "a name",
    "OPNAME": "a name",
    "NUMBER": "a number",
    "STRING": "a text in quotes",
    "LONG_STRING": "a text in quotes",
    "ASSIGN": "`=`",
    "COMPARE": "a comparison",
    "REDUCE": "a reduction",
    "ADD": "an operator",
    "MUL": "an operator",
    "BITOP": "an operator",
    "SHIFT": "an operator",
    "POWER": "an operator",
}
# Where a formula may start or go on, one phrase says more than a list of terminals.
START = {"NAME", "NUMBER", "STRING", "REDUCE", "SIGN", "LPAR", "LSQB", "NOT"}
ON = {"ADD", "MUL", "BITOP", "SHIFT", "POWER", "COMPARE", "FALLBACK", "DOT", "IF", "AND", "OR", "LSQB", "LPAR"}

TABLE = GRAMMAR.with_name("op.lark.table")  # in the archive that pages load (buildtools/compiler_archive.py)


def table_file() -> Path | None:
    """The file of the parser's table: the one that was brought along, or where a run keeps it for the next, if it
    can."""
    if TABLE.exists():
        return TABLE
    folder = cache_folder()
    return folder / "op.lark.cache" if folder else None


@cache
def parser() -> Lark:
    """The LALR parser."""
    where = table_file()
    return Lark(
        GRAMMAR.read_text(encoding="utf-8"),
        parser="lalr",
        start=["item", "expr", "line"],
        propagate_positions=True,
        maybe_placeholders=True,
        strict=find_spec("interegular") is not None,  # ambiguities of the grammar are found where it is worked on
        **({"cache": str(where)} if where else {}),
    )


def parse_file(path: str | Path) -> tuple[list[Op | Def | Schedule], list[Error], Source]:
    """Reads and parses a file; one that cannot be read gives an empty source and one error."""
    try:
        source = read(path)
    except (OSError, UnicodeDecodeError) as e:
        why = "it is not UTF-8 text" if isinstance(e, UnicodeDecodeError) else e.strerror or str(e)
        return [], [Error("layout", f"this file cannot be read: {why}", (0, 0), path=str(path))], Source(str(path), "")
    return parse_source(source)


def parse_text(text: str, path: str = "text.op") -> tuple[list[Op | Def | Schedule], list[Error], Source]:
    return parse_source(Source(path, text))


def parse_source(source: Source) -> tuple[list[Op | Def | Schedule], list[Error], Source]:
    """All items that could be parsed, in order, and at most one error for each of the others."""
    items, errors = [], []
    spans = source.items()
    head = spans[0][0] if spans else len(source.text)
    stray = stray_lines(source, head)
    variant_of: Op | None = None  # the op whose variants may follow
    if stray:
        errors.append(stray)
    for start, end in spans:
        result = parse_item(source, start, end)
        if not isinstance(result, Variant):
            variant_of = result if isinstance(result, Op) else None
        else:
            result = completed(result, variant_of)
        if not isinstance(result, Error):
            items.append(result)
        elif not errors or not (cause := continues(result, errors[-1], source.text[start:end])):
            errors.append(result)
        else:
            errors[-1] = cause
    return items, located(errors, source.path), source


def parse_item(source: Source, start: int, end: int) -> Op | Variant | Def | Schedule | Error:
    bad = indentation(source, start, end)
    if bad:
        return bad
    try:
        item = Build().transform(parser().parse(TextSlice(source.text, start, end), start="item"))
    except UnexpectedInput as e:
        return explain(e, source, start, end)
    except VisitError as e:
        if not isinstance(e.orig_exc, Unreadable):
            raise
        return Error("syntax", e.orig_exc.message, e.orig_exc.span)
    if isinstance(item, Op) and any(x.below[1] for x in item.launches):
        try:
            item = with_steps(item, source, lambda start, end: parse_line(source, start, end))
        except Misplaced as e:
            return e.error
    deep = too_deep(item)
    return (
        Error(
            "syntax",
            f"this formula is nested more than {DEPTH} deep",
            deep.span,
            help=("name a part of it on a line of its own",),
        )
        if deep
        else item
    )


def parse_line(source: Source, start: int, end: int):
    """A line of a body: its steps, or a `Head`; or what is wrong with it."""
    try:
        return Build().transform(parser().parse(TextSlice(source.text, start, end), start="line"))
    except UnexpectedInput as e:
        return explain(e, source, start, end)
    except VisitError as e:
        if not isinstance(e.orig_exc, Unreadable):
            raise
        return Error("syntax", e.orig_exc.message, e.orig_exc.span)


def parse_formula(source: Source, start: int, end: int) -> X | Error:
    """An expression that stands by itself, such as one in the braces of a message."""
    try:
        formula = Build().transform(parser().parse(TextSlice(source.text, start, end), start="expr"))
    except UnexpectedInput as e:
        return explain(e, source, start, end)
    except VisitError as e:
        if not isinstance(e.orig_exc, Unreadable):
            raise
        return Error("syntax", e.orig_exc.message, e.orig_exc.span)
    return (
        Error("syntax", f"this formula is nested more than {DEPTH} deep", formula.span)
        if too_deep(formula)
        else formula
    )


# --- Layout ----------------------------------------------------------------------------------------


def stray_lines(source: Source, end: int) -> Error | None:
    """Indented text before the first item."""
    for n, at in enumerate(source.starts):
        if at >= end:
            return None
        line = source.line(n)
        if line.strip() and not line.lstrip().startswith("#"):
            depth = len(line) - len(line.lstrip())
            return Error(
                "layout",
                "this clause belongs to no definition",
                (at + depth, at + len(line.rstrip())),
                help=("a definition starts in the first column",),
            )
    return None


def indentation(source: Source, start: int, end: int) -> Error | None:
    """The first line of an item that is indented by 1 to 3 spaces, or with a tab; texts in `\"\"\"` are free."""
    inside = [(a, b) for a, b in strings_of(source.text, start, end) if "\n" in source.text[a:b]]
    first, _ = source.place(start)
    for n in range(first + 1, len(source.starts)):
        at = source.starts[n]
        if at >= end:
            return None
        line = source.line(n)
        blank = line[: len(line) - len(line.lstrip(" \t"))]
        if not line.strip() or line[len(blank)] == "#" or any(a < at < b for a, b in inside):
            continue
        if "\t" in blank:
            return Error(
                "layout",
                "this line is indented with a tab",
                (at, at + len(blank)),
                "indent with spaces",
                help=("indent by 4 to start a clause, or deeper to continue the line above",),
            )
        if 0 < len(blank) < 4:
            return Error(
                "layout",
                f"this line is indented by {len(blank)}",
                (at, at + len(blank)),
                "a clause starts after exactly 4 spaces",
                help=("indent by 4 to start a clause, or deeper to continue the line above",),
            )
    return None


def too_deep(item) -> X | None:
    """An expression at nesting DEPTH, if there is one.  Works without recursion."""
    todo = [(item, 0)]
    while todo:
        node, depth = todo.pop()
        if isinstance(node, X):
            if depth >= DEPTH:
                return node
            depth += 1
        if isinstance(node, tuple):
            todo += [(c, depth) for c in node]
        elif is_dataclass(node):
            todo += [(getattr(node, f.name), depth) for f in fields(node) if f.compare]
    return None


# --- What was expected -----------------------------------------------------------------------------


def explain(e: UnexpectedInput, source: Source, start: int, end: int) -> Error:
    text = source.text
    expected = set(getattr(e, "accepts", None) or getattr(e, "expected", None) or getattr(e, "allowed", None) or ())
    token = getattr(e, "token", None)
    at, width = e.pos_in_stream, 1
    if isinstance(e, UnexpectedToken):
        if token.type == "$END":
            at = len(text[:end].rstrip())
        elif token.type == "_CLAUSE":
            width = 1
        else:
            width = len(token)
    at = min(max(at, start), end)
    failure = Failure(text, start, end, at, width, expected)
    return known_mistake(failure) or unexpected(failure)


def unexpected(f: Failure) -> Error:
    what = "end of line" if f.at_line_end else f"`{f.found}`"
    words = expected_words(f.expected)
    label = f"expected {either(words)}" if words else ""
    return Error("syntax", f"unexpected {what}", (f.at, f.at + f.width), label)


def expected_words(terminals: set[str]) -> list[str]:
    """At most four phrases for a set of terminals."""
    words = []
    left = set(terminals)
    if len(left & START) >= 5:
        words.append("a value")
        left -= START
    elif len(left & ON) >= 5:
        words.append("an operator")
        left -= ON
    words += sorted(
        {WORDS.get(t) or literal(t) for t in left if WORDS.get(t) or literal(t)}, key=lambda w: (w.startswith("a"), w)
    )
    return words if len(words) <= 4 else words[:3] + ["something else"]


def literal(terminal: str) -> str:
    """A terminal that is one word or sign, in backquotes; "" for one that is a pattern."""
    return _literals().get(terminal, "")


@cache
def _literals() -> dict[str, str]:
    return {t.name: f"`{t.pattern.value}`" for t in parser().terminals if t.pattern.type == "str"}
