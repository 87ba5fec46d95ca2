"""Text of generated functions: lines with indentation, heads, declarations, and a kernel as formulas for its
comment."""

from __future__ import annotations

from dsl.ir.expression import E, Element, Read, Result, Symbol, transform

from ..kernels.kernel import Kernel


class Text:
    """Lines with indentation."""

    def __init__(self):
        self.lines, self.depth = [], 0

    def add(self, line: str):
        self.lines.append("  " * self.depth + line if line else "")

    def open(self, line: str):
        self.add(line + " {")
        self.depth += 1

    def close(self, after: str = ""):
        self.depth -= 1
        self.add("}" + after)

    def add_all(self, lines: list[str]):
        for line in lines:
            self.add(line)

    def __str__(self):
        return "\n".join(self.lines)


def open_kernel(text: Text, name: str, said: str):
    """The head of a kernel: kernels are JavaScript, so that a build need not compile them; their types are in
    comments."""
    text.add_all(["/**", f" * {said}", " * @param {KernelCall} args", " */"])
    text.open(f"function {name}(args)")


def listed(keyword: str, items: list[str], width: int = 110) -> list[str]:
    """`const a = 1, b = 2;` in as many lines as needed."""
    lines: list[str] = []
    for item in dict.fromkeys(items):
        if lines and len(lines[-1]) + len(item) < width:
            lines[-1] += f", {item}"
        else:
            lines.append(f"{keyword} {item}")
    return [line + ";" for line in lines]


def describe(kernel: Kernel) -> str:
    """The kernel as formulas, for the comment above its function."""

    def back(e: E) -> E:
        def f(n: E):
            if isinstance(n, Result):
                return values.get(n.step)
            if not isinstance(n, Element):
                return None
            a = kernel.accesses[n.access]
            return Read(a.tensor, tuple(map(back, a.index)), back(a.fallback) if a.fallback is not None else None)

        return transform(e, f)

    values: dict[int, E] = {}
    parts = []
    for s in kernel.steps:
        if s.kind == "reduce":
            over = ", ".join(("*" if l.pack else "") + l.name for l in kernel.rloops)
            where = f" if {back(s.pred)!r}" if s.pred is not None else ""
            values[s.result] = Symbol(f"{s.red}[{over}{where}] {back(s.body)!r}")
        else:
            a = kernel.accesses[s.target]
            parts.append(f"{a.tensor}[{', '.join(repr(back(i)) for i in a.index)}] {s.mode} {back(s.body)!r}")
    text = "; ".join(parts).replace("*/", "* /")
    return text if len(text) < 240 else text[:236] + " ..."
