"""Colours code: pygments, and a lexer of `.op` from the same words as the editors' grammar."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from pygments import highlight
from pygments.formatters.html import HtmlFormatter
from pygments.lexer import Lexer, RegexLexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Name, Number, Operator, String, Text, Whitespace
from pygments.util import ClassNotFound

from dsl.text.highlight import text_mate

TOKENS = {
    "comment": Comment.Single,
    "string": String.Double,
    "keyword.control": Keyword,
    "keyword.operator.word": Keyword,
    "keyword.operator": Operator,
    "storage": Keyword.Type,
    "support": Name.Builtin,
    "constant.language": Keyword.Constant,
    "constant.numeric": Number,
}
# As pygments calls them.
FORMATTER = HtmlFormatter(nowrap=True)
LANGUAGES = {"mjs": "js", "sh": "bash", "wgsl": "wgsl", "wat": "wast"}


def token(scope: str) -> Any:
    """The kind of token that a scope of the grammar is, by its longest beginning that is known."""
    return next((kind for name, kind in sorted(TOKENS.items(), reverse=True) if scope.startswith(name)), Text)


@cache
def op_lexer() -> Lexer:
    """The language of definitions."""
    parts = text_mate()["repository"]
    rules: list[Any] = [(r"\s+", Whitespace)]
    rules += [(r'"""[\s\S]*?"""', String.Doc), (parts["text"]["patterns"][1]["match"], String.Double)]
    for name in ("comment", "item", "clause", "keyword", "type", "reduction", "function", "constant", "number"):
        part = parts[name]
        if name == "item":
            rules.append((r"^(op|or|def|schedule)(\s+)([\w{}]+)", by_groups(Keyword, Whitespace, Name.Function)))
        elif name == "type":
            words = re.findall(r"\w+", part["match"].partition("*(")[2].rpartition(")")[0])
            rules.append((rf"(:|->)(\s*)({'|'.join(words)})\b", by_groups(Operator, Whitespace, Keyword.Type)))
        elif name == "clause":
            words = re.findall(r"\w+", part["match"].partition(")(")[2].rpartition(")")[0])
            rules.append((rf"(?<=\n    )({'|'.join(words)})\b", Keyword))
        else:
            rules.append((part["match"], token(part["name"])))
    rules += [(r"[A-Za-z_]\w*", Name), (parts["operator"]["match"], Operator), (r".", Text)]
    made: Any = type("OpLexer", (RegexLexer,), {"name": "op", "flags": re.MULTILINE, "tokens": {"root": rules}})
    lexer_: Lexer = made()
    return lexer_


def by_groups(*kinds: Any) -> Any:
    from pygments.lexer import bygroups

    return bygroups(*kinds)  # type: ignore[no-untyped-call]


@cache
def lexer(language: str) -> Lexer:
    if language == "op":
        return op_lexer()
    try:
        return get_lexer_by_name(LANGUAGES.get(language, language or "text"))
    except ClassNotFound:
        return get_lexer_by_name("text")


def highlighted(code: str, language: str) -> str:
    """HTML of spans whose classes styles/code.css colours, without an element around them."""
    return str(highlight(code.rstrip("\n"), lexer(language), FORMATTER))
