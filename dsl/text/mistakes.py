"""Syntax errors with a text of their own: habits from other languages, brackets and quotes left open.

`known_mistake` looks at the place where the parser stopped; each function below knows one mistake and
answers an Error or None.  tests/broken/ has an example of each."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .diagnostics import Error

OPENING, CLOSING = {"(": ")", "[": "]", "{": "}"}, {")": "(", "]": "[", "}": "{"}
CLAUSE_WORDS = (
    "as",
    "complex",
    "for",
    "where",
    "require",
    "sample",
    "grad",
    "nograd",
    "test",
    "launch",
    "scratch",
    "ignore",
    "itself",
    "foreach",
    "numbers",
    "modulus",
    "within",
    "webgpu",
)
ITEM_WORDS = ("op", "or", "def", "schedule")
OPEN_TEXT, OPEN_BRACKET = "this text is never closed", "this bracket is never closed"


@dataclass(frozen=True)
class Failure:
    """Where the parser stopped: the item text[start:end], the offending text[at:at + width], and the
    terminals that would have been accepted."""

    text: str
    start: int
    end: int
    at: int
    width: int
    expected: frozenset[str] | set[str]

    @property
    def found(self) -> str:
        return (
            self.text[self.at : min(self.at + self.width, self.end)].strip()
            or self.text[self.at : min(self.at + 1, self.end)]
        )

    @property
    def before(self) -> str:
        """The item's text up to the place, without blanks at its end."""
        return self.text[self.start : self.at].rstrip()

    @property
    def at_line_end(self) -> bool:
        return self.at >= self.end or self.text[self.at] == "\n"


