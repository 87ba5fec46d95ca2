"""The arguments of a call as people write them into a form: `3x4`, `[[1, 2], [3, 4]]`, `8:int64`, `0.5`, `mean`.

A tensor is its elements, or its shape alone, which asks for random ones; behind a colon its type if that is not the
usual one of the parameter.  Needs no numpy."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf, isfinite, isinf, prod

from codegen.data.errors import OpError
from dsl.opdef import OpDef, Param
from dsl.text.show import expression
from dsl.text.source import Source
from dsl.text.syntax import Test, X

from . import call_text

LITERAL = re.compile(r"(.*[\])\d.a-z])\s*:\s*([a-z]+\d*)", re.S)
CONSTANTS = {"inf": "Infinity", "nan": "NaN"}
FITTING = 3  # elements from which on a test shows enough to be the first call


@dataclass(frozen=True)
class Argument:
    """shape, dtype: of a tensor; elements: its numbers, nested, or None for random ones.  value: of anything else."""

    shape: tuple[int, ...] | None = None
    dtype: str = ""
    elements: object = None
    value: object = None

    def data(self) -> dict:
        """For JSON; numbers that JSON lacks are texts."""
        if self.shape is None:
            return {"value": self.value}
        return {"tensor": finite(self.elements), "shape": list(self.shape), "dtype": self.dtype}


def finite(x: object) -> object:
    if isinstance(x, list):
        return [finite(y) for y in x]
    if isinstance(x, float) and not isfinite(x):
        return ("-" if x == -inf else "") + "Infinity" if isinf(x) else "NaN"
    return x


def given(op: OpDef, texts: Mapping[str, str]) -> dict[str, Argument]:
    """The arguments of which a text says something.  Raises OpError for one that says none."""
    known = {p.name: p for p in op.params}
    return {n: argument(op, known[n], text.strip()) for n, text in texts.items() if n in known and text.strip()}


def argument(op: OpDef, p: Param, text: str) -> Argument:
    if p.kind != "tensor":
        return Argument(value=call_text.value(op, p, re.sub(r"[\[\]\s]", "", text).strip("\"'")))
    said = call_text.measures(op, p, text)
    if said is not None and ("x" in text or text.startswith("(")):
        return Argument(*said)
    found = LITERAL.fullmatch(text)
    literal, dtype = (found[1], found[2]) if found else (text, None)
    try:
        elements = json.loads(re.sub(r"\b(inf|nan)\b", lambda m: CONSTANTS[m[1]], literal))
    except ValueError:
        raise OpError(
            f"{op.name}: {p.name}={text} is no tensor; write its elements, as in [[1, 2], [3, 4]], or its shape, as in "
            "2x3 or 8x3:int64"
        ) from None
    if p.instead == "num" and not isinstance(elements, list) and dtype is None:
        return Argument(value=elements)
    return Argument(shape_of(op, p, elements), call_text.dtype_of(op, p, dtype), elements)


def shape_of(op: OpDef, p: Param, x: object) -> tuple[int, ...]:
    """Raises OpError for lists of different lengths, and for what is no number."""
    if not isinstance(x, list):
        if not isinstance(x, (bool, int, float)):
            raise OpError(f"{op.name}: '{p.name}' has an element that is no number: {json.dumps(x)}")
        return ()
    shapes = {shape_of(op, p, y) for y in x}
    if len(shapes) > 1:
        raise OpError(f"{op.name}: '{p.name}' has lists of different lengths: {sorted(map(list, shapes))}")
    return (len(x), *(shapes.pop() if shapes else ()))


# --- The first call --------------------------------------------------------------------------------


def tested(op: OpDef, source: Source) -> Iterator[dict[str, str]]:
    """The calls of the op in its tests, as texts, the one with most elements first, if that is a few."""
    found = [texts for t in op.tests if t.raises is None for texts in [texts_of(op, t, source)] if texts]
    size = lambda texts: max((text.count(",") + 1 for text in texts.values()), default=0)
    yield from (texts for texts in sorted(found, key=size, reverse=True) if size(texts) >= FITTING)


def texts_of(op: OpDef, test: Test, source: Source) -> dict[str, str] | None:
    """What a test calls the op with; None if it calls something else, or with what another call gives."""
    call = test.condition.args[0]
    call = call.args[0] if call.kind == "field" else call
    if call.kind != "call" or call.val != op.name or not all(map(literal, call.args)):
        return None
    places = [p for p in op.params if not p.keyword]
    named = {a.val: a.args[0] for a in call.args if a.kind == "kw"}
    by_place = [a for a in call.args if a.kind != "kw"]
    return {n: expression(e) for n, e in {**{p.name: a for p, a in zip(places, by_place)}, **named}.items()}


def literal(e: X) -> bool:
    return e.kind in ("num", "str", "name", "neg", "list", "kw") and all(map(literal, e.args))


def small(op: OpDef) -> dict[str, str]:
    """A small call by the op's signature: every size of its own, packs of axes where nothing else is."""
    sizes: dict[str, int] = {}
    texts = {}
    for p in op.params:
        if p.kind == "tensor" and not p.optional:
            texts[p.name] = "x".join(map(str, shape(op, p, sizes))) or "()"
            if "x" not in texts[p.name] and texts[p.name] != "()":
                texts[p.name] = json.dumps([n + 1 for n in range(int(texts[p.name]))])
        elif not (p.optional or p.has_default):
            usual = {"dim": "0", "dims": "0", "bool": "true", "choice": (p.choices or ("",))[0], "dtype": "float32"}
            texts[p.name] = usual.get(p.kind, "1")
    return texts


def shape(op: OpDef, p: Param, sizes: dict[str, int]) -> list[int]:
    dims = op.tensors[p.name].dims
    found: list[int] = []
    for d in dims:
        if d.kind == "one" or d.kind == "chosen":
            found.append(sizes.setdefault(d.name or d.option, 2 + len(sizes)))
        elif d.kind == "split":
            found.append(prod(2 for _ in d.factors))
        elif len(dims) == 1:
            found += [2, 3]
    return found
