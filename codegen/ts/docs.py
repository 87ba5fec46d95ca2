"""JSDoc of an op: what it does, PyTorch's names for it, its parameters, examples from its tests."""

from __future__ import annotations

from dsl.opdef import OpDef, Param
from dsl.show import expression, type_text
from dsl.syntax import X

EXAMPLES = 2


def tree_param(op: OpDef, name: str):
    return next((p for p in op.tree.params if p.name == name), None)


def param_docs(op: OpDef) -> dict[str, str]:
    """For each parameter what it is: type or shape, default."""
    return {p.name: param_doc(op, p) for p in op.params}


def param_doc(op: OpDef, p: Param) -> str:
    written = tree_param(op, p.name)
    if written is None: return p.kind
    what = family_text(op, type_text(written.type)).rstrip("?")
    if p.kind == "choice": what = "one of " + ", ".join(f"`{c}`" if c in ("true", "false") else f'`"{c}"`' for c in p.choices)
    else: what = f"`{what}`"
    if written.default is not None: return f"{what}, default `{family_text(op, expression(written.default))}`"
    return f"{what}, optional" if p.optional else what


def family_text(op: OpDef, text: str) -> str:
    """A family's variable replaced by this member's number."""
    if op.family is None: return text
    name, value = op.family
    return text.replace("{" + name + "}", str(value)).replace(f":{name}", f":{value}")


def lines(op: OpDef) -> list[str]:
    """The comment's lines, without the stars."""
    out = family_text(op, op.doc).strip().split("\n")
    if op.aliases: out += ["", "Like " + ", ".join(f"`{a}`" for a in op.aliases) + "."]
    docs = param_docs(op)
    out += [""] + [f"@param {'options.' if p.keyword else ''}{p.name} {docs[p.name]}" for p in op.params]
    shown = examples(op)
    if shown: out += ["@example", *shown]
    return [line.replace("*/", "*\\/") for line in out]


def comment(text: list[str], indent: str = "") -> str:
    if len(text) == 1: return f"{indent}/** {text[0]} */"
    body = "\n".join(f"{indent} * {line}".rstrip() for line in text)
    return f"{indent}/**\n{body}\n{indent} */"


# --- Examples --------------------------------------------------------------------------------------

def examples(op: OpDef) -> list[str]:
    """`add([1, 2], 3)` of a test clause as JavaScript, with its value."""
    out = []
    for t in op.tests:
        if t.raises is not None or t.condition.kind not in ("==", "~="): continue
        left, right = t.condition.args
        try: out.append(f"{call(left, op)}  // {value(right, False)}")
        except Unwritable: continue
    return out[:EXAMPLES]


class Unwritable(Exception):
    """A test that has no short form in JavaScript."""


def call(e: X, op: OpDef) -> str:
    if e.kind == "field": return f"{call(e.args[0], op)}.{e.val}"
    if e.kind != "call" or e.val != op.name: raise Unwritable
    place = [p for p in op.params if not p.keyword]
    args, options = [], []
    for a in e.args:
        if a.kind == "kw":
            p = next((p for p in op.params if p.name == a.val), None)
            if p is None: raise Unwritable
            options.append(f"{a.val}: {argument(a.args[0], p)}")
        else:
            if len(args) >= len(place): raise Unwritable
            args.append(argument(a, place[len(args)]))
    if options: args.append("{ " + ", ".join(options) + " }")
    return f"{shown_name(op)}({', '.join(args)})"


def shown_name(op: OpDef) -> str:
    """The name a user calls it by: its first alias without the namespace."""
    return op.aliases[0].rsplit(".", 1)[1] if op.aliases else op.name


def argument(e: X, p: Param) -> str: return value(e, p.kind == "tensor" and e.kind == "list")


def value(e: X, tensor: bool) -> str:
    match e.kind:
        case "num": s = repr(e.val)
        case "str": s = f'"{e.val}"'
        case "neg": s = "-" + value(e.args[0], False)
        case "name" if e.val in ("true", "false"): s = e.val
        case "name" if e.val in ("inf", "nan"): s = {"inf": "Infinity", "nan": "NaN"}[e.val]
        case "list": s = "[" + ", ".join(value(a, False) for a in e.args) + "]"
        case _: raise Unwritable
    return f"tensor({s})" if tensor else s


