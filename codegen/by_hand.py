"""What the runtime has by hand beside the definitions: the names it keeps for itself, and the ops it calls."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from dsl.diagnostics import Error
from dsl.opdef import OpDef
from dsl.reach import alias_span
from dsl.source import Source

from .ts.aliases import is_method

ROOT = Path(__file__).parents[1]
FOLDERS = ("runtime", "compat")
# The ops that every runtime needs, which it imports as one module.
NEEDED = (
    "copy",
    "accumulate",
    "sum",
    "rand_like",
    "randn_like",
    "randint_fill",
    "index_select",
    "index_add",
    "index_copy",
    "place_along",
    "where",
    "add",
    "sub",
    "ne",
    "flip_one",
    "roll_one",
)


def sources() -> dict[str, str]:
    """All hand-written TypeScript, by its path in the repository."""
    return {
        str(p.relative_to(ROOT)): p.read_text(encoding="utf-8")
        for folder in FOLDERS
        for p in sorted((ROOT / folder).rglob("*.ts"))
    }


def called() -> set[str]:
    """The ops that hand-written modules name."""
    return {*NEEDED, *(name for text in sources().values() for name in re.findall(r"\b(\w+)Op\b", text))}


def exported(text: str) -> set[str]:
    """The names that a module exports by name."""
    found = set(re.findall(r"^export (?:async )?(?:function|const|class|let) (\w+)", text, re.M))
    for group in re.findall(r"^export \{([^}]*)\}", text, re.M | re.S):
        found |= {
            part.split(" as ")[-1].strip()
            for part in group.split(",")
            if part.strip() and not part.strip().startswith("type ")
        }
    return found | set(re.findall(r"^export \* as (\w+)", text, re.M))


def members(text: str) -> frozenset[str]:
    """The methods and accessors of the class in a module, by their indentation."""
    return frozenset(re.findall(r"^  (?:static )?(?:async )?(?:get |set )?(\w+)(?:<[^>]*>)?\(", text, re.M))


@cache
def functions_and_methods() -> tuple[frozenset[str], frozenset[str]]:
    """Names in the root namespace, and of tensors' methods, that no op gets."""
    texts = {
        name: (ROOT / "runtime" / f"{name}.ts").read_text(encoding="utf-8")
        for name in ("index", "core", "composed/index", "tensor/tensor", "functions/tensor-methods")
    }
    return (
        frozenset(exported(texts["index"]) | exported(texts["core"]) | exported(texts["composed/index"])),
        members(texts["tensor/tensor"]) | members(texts["functions/tensor-methods"]),
    )


def taken(ops: Iterable[OpDef], files: dict[str, Source]) -> list[Error]:
    """Names of definitions that the runtime has: no call would reach the op.  files: the definitions by their stems."""
    functions, methods = functions_and_methods()
    errors = []
    for op in ops:
        for n, alias in enumerate(op.aliases):
            space, name = alias.rsplit(".", 1)
            if space == "torch" and name in functions or space == "Tensor" and name in methods and is_method(op):
                errors.append(
                    Error(
                        "name",
                        f"no call of `{alias}` reaches `{op.name}`",
                        alias_span(op.tree, files[op.file], n),
                        "the package has it by hand",
                        help=("take another name",),
                        path=files[op.file].path,
                    )
                )
    return errors
