"""What names mean: the vocabulary of a library, and the scope of one op.

Facts only; the checks are in dsl/checking/signature.py, dsl/checking/formulas.py and dsl/checking/names.py."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from ..ir.program import CONSTANTS as CONSTANTS
from ..text.source import Source
from ..text.syntax import Def, Op, Span, Type
from ..text.vocabulary import FUNCTIONS, LISTS, expanded, is_tensor

LONGEST = 16  # of lists of numbers, and ranks of families


@dataclass(frozen=True)
class Thing:
    """What a name of an op stands for.

    kind   tensor option size pack rank local output gradient
    axes   for things that take indices: one text for each, `*B` for a pack of axes; None: unknown"""

    kind: str
    name: str
    span: Span
    type: Type | None = None
    axes: tuple[str, ...] | None = None
    parts: tuple[str, ...] = ()  # of a gradient with several outputs: g.values


@dataclass
class Scope:
    """The names of one op."""

    op: Op
    source: Source
    things: dict[str, Thing] = field(default_factory=dict)

    @property
    def fixed(self) -> set[str]:
        """Packs whose rank the definition gives: `*X:D`, and those of `where`."""
        shapes = [p.type.dims for p in self.op.params] + [o.type.dims for o in self.op.outputs if o.type]
        return {d.name for dims in shapes for d in dims or () if d.rank} | {s.name for s in self.op.sizes if s.pack}

    def of_kind(self, *kinds: str) -> list[str]:
        return [n for n, t in self.things.items() if t.kind in kinds]

    def axis_options(self) -> list[str]:
        return [n for n, t in self.things.items() if t.kind == "option" and t.type and t.type.name in ("dim", "dims")]

    def axes(self) -> list[str]:
        """What names an axis: options, and `where` sizes, which are no choice of a caller's."""
        return [*self.axis_options(), *(s.name for s in self.op.sizes if not s.pack)]


@dataclass
class Vocabulary:
    """All definitions of a library: ops by the names they can be called by, and formulas.  home: the project whose
    definitions they are, and `own` its ops."""

    ops: Mapping[str, Op] = field(default_factory=dict)
    defs: dict[str, Def] = field(default_factory=dict)
    own: Mapping[str, Op] = field(default_factory=dict)
    home: str = ""

    @staticmethod
    def of(items: Iterable, beside: Mapping[str, Op] = MappingProxyType({}), home: str = "") -> Vocabulary:
        """Of two definitions with one name the first counts, and all before those of `beside`."""
        own: dict[str, Op] = {}
        ops = ChainMap(own, beside) if beside else own  # type: ignore[arg-type]  # nothing is put into `beside`
        v = Vocabulary(ops, own=own if home else ops, home=home)
        for item in items:
            if isinstance(item, Op):
                for name in expanded(item):
                    own.setdefault(name, item)
            elif isinstance(item, Def):
                v.defs.setdefault(item.name, item)
        return v

    def functions(self) -> list[str]:
        return [*FUNCTIONS, *self.defs, *self.ops]


def compared(name: str, op: Op) -> str | None:
    """What `same_a_b` or `stretched_a_b` is for parameters a and b; None for other names.  Of many parameters there are
    too many pairs for a list."""
    params, words = {p.name for p in op.params}, name.split("_")
    for i in range(2, len(words)):
        a, b = "_".join(words[1:i]), "_".join(words[i:])
        if words[0] == "same" and a in params and b in params:
            return f"whether `{a}` and `{b}` have one shape"
        if words[0] == "stretched" and a in params and b in params:
            return f"along how many axes `{a}` is stretched to `{b}`"
    return None


def derived(op: Op) -> dict[str, str]:
    """Names that an op's tensors, packs and lists bring with them, and what they are; see dsl/opdef.py."""
    out: dict[str, str] = {"floating": "whether the common type is a floating one"}
    tensors, outputs = [p.name for p in op.params if is_tensor(p)], [o.name for o in op.outputs]
    dims = [d for p in op.params for d in p.type.dims or ()]
    packs = [d.name for d in dims if d.kind == "pack"] + [s.name for s in op.sizes if s.pack]
    packs += ["I", "kept", "dropped"]  # of elementwise formulas and of reductions over `dim`
    for b in packs:
        out |= {f"count_{b}": f"the number of elements of `{b}`", f"rank_{b}": f"the rank of `{b}`"}
        out |= {f"fits_{b}_{c}": f"whether `{b}` fits into `{c}`" for c in packs}
    numbered = [d.name for d in dims if d.rank] + [s.name for s in op.sizes if s.pack]
    for b in [*numbered, *(p.name for p in op.params if p.type.name in LISTS)]:
        out |= {f"{b}{j}": f"the number at {j} of `{b}`" for j in range(LONGEST)}
    for p in op.params:
        out[f"has_{p.name}"] = f"whether `{p.name}` is given"
        if is_tensor(p) or p.type.name == "dtype":
            out[f"type_{p.name}"] = f"the type of `{p.name}`"
        if is_tensor(p):
            out |= {f"rank_{p.name}": f"the rank of `{p.name}`", f"size_{p.name}_0": f"the first size of `{p.name}`"}
            out[f"size_{p.name}_last"] = f"the last size of `{p.name}`"
            out[f"number_{p.name}"] = f"whether a number stands for `{p.name}`"
    cotangents = {f"g_{n}": f"the gradient of `{n}`" for n in outputs}
    slopes = {f"d_{n}": f"the gradient by `{n}`" for n in tensors}
    twice = {f"gg_{n}": f"a gradient by `{n}`" for n in tensors} | {
        f"dd_{n}": f"a gradient by `{n}`" for n in (*tensors, *outputs, *cotangents)
    }
    return out | cotangents | slopes | twice
