"""What the runtime has by hand beside the definitions: the names it keeps for itself, and the ops it calls."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from dsl.checking.reach import alias_span
from dsl.opdef import OpDef
from dsl.text.diagnostics import Error
from dsl.text.source import Source

from .aliases import is_method

ROOT = Path(__file__).parents[2]
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


@dataclass(frozen=True)
class ByHand:
    """What the hand-written TypeScript has.  exports: of each module (`runtime/core`) the names of its values; methods:
    of tensors, but for those of composite functions; ops: those that modules import."""

    exports: dict[str, frozenset[str]]
    methods: frozenset[str]
    ops: frozenset[str]

    def functions(self, space: str) -> frozenset[str]:
        """The functions of a namespace that are made of ops."""
        return self.exports.get(f"runtime/composite/{'index' if space == 'torch' else space}", frozenset())

    @property
    def root(self) -> frozenset[str]:
        """The names in the root namespace that no op gets."""
        return self.exports["runtime/index"] | self.functions("torch")

    @property
    def called(self) -> frozenset[str]:
        """The ops that need no name to be called."""
        return self.ops | set(NEEDED)


def taken(ops: Iterable[OpDef], files: dict[str, Source], by_hand: ByHand) -> list[Error]:
    """Names of definitions that the runtime has: no call would reach the op.  files: the definitions by their stems."""
    functions, methods = by_hand.root, by_hand.methods
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
