"""What the formulas of an op's kernels ask of its signature."""

from __future__ import annotations

from dataclasses import dataclass

STATIC_KINDS = ("bool", "choice")


@dataclass
class KernelContext:
    """options: their kinds, by symbol.  reals: the computed sizes that need not be whole.  classes: of the tensor
    parameters.  asked: the outputs of an op whose results are answers, of which a no is reported.  floating, integral:
    whether T may be a floating type, and whether one of whole numbers or bool."""

    options: dict[str, str]
    reals: frozenset[str]
    classes: dict[str, str]
    asked: list[str]
    floating: bool
    integral: bool

    def has(self, name: str) -> bool:
        """Whether a symbol is an option, or a size that is a real number."""
        return name in self.options or name in self.reals

    def kind(self, name: str) -> str:
        """The kind of a symbol: an option's, "real" or "int"."""
        return self.options.get(name, "real" if name in self.reals else "int")

    def is_constant(self, name: str) -> bool:
        """Whether an option is a constant of kernels."""
        return self.options.get(name, "") in STATIC_KINDS


NOTHING = KernelContext({}, frozenset(), {}, [], True, False)  # of what has no signature: a routine, a body
