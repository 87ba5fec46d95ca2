"""Variants: further signatures of an op, `or max(input, other: Num) -> Num = ...`, made whole from the op above them.

A variant is an op of its own, with a name of its own, which shares the op's names in PyTorch.  What it does not say is
the op's: parameters without a type, all that are not named (`...`), the result, and each kind of clause of which it has
none; a `where` size replaces that of the same name.  Text, tests and modules are always its own, and a formula comes
with its gradients.  Everything behind the parser sees plain ops."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass, replace

from .diagnostics import Error, did_you_mean, either
from .syntax import NUMBERS, Op, Param, Size, Variant

SHARED = ("aliases", "family", "requires", "samples", "ignored")
FORMULA = ("body", "itself", "grads", "nograd", "launches", "scratch")  # with the formula go its gradients


def completed(v: Variant, op: Op | None) -> Op | Error:
    """The op that a variant is; op: the one above it, of which it is a variant."""
    at = (v.span[0], v.span[0] + 2)
    if op is None:
        return Error(
            "syntax",
            f"`{v.name}` is a variant of nothing",
            at,
            "no op stands above it",
            help=("a variant follows its op:  op f(...) ...  or f(...)",),
        )
    params = parameters(v, op)
    if isinstance(params, Error):
        return params
    outputs = v.outputs if v.outputs is not None else tuple(replace(o, span=o.span) for o in op.outputs)
    drop = v.drop if v.outputs is not None else op.drop
    said = dict(v.clauses)
    names = {p.name for p in params}
    for kind in SHARED:
        said.setdefault(kind, getattr(op, kind))
    if "samples" not in v.clauses:
        said["samples"] = tuple(s for s in op.samples if s.name in names or s.name[:1].isupper())
    if "ignored" not in v.clauses:
        said["ignored"] = tuple(n for n in op.ignored if n in names)
    if not any(kind in v.clauses for kind in ("body", "launches")):
        for kind in FORMULA:
            said.setdefault(kind, getattr(op, kind))
    said["sizes"] = sizes(v, op, spoken([params, outputs, [c for kind, c in said.items() if kind != "sizes"]]))
    said.setdefault("doc", op.doc)
    said.setdefault("foreach", op.foreach)
    said.setdefault("modulus", op.modulus)
    said.setdefault("within", op.within)
    said.setdefault("numbers", op.numbers and any(p.type.instead in NUMBERS for p in params))
    return Op(v.name, params, outputs, drop, span=(op.span[0], v.span[1]), name_span=v.name_span, **said)


def sizes(v: Variant, op: Op, used: set[str]) -> tuple[Size, ...]:
    """The `where` sizes: those of the op that the variant uses, each in its place, and its own."""
    own = {s.name: s for s in v.clauses.get("sizes", ())}
    there = [own.pop(s.name, s) for s in op.sizes]
    for s in own.values():  # before the first that speaks of it
        there.insert(next((n for n, r in enumerate(there) if s.name in spoken(r.value)), len(there)), s)
    made: list[Size] = []
    for s in reversed(there):
        if s.name in used | spoken(made) or s in v.clauses.get("sizes", ()):
            made.insert(0, s)
    return tuple(made)


def spoken(node) -> set[str]:
    """All names in a part of a syntax tree."""
    if isinstance(node, (tuple, list)):
        return {name for n in node for name in spoken(n)}
    if isinstance(node, str):
        return set(re.findall(r"\w+", node))
    return {name for f in fields(node) for name in spoken(getattr(node, f.name))} if is_dataclass(node) else set()


def parameters(v: Variant, op: Op) -> tuple[Param, ...] | Error:
    """All parameters, with the types that the variant says."""
    base = {p.name: p for p in op.params}
    own: list[Param] = []
    for p in v.params:
        if p is None or p.type is not None:
            continue
        if p.name not in base:
            return Error(
                "name",
                f"`{op.name}` has no parameter `{p.name}`",
                p.span,
                did_you_mean(p.name, base) or "so its type must stand here",
                help=("it has " + either(f"`{n}`" for n in base),),
            )
    made = [
        p and (p if p.type is not None else replace(base[p.name], keyword=p.keyword, span=p.span)) for p in v.params
    ]
    if None not in made:
        return tuple(p for p in made if p is not None)
    if made.count(None) > 1:
        return Error("syntax", "`...` stands here twice", v.name_span, "it is all parameters that are not named")
    said = {p.name: p for p in made if p is not None}
    rest = [replace(said[p.name], keyword=p.keyword) if p.name in said else p for p in op.params]
    for p in made:
        if p is None:
            own += rest
        elif p.name not in base:
            own.append(replace(p, keyword=p.keyword or any(q.keyword for q in own)))
    return tuple(own)
