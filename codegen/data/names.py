"""Names of a definition in a kernel's text: they end in `_`, as no name of the kernel's own, of the prelude or of WGSL
does."""

from __future__ import annotations


def safe_name(name: str) -> str:
    """A name from a definition as a kernel writes it; `inf` and `nan` are uniforms."""
    return name if name == "inf" or name == "nan" else name + "_"
