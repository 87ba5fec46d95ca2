"""The playground's page, the programs to start from, and the names that its editor completes."""

from __future__ import annotations

import re
from pathlib import Path

from ..reference import typings
from ..shell import Found, Shell

PATH = "playground/index.html"
HERE = Path(__file__).parent
EXAMPLES = HERE / "examples"
ABOUT = "Write a program with tensors, and run it here: on your GPU, or on your CPU."


def write(shell: Shell, dist: Path) -> None:
    """The page, playground/examples.json and playground/names.json.  dist: the built package."""
    shell.write(PATH, "playground.html.j2", title="Playground", about=ABOUT)
    shell.found.append(Found("Playground", PATH, "page", ABOUT))
    shell.write_data("playground/examples.json", [example(file) for file in sorted(EXAMPLES.glob("*.mjs"))])
    shell.write_data("playground/names.json", completions(typings.read(dist, shell.earlier)))


def example(file: Path) -> dict[str, str]:
    """A program; its first line, a comment, is its title."""
    first, _, text = file.read_text(encoding="utf-8").partition("\n")
    return {"title": first.removeprefix("// "), "code": text.lstrip("\n")}


def completions(values: list[typings.Value]) -> dict[str, list[dict[str, str]]]:
    """What stands behind `torch.nn.`, by that, and what behind a tensor's point, by `Tensor`: label, kind, how it is
    called, and the beginning of its comment."""
    found: dict[str, list[dict[str, str]]] = {}
    for value in values:
        for name in (value.name, *value.names):
            space, _, label = name.rpartition(".")
            found.setdefault(space, []).append(entry(label, value))
    tensor = next(v for v in values if v.name == "torch.Tensor")
    found["Tensor"] = [entry(member.name, member) for member in tensor.members]
    for space in list(found):
        parts = space.split(".")
        for n in range(1, len(parts)):
            outer = found.setdefault(".".join(parts[:n]), [])
            if not any(one["label"] == parts[n] for one in outer):
                outer.append({"label": parts[n], "type": "namespace", "detail": "", "info": ""})
    return found


def entry(label: str, value: typings.Value) -> dict[str, str]:
    first = value.signatures[0] if value.signatures else None
    shown = [f"{p.name}{'?' if p.optional else ''}" for p in first.params] if first else []
    sentence = re.split(r"(?<=[.:;])\s", " ".join(value.text.split()), maxsplit=1)[0]
    return {
        "label": label,
        "type": value.kind if value.kind != "value" else "constant",
        "detail": f"({', '.join(dict.fromkeys(shown))})" if first else "",
        "info": sentence[:240],
    }