def strings_of(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Spans of texts in quotes and of comments; one that is never closed reaches to the end of its line,
    or of the item if it has three quotes."""
    out, at = [], start
    while at < end:
        m = re.compile(r'"""|"|#').search(text, at, end)
        if not m:
            break
        if m[0] == '"""':
            close = text.find('"""', m.end(), end)
            stop = end if close < 0 else close + 3
        else:
            line = text.find("\n", m.end(), end)
            line = end if line < 0 else line
            close = -1 if m[0] == "#" else text.find('"', m.end(), line)
            stop = line if close < 0 else close + 1
        out.append((m.start(), stop))
        at = stop
    return out


def blanked(f: Failure) -> str:
    """The item with texts and comments overwritten by blanks, same offsets."""
    text = f.text[f.start : f.end]
    for a, b in strings_of(f.text, f.start, f.end):
        text = text[: a - f.start] + " " * (b - a) + text[b - f.start :]
    return text


def known_mistake(f: Failure) -> Error | None:
    return next(filter(None, (mistake(f) for mistake in MISTAKES)), None)


# --- Brackets and quotes ---------------------------------------------------------------------------


def open_quote(f: Failure) -> Error | None:
    for a, b in strings_of(f.text, f.start, f.end):
        if f.text.startswith('"""', a) and (b - a < 6 or not f.text.endswith('"""', a, b)):
            help = ("every line of the text must be indented, also its last quotes",) if f.end < len(f.text) else ()
            return Error("syntax", OPEN_TEXT, (a, a + 3), 'no `"""` follows in this definition', help=help)
        if f.text[a] == '"' and (b - a == 1 or f.text[b - 1] != '"') and a >= f.at - 1:
            return Error(
                "syntax", OPEN_TEXT, (a, a + 1), "opened here", ((((b - 1), b), 'the line ends before another `"`'),)
            )
    return None


def brackets(f: Failure) -> Error | None:
    """The bracket that is open at the end of its line, or closed by another kind."""
    text, stack = blanked(f), []
    for i, c in enumerate(text[: f.at - f.start + 1]):
        at = f.start + i
        if c in OPENING:
            stack.append((c, at))
        elif c in CLOSING:
            if at != f.at:
                if stack:
                    stack.pop()
                continue
            if not stack:
                return Error("syntax", f"this `{c}` closes nothing", (at, at + 1))
            o, where = stack[-1]
            if OPENING[o] != c:
                return Error(
                    "syntax",
                    f"`{o}` is closed by `{c}`",
                    (at, at + 1),
                    f"expected `{OPENING[o]}`",
                    (((where, where + 1), "opened here"),),
                )
    if not stack or not f.at_line_end:
        return None
    bracket, where = stack[-1]
    help = ()
    if re.match(r"\n {4}[^ \n]", f.text[f.at : f.end]) and re.match(r"[\w*(\[\"-]", f.text[f.at + 5]):
        word = re.match(r"\w*", f.text[f.at + 5 :])[0]
        if word not in CLAUSE_WORDS and f.text[f.at + 5] != '"':
            help = ("indent by more than 4 to continue the line above",)
    return Error(
        "syntax",
        OPEN_BRACKET,
        (where, where + 1),
        "opened here",
        (((f.at, f.at + 1), f"the line ends before `{OPENING[bracket]}`"),),
        help,
    )


# --- Habits from other languages -------------------------------------------------------------------


def operator(f: Failure) -> Error | None:
    """Operators that are written otherwise here."""
    for sign, message, help in OPERATORS:
        for start in range(f.at, max(f.at - len(sign), f.start - 1), -1):
            if f.text.startswith(sign, start) and not f.text.startswith(LONGER.get(sign, "\0"), start):
                return Error("syntax", message, (start, start + len(sign)), help=(help,))
    return None


OPERATORS = (
    ("===", "there is no `===`", "write `==`"),
    ("!==", "there is no `!==`", "write `!=`"),
    ("&&", "there is no `&&`", "write `and`"),
    ("||", "there is no `||`", "write `or`"),
    ("++", "there is no `++`", "write the sum out, or `+=` to add to a result"),
    *(
        (sign + "=", f"there is no `{sign}=`", f"write the formula out:  y = x {sign} 2")
        for sign in ("**", "//", "-", "*", "/", "%")
    ),
    (":=", "there is no `:=`", "write `=`"),
    ("=>", "there is no `=>`", "write `>=` to compare, or `->` before a result"),
    ("<>", "there is no `<>`", "write `!=`"),
    ("!", "there is no `!`", "write `not`"),
    ("?", "there is no `? :`", "write  a if condition else b"),
    (";", "there is no `;`", "put each clause on a line of its own"),
    ("'", "texts have double quotes", 'write "..."'),
)
LONGER = {"!": "!=", "?": "??"}
LETTERS = {
    "×": "*",
    "·": "*",
    "÷": "/",
    "−": "-",
    "–": "-",
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "→": "->",
    "“": '"',
    "”": '"',
    "∑": "sum[...]",
    "Σ": "sum[...]",
    "²": "** 2",
    "³": "** 3",
    "…": "..",
    "∞": "inf",
    "π": "pi",
    "√": "sqrt(...)",
    "∧": "and",
    "∨": "or",
    "¬": "not",
}


def letter(f: Failure) -> Error | None:
    """A letter or sign that no part of the language has."""
    c = f.text[f.at : min(f.at + 1, f.end)]
    if (
        c
        and f.found == c
        and (not c.isascii() or not c.isprintable() and c != "\n" or c in "$@`\\{}" and "AT" not in f.expected)
    ):
        where = (f.at, f.at + 1)
        if c in LETTERS:
            return Error("syntax", f"unexpected `{c}`", where, f"write `{LETTERS[c]}`")
        shown = f"`{c}`" if c.isprintable() else f"sign U+{ord(c):04X}"
        return Error("syntax", f"unexpected {shown}", where, "outside of texts and comments this sign has no meaning")
    return None


def other(f: Failure) -> Error | None:
    """`a if c` without `else`, a parameter without a type."""
    if "ELSE" in f.expected and f.at_line_end:
        return Error(
            "syntax",
            "an `if` has no `else`",
            (f.at, f.at + 1),
            "the line ends before `else`",
            help=("write  a if condition else b",),
        )
    name = re.search(r"[A-Za-z_]\w*$", f.before)
    if f.expected == {"COLON"} and name:
        return Error(
            "syntax",
            f"the parameter `{name[0]}` has no type",
            (f.start + name.start(), f.start + name.end()),
            help=(f"write  {name[0]}: Num",),
        )
    return None


def equals(f: Failure) -> Error | None:
    """`=` where only `==` makes sense."""
    if f.found == "=" and "COMPARE" in f.expected:
        return Error("syntax", "`=` assigns, it does not compare", (f.at, f.at + 1), "a comparison is written `==`")
    return None


def dots(f: Failure) -> Error | None:
    """One dot, or three, for two."""
    at = f.start + len(f.before)
    if f.found == ".":
        if f.before.endswith(".."):
            return Error("syntax", "a range is written with two dots", (at - 2, f.at + 1), "write `..`")
        if "RANGE" in f.expected:
            return Error("syntax", "a range is written with two dots", (f.at, f.at + 1), "write `..`")
        if re.match(r"\.[0-9]", f.text[f.at : f.end]):
            number = re.match(r"\.[0-9]+", f.text[f.at :])[0]
            return Error("syntax", "a number starts with a digit", (f.at, f.at + len(number)), f"write `0{number}`")
        if re.search(r"[0-9]$", f.before) and f.at == at:
            return Error(
                "syntax", "a number does not end with a dot", (f.at, f.at + 1), "leave the dot out, or write `.0`"
            )
    if re.search(r"(?<!\.)\.$", f.before) and re.match(r"[0-9]|-", f.found):
        return Error("syntax", "a range is written with two dots", (at - 1, at), "write `..`")
    if re.search(r"[0-9]\.$", f.before):
        return Error("syntax", "a number does not end with a dot", (at - 1, at), "leave the dot out, or write `.0`")
    return None


def stars(f: Failure) -> Error | None:
    """`**` where a pack is meant."""
    if f.text.startswith("**", f.at) and re.search(r"[\[,]$", f.before):
        return Error("syntax", "a pack of axes is written with one star", (f.at, f.at + 2), "write `*`")
    return None


def product(f: Failure) -> Error | None:
    """`2x`."""
    m = re.search(r"[0-9.]+$", f.before)
    if m and re.match(r"[A-Za-z_]", f.found) and f.at == f.start + len(f.before) and "MUL" in f.expected:
        return Error(
            "syntax", "a product needs its sign", (f.at - len(m[0]), f.at + f.width), f"write  {m[0]} * {f.found}"
        )
    return None


def statement(f: Failure) -> Error | None:
    """`return x`, `let y = x`, `if x:` and the like at the start of a clause."""
    line = f.text[f.text.rfind("\n", 0, f.at) + 1 : f.end].split("\n")[0]
    m = re.match(r"( {4})(return|let|var|const|if|else|while|elif|for(?= \w+ in [^0-9]))\b", line)
    at = f.text.rfind("\n", 0, f.at) + 1
    if not m or f.at - at > 5 + len(m[2]) and m[2] != "for":
        return None
    span = (at + 4, at + 4 + len(m[2]))
    if m[2] == "return":
        return Error("syntax", "there is no `return`", span, help=("assign the result:  out = ...",))
    if m[2] in ("let", "var", "const"):
        return Error("syntax", f"there is no `{m[2]}`", span, help=("write the name alone:  y = ...",))
    if m[2] in ("while", "for"):
        return Error("syntax", "there are no loops", span, help=("write what each element is:  out[i] = ...",))
    return Error(
        "syntax",
        "there are no statements under a condition",
        span,
        help=("choose a value:  out = a if condition else b",),
    )


def comment(f: Failure) -> Error | None:
    for sign in ("//", "/*", "--"):
        if f.text.startswith(sign, f.at) and (f.before == "" or "\n" in f.text[f.start + len(f.before) : f.at]):
            return Error("syntax", f"a comment does not start with `{sign}`", (f.at, f.at + len(sign)), "write `#`")
    return None


def continues(result: Error, before: Error, text: str) -> Error | None:
    """The one error for two items, if the second only goes on with a text or a bracket left open in the first."""
    if (
        before.message == OPEN_TEXT
        and before.span[1] - before.span[0] == 3
        and not re.match(rf"({'|'.join(ITEM_WORDS)})\b", text)
    ):
        return before
    if before.message == OPEN_BRACKET and text[0] in CLOSING:
        return result
    return None


def item(f: Failure) -> Error | None:
    """A line in the first column that starts no definition."""
    if f.at != f.start:
        return None
    if f.found in CLOSING:
        return Error(
            "layout",
            f"a line starts with `{f.found}` in the first column",
            (f.at, f.at + 1),
            "a definition ends before it",
            help=("indent it by more than 4",),
        )
    word = re.match(r"\w+", f.text[f.at : f.end])
    word = word[0] if word else f.found
    label = "a line in the first column starts a definition"
    if word in CLAUSE_WORDS:
        return Error(
            "layout", f"the clause `{word}` starts in the first column", (f.at, f.at + len(word)), "indent it by 4"
        )
    return Error(
        "syntax",
        f"unexpected `{word}`",
        (f.at, f.at + len(word)),
        label,
        help=("it begins with `op`, `def` or `schedule`; comments begin with `#`",),
    )


MISTAKES = (open_quote, item, comment, statement, equals, stars, dots, operator, product, letter, brackets, other)
