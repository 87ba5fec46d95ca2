"""What the formulas of an op's kernels ask of its signature."""

from __future__ import annotations

from dataclasses import dataclass

STATIC_KINDS = ("bool", "choice")


@dataclass
class KernelContext:
    """options: their kinds, by symbol.  reals: the computed sizes that need not be whole.  classes: of the tensor
    parameters.  asked: the outputs of an op whose results are answers, of which a no is reported.  floating, integral:
    whether T may be a floating type, and whether one of whole numbers or bool.  presences: the symbols that say whether
    a parameter is given; an option of the same name is an option."""

    options: dict[str, str]
    reals: frozenset[str]
    classes: dict[str, str]
    asked: list[str]
    floating: bool
    integral: bool
    presences: frozenset[str]

    def is_presence(self, name: str) -> bool:
        """Whether a symbol says that a parameter is given."""
        return name in self.presences and name not in self.options and name not in self.reals

    def kind(self, name: str) -> str:
        """The kind of a symbol: an option's, "real" or "int"."""
        return self.options.get(name, "real" if name in self.reals else "int")

    def is_constant(self, name: str) -> bool:
        """Whether an option is a constant of kernels."""
        return self.options.get(name, "") in STATIC_KINDS


# Of what has no signature: a routine, a body.
NOTHING = KernelContext({}, frozenset(), {}, [], True, False, frozenset())
