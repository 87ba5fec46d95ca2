"""Records PyTorch's defaults of every function, class and method that the package has, too, with torch, from the root of
the checkout: `node tests/recorded/exports.mjs | python tests/recorded/default_values.py`.

Python's own signatures where there are some, else every overload in PyTorch's stubs.  Answers for each name a list of
overloads, each a list of [parameter, kind, default]: kind is "needed", "place" or "name", by which it may be given;
defaults that JSON lacks are left out, with what follows them by place."""

import ast
import inspect
import json
import sys
from pathlib import Path

import torch
from pytorch_names import lookup, schema_name, stubs

HERE = Path(__file__).parent
Overload = list[list]


def plain(value: object) -> bool:
    if isinstance(value, (list, tuple)):
        return all(map(plain, value))
    return value is None or isinstance(value, (bool, int, float, str)) and value == value and abs_(value) < 1e300


def abs_(value: object) -> float:
    return abs(value) if isinstance(value, (int, float)) else 0.0


def of_signature(signature: inspect.Signature) -> Overload:
    out: Overload = []
    for p in signature.parameters.values():
        if p.name in ("self", "cls"):
            continue
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            out.append([p.name, "rest", None])
        elif p.default is p.empty:
            out.append([p.name, "needed" if p.kind is not p.KEYWORD_ONLY else "named", None])
        else:
            kind = "name" if p.kind is p.KEYWORD_ONLY else "place"
            out.append([p.name, kind if plain(p.default) else f"odd {kind}", p.default if plain(p.default) else None])
    return out


def of_stub(function: ast.FunctionDef) -> Overload:
    a, out = function.args, []
    places = [*a.posonlyargs, *a.args]
    lacking = [None] * (len(places) - len(a.defaults))
    pairs = [(p, d, "place") for p, d in zip(places, [*lacking, *a.defaults], strict=True)]
    pairs += [(a.vararg, None, "rest")] if a.vararg else []
    pairs += [(p, d, "name") for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True)]
    for p, default, kind in pairs:
        if p.arg in ("self", "cls"):
            continue
        if default is None:
            out.append([p.arg, {"place": "needed", "name": "named", "rest": "rest"}[kind], None])
            continue
        try:
            value = ast.literal_eval(default)
        except ValueError:
            value = ...
        out.append([p.arg, kind if plain(value) else f"odd {kind}", value if plain(value) else None])
    return out


def of_schemas(own: str) -> list[Overload]:
    out = []
    for schema in torch._C._jit_get_schemas_for_operator(f"aten::{own}"):
        one: Overload = []
        for a in schema.arguments:
            if a.kwarg_only and a.alias_info is not None:
                continue  # a result's place
            name = "input" if a.name == "self" else a.name
            if not a.has_default_value():
                one.append([name, "named" if a.kwarg_only else "needed", None])
            else:
                kind, good = "name" if a.kwarg_only else "place", plain(a.default_value)
                one.append([name, kind if good else f"odd {kind}", a.default_value if good else None])
        out.append(one)
    return out


def main() -> None:
    known, recorded = stubs(of_stub), {}
    for name in json.load(sys.stdin):
        if name.startswith("Tensor[2]"):
            continue
        at = lookup(name)
        if at is None:
            continue
        try:
            overloads = [of_signature(inspect.signature(at))]
        except (TypeError, ValueError):
            overloads = known.get(name) or of_schemas(schema_name(name))
        kept = []
        for one in overloads:
            one = [p for p in one if p[0] != "out"]
            if any(kind in ("place", "name") for _, kind, _ in one) and one not in kept:
                kept.append(one)
        if kept:
            recorded[name] = kept
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(kept)}" for name, kept in recorded.items())
    (HERE / "default_values.json").write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


main()
