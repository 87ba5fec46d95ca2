"""Text of generated functions: lines with indentation, and heads."""

from __future__ import annotations


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
    text.add_all(["/**", f" * {said}", " * @param {Parameters<RawFunction>[0]} args", " */"])
    text.open(f"export function {name}(args)")
