"""What an op takes and gives, for people: `float tensor [N, C, H, W]`, `whole number or one for each of H, W`.

From the definition's signature alone.  Editors' hovers (docs.py) and the website's reference say the same words."""

from __future__ import annotations

import re

from dsl.opdef import OpDef
from dsl.text.show import expression
from dsl.text.syntax import Dim, Param, Type
from dsl.text.vocabulary import LISTS

TENSORS = {
    "Num": "tensor of numbers",
    "Float": "float tensor",
    "Complex": "complex tensor",
    "Int": "tensor of whole numbers",
    "Int32": "int32 tensor",
    "Bits": "tensor of whole numbers or bools",
    "Bool": "bool tensor",
    "Any": "tensor of any type",
}
OPTIONS = {
    "num": "number",
    "real": "number",
    "int": "whole number",
    "bool": "true or false",
    "dim": "axis",
    "dims": "axis or list of axes",
    "dtype": "type",
}
# Axes in space, by how many there are, as PyTorch's pages call them.
SPACE = {1: ("L",), 2: ("H", "W"), 3: ("D", "H", "W")}


def axes_of(name: str, rank: int) -> list[str]:
    """What the axes of a pack of fixed rank are called: `H, W` of the input's pack X, `Y_H, Y_W` of another."""
    letters = SPACE.get(rank, tuple(str(n + 1) for n in range(rank)))
    return list(letters) if name == "X" else [f"{name}_{letter}" for letter in letters]


def ranks(op: OpDef) -> dict[str, int]:
    """The packs of which a member of a family knows the rank."""
    if op.family is None or op.tree is None:
        return {}
    variable, rank = op.family
    types = [p.type for p in op.tree.params] + [o.type for o in op.tree.outputs if o.type]
    found = {d.name: rank for t in types for d in t.dims or () if d.kind == "pack" and d.rank == variable and d.name}
    # A size that is computed of such packs has as many axes.
    for size in op.tree.sizes:
        if size.pack and found.keys() & set(re.findall(r"\w+", expression(size.value))):
            found[size.name] = rank
    return found


def shape(op: OpDef, dims: tuple[Dim, ...]) -> str:
    """`[*B, C, H, W]`; `*B` stands for any number of axes."""
    known = ranks(op)
    parts: list[str] = []
    for d in dims:
        if d.kind == "pack" and d.name in known:
            parts += axes_of(d.name, known[d.name])
        else:
            parts.append(entry(op, d))
    return f"[{', '.join(parts)}]"


def entry(op: OpDef, d: Dim) -> str:
    match d.kind:
        case "pack":
            return f"*{d.name}"
        case "split":
            return " · ".join(d.factors)
        case "chosen":
            assert d.of is not None
            return f"{entry(op, d.of)} along {d.at}"
    text = family(op, expression(d.expr)) if d.expr is not None else str(d.name)
    return text if d.when is None else f"{text} if {family(op, expression(d.when))}"


def family(op: OpDef, text: str) -> str:
    """A family's variable replaced by this member's number."""
    if op.family is None:
        return text
    name, value = op.family
    return re.sub(rf"\b{name}\b", str(value), text.replace("{" + name + "}", str(value)))


def kind(op: OpDef, t: Type) -> str:
    """A type without what may stand for it."""
    if t.name == "choice":
        if not t.choices:
            return "null"
        texts = [c if c in ("true", "false") else f'"{c}"' for c in t.choices]
        return texts[0] if len(texts) == 1 else "one of " + ", ".join(texts)
    name = "Complex" if t.complex else t.name
    if name in TENSORS:
        if t.dims is None:
            return TENSORS[name]
        if len(t.dims) == 1 and t.dims[0].flat:
            return f"{TENSORS[name]}, its elements in a row"
        dims = t.dims[:-1] if t.complex else t.dims
        return f"{TENSORS[name]} {shape(op, dims)}" if dims else f"{TENSORS[name]} [] of one element"
    if name in LISTS:
        return several(op, t, "whole number" if name == "ints" else "number")
    return OPTIONS[name]


def several(op: OpDef, t: Type, one: str) -> str:
    """An option that is a list; `one`: what it is a list of."""
    (d,) = t.dims or (None,)
    if d is None:
        return f"{one}s"
    if d.kind == "pack":
        rank = ranks(op).get(d.name or "")
        names = ", ".join(axes_of("X", rank)) if rank and rank > 1 else ""
        return (
            f"{one}, or one for each of {names}"
            if names
            else (one if rank == 1 else f"{one}, or one for each of *{d.name}")
        )
    return f"{counted(family(op, expression(d.expr))) if d.expr is not None else d.name} {one}s"


def counted(text: str) -> str:
    """`2 * 3` as a number."""
    found = re.fullmatch(r"(\d+) ([*+]) (\d+)", text)
    if not found:
        return text
    a, b = int(found[1]), int(found[3])
    return str(a * b if found[2] == "*" else a + b)


def parameter(op: OpDef, p: Param) -> str:
    """`float tensor [C], or null`, `number or tensor of numbers`."""
    text = kind(op, p.type)
    if text == "null":
        return text
    if p.type.instead:
        text += {"num": ", or a number", "real": ", or a number", "ints": ", or a list of whole numbers"}[
            p.type.instead
        ]
    return text + (", or null" if p.type.optional else "")


def default(op: OpDef, p: Param) -> str:
    """The default as text, or nothing where there is none."""
    if p.default is None:
        return ""
    text = family(op, expression(p.default))
    return text.strip('"') if text in ('"true"', '"false"') else text


def result(op: OpDef, name: str) -> str:
    """What an op gives under one of its results' names."""
    assert op.tree is not None
    written = next((o.type for o in op.tree.outputs if o.name == name), None)
    if written is None:
        return "tensor"
    text = kind(op, written)
    if written.dims is None and op.pointwise:
        text += " of the shape that the arguments broadcast to"
    if op.drop and written.dims is None:
        text += f" without the axes of {op.drop}" + (", or with length 1 if keepdim" if op.keepdim else "")
    return text


def promotion(op: OpDef) -> str:
    """How the type of the results follows, or nothing where it is said by the signature alone."""
    kinds = {
        "default": "the common type of",
        "float": "the common type, as a float, of",
        "sum": "the common type, of bools and whole numbers int64, of",
    }
    if op.promote not in kinds or len(op.promoted) == 0:
        return ""
    return f"{kinds[op.promote]} {', '.join(op.promoted)}"
