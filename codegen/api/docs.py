"""JSDoc of an op: what it does, PyTorch's names for it, its parameters, examples from its tests."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from dsl.opdef import OpDef, Param
from dsl.text.syntax import X

from . import described

EXAMPLES = 2


def tree_param(op: OpDef, name: str):
    return next((p for p in op.tree.params if p.name == name), None)


def param_docs(op: OpDef) -> dict[str, str]:
    """For each parameter what it is, in words: type, shape, default."""
    return {p.name: param_doc(op, p) for p in op.params}


def param_doc(op: OpDef, p: Param) -> str:
    written = tree_param(op, p.name)
    if written is None:
        return p.kind
    default = described.default(op, written)
    return described.parameter(op, written) + (f", default `{default}`" if default else "")


def family_text(op: OpDef, text: str) -> str:
    """A family's variable replaced by this member's number."""
    if op.family is None:
        return text
    name, value = op.family
    return text.replace("{" + name + "}", str(value)).replace(f":{name}", f":{value}")


def lines(op: OpDef, before: Sequence[OpDef] = ()) -> list[str]:
    """The comment's lines, without the stars.  `before`: ops that a call under the same name tries first."""
    out = family_text(op, op.doc).strip().split("\n")
    if pytorch := [a for a in op.aliases if a.startswith(("torch.", "Tensor."))]:
        out += ["", "Like " + ", ".join(f"`{a}`" for a in pytorch) + "."]
    docs = param_docs(op)
    out += [""] + [f"@param {'options.' if p.keyword else ''}{p.name} {docs[p.name]}" for p in op.params]
    given = [(name, described.result(op, name)) for name in op.outputs]
    if given:
        out.append("@returns " + (given[0][1] if len(given) == 1 else "; ".join(f"{n}: {what}" for n, what in given)))
    shown = examples(op, before)
    if shown:
        out += ["@example", *"\n".join(shown).split("\n")]
    return [line.replace("*/", "*\\/") for line in out]


def comment(text: list[str], indent: str = "") -> str:
    if len(text) == 1:
        return f"{indent}/** {text[0]} */"
    body = "\n".join(f"{indent} * {line}".rstrip() for line in text)
    return f"{indent}/**\n{body}\n{indent} */"


# --- Examples --------------------------------------------------------------------------------------


def examples(op: OpDef, before: Sequence[OpDef] = ()) -> list[str]:
    """`torch.add([1, 2], 3)` of a test clause as JavaScript that runs as it stands, with what its `tolist()` is
    (tests/test_documents.py).  Tests draw the numbers that there are after `torch.manual_seed(0)`."""
    out = []
    for left, right in compared(op):
        try:
            called = call(left, op, floats_first(op, before))
            if gives_complex(left, op):  # tests write complex numbers as pairs
                called = f"torch.view_as_real({called})"
            seeded = "torch.manual_seed(0);\n" if op.random else ""
            out.append(f"{seeded}{called}  // {value(right, rounded)}")
        except Unwritable:
            continue
    return out[:EXAMPLES]


def compared(op: OpDef) -> list[tuple[X, X]]:
    """What its tests compare: a call, and what it gives."""
    found = [t.condition for t in op.tests if t.raises is None] if op.outputs else []
    return [(c.args[0], c.args[1]) for c in found if c.kind in ("==", "~=")]


def gives_complex(left: X, op: OpDef) -> bool:
    """Whether what a test compares, an op's result or one of them by its name, is complex."""
    results = op.tree.outputs if op.tree is not None else ()
    return any(o.type is not None and o.type.complex for o in results if left.kind != "field" or o.name == left.val)


class Unwritable(Exception):
    """A test that has no short form in JavaScript."""


def floats_first(op: OpDef, before: Sequence[OpDef]) -> bool:
    """Whether another op of its name would take the call if its tensors were of floats."""
    return any(
        set(other.aliases) & set(op.aliases)
        and [p.cls for p in other.params[:1]] == ["Float"]
        and op.params[0].cls == "Num"
        for other in before
    )


def call(e: X, op: OpDef, whole: bool = False) -> str:
    if e.kind == "field":
        return f"{call(e.args[0], op, whole)}.{e.val}"
    if not op.aliases:
        raise Unwritable
    texts = given(e, op, whole)
    place = [p.name for p in op.params if not p.keyword]
    by_place = place[: sum(a.kind != "kw" for a in e.args)]
    args = [texts[name] for name in by_place]
    options = [f"{name}: {text}" for name, text in texts.items() if name not in by_place]
    if options:
        args.append("{ " + ", ".join(options) + " }")
    name = op.aliases[0]
    if name.startswith("Tensor."):
        return f"{args[0]}.{name.removeprefix('Tensor.')}({', '.join(args[1:])})"
    return f"{name}({', '.join(args)})"


def given(e: X, op: OpDef, whole: bool = False) -> dict[str, str]:
    """What a test's call of an op gives, by the parameters' names."""
    if e.kind != "call" or e.val != op.name:
        raise Unwritable
    place = [p for p in op.params if not p.keyword]
    positional = [a for a in e.args if a.kind != "kw"]
    if len(positional) > len(place):
        raise Unwritable
    found = {p.name: argument(a, p, whole) for p, a in zip(place, positional, strict=False)}
    for a in e.args:
        if a.kind == "kw":
            p = next((p for p in op.params if p.name == a.val), None)
            if p is None:
                raise Unwritable
            found[p.name] = argument(a.args[0], p, whole)
    # A choice of one tells overloads apart.
    for p in place[len(positional) :]:
        if len(p.choices) == 1 and p.choices != ("false",) and p.name not in found:
            found[p.name] = p.choices[0] if p.choices[0] in ("true", "false") else json.dumps(p.choices[0])
    return found


def shown_name(op: OpDef) -> str:
    """The name a user calls it by, without the namespace: its first alias, or what it stands for or is a step of."""
    if op.tree is not None and op.tree.within:
        return op.tree.within.rsplit(".", 1)[1]
    if op.tree is not None and op.tree.complexes:
        return op.tree.complexes[0]
    return op.aliases[0].rsplit(".", 1)[1] if op.aliases else op.name


def argument(e: X, p: Param, whole: bool) -> str:
    """What stands for a parameter: a tensor's elements are float32 where numbers are given, whatever they look like."""
    text = value(e)
    if p.kind != "tensor" or e.kind != "list" and p.instead == "num":
        return text
    whole = (whole or p.cls in ("Int", "Bits")) and not {"true", "false"} & set(names(e))
    return f"torch.tensor({text}{', { dtype: torch.long }' if whole else ''})"


def names(e: X) -> list[str]:
    return [e.val] if e.kind == "name" else [name for a in e.args for name in names(a)]


def value(e: X, number: Callable[[float], str] = repr) -> str:
    match e.kind:
        case "num":
            return str(int(e.val)) if e.val == e.val // 1 and abs(e.val) < 1e15 else number(e.val)
        case "str":
            return f'"{e.val}"'
        case "neg":
            return "-" + value(e.args[0], number)
        case "name" if e.val in ("true", "false"):
            return e.val
        case "name" if e.val in ("inf", "nan"):
            return {"inf": "Infinity", "nan": "NaN"}[e.val]
        case "list":
            return "[" + ", ".join(value(a, number) for a in e.args) + "]"
        case _:
            raise Unwritable


def rounded(number: float) -> str:
    """To the digits that float32 has on any device."""
    return f"{number:.6g}"
