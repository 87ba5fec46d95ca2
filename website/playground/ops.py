"""The op playground: its page, the definitions to start from, and the language's words for its editor."""

from __future__ import annotations

import re
from pathlib import Path

from dsl.opdef import Library
from dsl.text.highlight import text_mate
from dsl.text.vocabulary import FUNCTIONS, OPTION_TYPES, RESULT_TYPES

from ..shell import Found, Shell

PATH = "playground/ops.html"
DEFINITIONS = Path(__file__).with_name("definitions")
ABOUT = "Define an op as a formula: its gradient, its kernels and its tests while you type, run on your GPU."
# What the editor calls the parts of the grammar; the first that matches counts.
KINDS = {
    "comment": "comment",
    "item": "item",
    "clause": "keyword",
    "keyword": "keyword",
    "type": "typeName",
    "reduction": "variableName.function",
    "function": "variableName.function",
    "constant": "bool",
    "number": "number",
}


def write(shell: Shell, library: Library) -> None:
    """The page, playground/definitions.json and playground/language.json."""
    shell.write(PATH, "op_playground.html.j2", title="Op playground", about=ABOUT)
    shell.found.append(Found("Op playground", PATH, "page", ABOUT))
    shell.write_data("playground/definitions.json", [example(f) for f in sorted(DEFINITIONS.glob("*.op"))])
    shell.write_data("playground/language.json", {"rules": rules(), "completions": completions(library)})


def example(file: Path) -> dict[str, str]:
    """A definition; its first line, a comment, is its title."""
    first, _, text = file.read_text(encoding="utf-8").partition("\n")
    return {"title": first.removeprefix("# "), "code": text}


def rules() -> list[tuple[str, str]]:
    """(regular expression of JavaScript, kind): the grammar of editors for one that knows no groups within a match, and
    that has passed blanks before it looks."""
    parts = text_mate()["repository"]
    found = [(parts["text"]["patterns"][1]["match"], "string")]
    for name, kind in KINDS.items():
        pattern = parts[name]["match"]
        if name == "item":
            pattern = r"^(?:op|or|def|schedule)\b"
        elif name == "clause":
            pattern = rf"(?<=^ {{4}})({pattern.partition(')(')[2]}"
        elif name == "type":
            pattern = r"(?<=[:>]\s*)" + pattern.partition(r"\s*")[2]
        found.append((pattern.replace("#.*$", "#.*"), kind))
    return [*found, (r"\b[A-Za-z_]\w*(?=\()", "variableName.function")]


def completions(library: Library) -> list[dict[str, str]]:
    """Everything that a formula may call, and the types."""
    found = [{"label": name, "type": "function", "detail": "", "info": ""} for name in FUNCTIONS]
    found += [{"label": name, "type": "type", "detail": "", "info": ""} for name in (*RESULT_TYPES, *OPTION_TYPES)]
    for op in library.ops.values():
        if op.tree is not None and not op.tree.question and op.name not in FUNCTIONS:
            sentence = re.split(r"(?<=[.:;])\s", " ".join(op.doc.split()), maxsplit=1)[0]
            detail = f"({', '.join(p.name for p in op.params)})"
            found.append({"label": op.name, "type": "function", "detail": detail, "info": sentence[:240]})
    return found
