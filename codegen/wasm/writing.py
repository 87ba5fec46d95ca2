"""Instructions put at the end of a function."""

from __future__ import annotations

from .encoder import Function, emit, release, variable


class FunctionWriter:
    """f: the function.  Variables go by their numbers."""

    def __init__(self, f: Function):
        self.f = f

    def emit(self, name: str, *values: float) -> None:
        emit(self.f, name, *values)

    def get(self, n: int) -> None:
        self.emit("local.get", n)

    def set(self, n: int) -> None:
        self.emit("local.set", n)

    def integer(self, n: int) -> None:
        self.emit("i32.const", n)

    def copied(self, n: int) -> int:
        """A new variable that begins as another."""
        made = variable(self.f, "i32")
        self.get(n)
        self.set(made)
        return made

    def zero(self) -> int:
        made = variable(self.f, "i32")
        self.integer(0)
        self.set(made)
        return made

    def zeros(self) -> int:
        """A vector of zeros."""
        made = variable(self.f, "v128")
        self.emit("v128.const", *([0] * 16))
        self.set(made)
        return made

    def add(self, n: int, by: int) -> None:
        self.get(n)
        self.integer(by)
        self.emit("i32.add")
        self.set(n)

    def count_down(self, n: int, by: int) -> None:
        """Takes so many from a variable, and leaves what it has now."""
        self.get(n)
        self.integer(by)
        self.emit("i32.sub")
        self.emit("local.tee", n)

    def negative(self) -> None:
        """0 less the number on the stack: 0 and 1 as none and all bits."""
        n = variable(self.f, "i32")
        self.set(n)
        self.integer(0)
        self.get(n)
        self.emit("i32.sub")
        release(self.f, n)
