"""Records the parameters of PyTorch's functions, classes and methods that the package has, too, with torch, from the root
of the checkout: `node tests/recorded/exports.mjs | python tests/recorded/signatures.py`.

Python's own signatures where there are some, else every overload in PyTorch's stubs or, for want of those, its schemas.
Without `out`, which functions do not have here.  `x=` may be left out; what follows `*` is given by name; `*x` takes all that follow, and `**x` any name."""

import ast
import inspect
import json
import re
import sys
from collections import defaultdict
from pathlib import Path

import torch
from pytorch_names import lookup, schema_name, stubs

HERE = Path(__file__).parent


def of_signature(signature: inspect.Signature) -> str:
    out, keyword = [], False
    for p in signature.parameters.values():
        if p.kind is p.VAR_POSITIONAL:
            out.append(f"*{p.name}")
            keyword = True
            continue
        if p.kind is p.KEYWORD_ONLY and not keyword:
            out.append("*")
            keyword = True
        stars = "**" if p.kind is p.VAR_KEYWORD else ""
        out.append(f"{stars}{p.name}" + ("" if p.default is p.empty else "="))
    return ", ".join(name for name in out if name not in ("self", "cls"))


def of_stub(function: ast.FunctionDef) -> str:
    a = function.args
    plain = [*a.posonlyargs, *a.args]
    first = len(plain) - len(a.defaults)
    out = [p.arg + ("=" if i >= first else "") for i, p in enumerate(plain)]
    if a.vararg:
        out.append(f"*{a.vararg.arg}")
    elif a.kwonlyargs:
        out.append("*")
    out += [p.arg + ("" if d is None else "=") for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True)]
    return ", ".join(name for name in out if name not in ("self", "cls"))


def schemas() -> dict[str, list[str]]:
    found = defaultdict(list)
    for schema in torch._C._jit_get_all_schemas():
        keyword, out = False, []
        for a in schema.arguments:
            if a.kwarg_only and a.alias_info is not None:
                continue  # a result's place
            if a.kwarg_only and not keyword:
                out.append("*")
                keyword = True
            out.append(("input" if a.name == "self" else a.name) + ("=" if a.has_default_value() else ""))
        found[schema.name].append(", ".join(out))
    return found


def main() -> None:
    known, operators, recorded = stubs(of_stub), schemas(), {}
    for name in json.load(sys.stdin):
        at = lookup(name)
        if at is None:
            continue
        try:
            lines = [of_signature(inspect.signature(at))]
        except (TypeError, ValueError):
            lines = known.get(name) or operators.get(f"aten::{schema_name(name)}") or []
        lines = list(dict.fromkeys(re.sub(r"(, \*)?, out=?$", "", line) for line in lines if line != "*args, **kwargs"))
        if lines:
            recorded[name] = lines
    (HERE / "signatures.json").write_text(json.dumps(recorded, indent=0) + "\n")


main()
