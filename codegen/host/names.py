"""Names in kernels: those of a definition that a shading language or a kernel's own text keeps for itself."""

from __future__ import annotations

# Keywords and reserved words of WGSL that a definition's names could be, and names the kernels' skeletons use.
RESERVED: list[str] = [
    "alias", "break", "case", "const", "continue", "default", "diagnostic", "discard", "else", "enable", "false", "fn", "for", "if",
    "let", "loop", "override", "requires", "return", "struct", "switch", "true", "var", "while", "as", "async", "auto", "await",
    "become", "class", "common", "compile", "delete", "do", "enum", "explicit", "export", "extern", "external", "filter", "final",
    "from", "get", "goto", "handle", "impl", "import", "inline", "interface", "layout", "lowp", "macro", "match", "meta", "mod",
    "module", "move", "mut", "mutable", "namespace", "new", "nil", "noexcept", "null", "of", "operator", "package", "packoffset",
    "partition", "pass", "patch", "precise", "precision", "private", "protected", "ptr", "pub", "public", "readonly", "ref", "register",
    "resource", "self", "set", "shared", "sizeof", "smooth", "static", "std", "super", "target", "template", "this", "throw",
    "trait", "try", "type", "typedef", "typeof", "union", "unless", "unsafe", "use", "using", "virtual", "volatile", "where", "with",
    "yield", "array", "atomic", "bool", "f16", "f32", "i32", "u32", "vec2", "vec3", "vec4", "bitcast", "select", "main", "abs", "max",
    "min", "floor", "ceil", "round", "trunc", "sqrt", "exp", "log", "sin", "cos", "p", "lane", "group", "local", "flat", "rows", "row",
    "columns", "column", "depth", "total", "block", "place", "points", "inner", "outer", "first", "last", "at", "value", "best", "tile",
    "is_bool", "Words"]


def safe_name(name: str) -> str:
    """A name from a definition as a kernel writes it."""
    return name + "_" if name in RESERVED else name
