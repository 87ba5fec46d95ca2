"""The grammar's terminals as a TextMate grammar, for editors: grammar/op.tmLanguage.json.

`python -m workbench highlight` writes the file; tests/test_highlight.py checks that it is current."""

from __future__ import annotations

import json
import re

from ..ir.program import CONSTANTS
from .parse import parser
from .places import GRAMMAR, ROOT
from .vocabulary import FUNCTIONS, OPTION_TYPES, RESULT_TYPES

FILE = GRAMMAR.with_name("op.tmLanguage.json")
EXTENSION = ROOT / "editors" / "vscode" / "syntaxes" / FILE.name  # the same in an editor's extension
ITEM_WORDS = ("op", "def", "schedule")
FORMULA_WORDS = ("if", "else", "and", "or", "not", "in")
INNER_WORDS = ("mut", "drop", "like", "unless", "when", "raises", "prints", "over", "groups", "of", "each", "break")


def words(names) -> str:
    return rf"\b({'|'.join(sorted(names))})\b"


def text_mate() -> dict:
    """The TextMate grammar as data.  Clause words count only where a clause starts, as in the language."""
    terminals = {t.name: t.pattern for t in parser().terminals}
    fixed = [p.value for p in terminals.values() if p.type == "str"]
    clauses = {w for w in fixed if w.isalpha()} - {*ITEM_WORDS, *FORMULA_WORDS, *INNER_WORDS}
    signs = sorted({re.escape(s) for s in fixed if not s.isalpha() and s not in "()[],.:"}, key=lambda s: (-len(s), s))
    operators = [terminals[name].value for name in ("ASSIGN", "COMPARE", "SHIFT", "BITOP", "MUL")]
    texts = [
        {"name": "string.quoted.triple.op", "begin": '"""', "end": '"""'},
        {
            "name": "string.quoted.double.op",
            "match": terminals["STRING"].value,
            "captures": {"0": {"patterns": [{"name": "constant.character.placeholder.op", "match": r"\{[^{}]*\}"}]}},
        },
    ]
    return {
        "$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
        "name": "Op",
        "scopeName": "source.op",
        "fileTypes": ["op"],
        "patterns": [
            {"include": f"#{part}"}
            for part in (
                "comment",
                "text",
                "item",
                "clause",
                "keyword",
                "type",
                "reduction",
                "function",
                "constant",
                "number",
                "operator",
            )
        ],
        "repository": {
            "comment": {"name": "comment.line.number-sign.op", "match": r"#.*$"},
            "text": {"patterns": texts},
            "item": {
                "match": rf"^({'|'.join(ITEM_WORDS)})\s+({terminals['OPNAME'].value})",
                "captures": {"1": {"name": "keyword.declaration.op"}, "2": {"name": "entity.name.function.op"}},
            },
            "clause": {
                "match": rf"^( {{4}})({'|'.join(sorted(clauses))})\b",
                "captures": {"2": {"name": "keyword.control.op"}},
            },
            "keyword": {"name": "keyword.operator.word.op", "match": words((*FORMULA_WORDS, *INNER_WORDS))},
            "type": {
                "name": "storage.type.op",
                "match": rf"(?<=[:>])\s*({'|'.join(sorted((*RESULT_TYPES, *OPTION_TYPES[:-1])))})\b",
            },
            "reduction": {"name": "support.function.reduction.op", "match": terminals["REDUCE"].value},
            "function": {"name": "support.function.op", "match": rf"\b({'|'.join(sorted(FUNCTIONS))})(?=\()"},
            "constant": {"name": "constant.language.op", "match": words(CONSTANTS)},
            "number": {"name": "constant.numeric.op", "match": rf"\b({terminals['NUMBER'].value})"},
            "operator": {"name": "keyword.operator.op", "match": "|".join([*operators, *signs])},
        },
    }


def text() -> str:
    return json.dumps(text_mate(), indent=2) + "\n"
