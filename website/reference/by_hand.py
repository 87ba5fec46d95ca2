"""Functions and classes that are no ops, as a reader sees them: from their types, their comments, and the defaults that
their sources name."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from buildtools.paths import ROOT
from codegen.api.aliases import Names
from codegen.api.docs import param_docs
from codegen.api.nn import functions
from codegen.api.nn import row as module_row
from dsl.opdef import OpDef

from . import defaults
from .forms import Row
from .typings import Parameter, Signature, Value

# Parameters that stand for several others, whose names the type does not say.
OPAQUE = ("options", "others", "args", "values", "rest")
# What PyTorch takes and this package does not, or not by a name: tests/node/by_name.test.mjs.
ELSEWHERE = (
    "out",
    "layout",
    "pin_memory",
    "memory_format",
    "names",
    "foreach",
    "capturable",
    "differentiable",
    "fused",
    "lims",
)
# Kinds of values that a comment may begin with, saying more of them than their type.
SAID = ("tensor", "list")
# The types of settings that definitions of modules declare; words.mjs says all others.
WORDS = {
    "number": "number",
    "boolean": "true or false",
    "Tensor": "tensor",
    "number | readonly number[]": "number, or one for each axis",
    "number | readonly (number | null)[]": "number, or one for each axis",
}


def words(type_: str) -> str:
    """A setting's type in words."""
    type_ = type_.removesuffix(" | null")
    return WORDS[type_] if type_ in WORDS else "one of " + ", ".join(f"`{one}`" for one in type_.split(" | "))


def fullest(value: Value) -> Signature | None:
    """The signature that says the most; of a function's that say as much, one that takes any number of arguments."""
    function = value.kind != "class"
    return max(
        value.signatures, key=lambda s: (len(s.params), function and any(p.rest for p in s.params)), default=None
    )


def rows(value: Value) -> list[Row]:
    """The parameters of a function or a constructor, with what its comment says of those that types say nothing of, and
    PyTorch's defaults where neither says another."""
    return [with_default(replace(r, what=r.what or value.told.get(r.name, "")), value) for r in named(value)]


def with_default(r: Row, value: Value) -> Row:
    """A row of the parameter that says what is taken where it is left out: `integer, default 0` says it in words."""
    what, _, said = r.what.partition(", default ")
    usual = defaults.recorded(value).get(r.name, "")
    # What PyTorch takes null for may be a must here, as a function that Python gives as a decorator does.
    default = r.default or said.rstrip(".") or ("" if r.required and usual == "null" else usual)
    must = (r.required or r.name in defaults.needed(value)) and not default
    if not must and not what.startswith("any number"):
        default = default or defaults.EVERYWHERE.get(r.name, "")
    return replace(r, what=what, default=default, option=r.option and not must, required=must)


def named(value: Value) -> list[Row]:
    """The same as types, defaults and PyTorch's signatures name them."""
    signature = fullest(value)
    if signature is None:
        return []
    known = defaults.said(value)
    shown = [p for p in signature.params if not (opaque(p) or is_camel(p, signature) or p.name.startswith("_"))]
    # Of `(a, b, ...a)`, which asks for at least so many, the last says what all are.
    made = list({p.name: row(p, known, value.told) for p in shown}.values())
    if value.kind == "class":
        # In PyTorch's order, in which they may be given, and then those that it has not.
        order = defaults.order(value)
        made.sort(key=lambda r: order.index(r.name) if r.name in order else len(order))
        if any(map(opaque, signature.params)):
            names = {r.name for r in made}
            made += [
                Row(name, "", default, bool(default), not default)
                for name, default in known.items()
                if name not in names
            ]
    if known and value.kind == "class" or not any(map(opaque, signature.params)):
        return made
    said = {r.name: r for r in made}
    by_place = [replace(said.pop(r.name, r), option=r.option, required=r.required) for r in recorded(value)]
    return by_place + list(said.values())


def opaque(p: Parameter) -> bool:
    """Whether it stands for several others."""
    return p.name in OPAQUE and not p.option


def row(p: Parameter, known: dict[str, str], told: Mapping[str, str]) -> Row:
    doc = " ".join((p.doc or told.get(p.name, "")).split())
    # Of an overload that a switch chooses, the type is that switch's value.
    kind = "true or false" if p.type in ("true", "false") else p.type
    what = f"any number of arguments: {kind}" if p.rest else kind
    if what == "anything":
        what = ""
    if doc:
        # The comments of ops begin with what a parameter is.
        says = doc.startswith(what) or any(what.startswith(one) and re.match(rf"(\w+ )*{one}\b", doc) for one in SAID)
        joint = ": " if doc[0].islower() else ". "
        what = doc if says or what.startswith(("`", "object")) else f"{what}{joint}{doc}"
    default = known.get(p.name, "")
    must = p.name in known and not default
    may = not must and (p.optional or bool(default))
    return Row(p.name, what, default, may or p.option and not must, not (may or p.rest))


def is_camel(p: Parameter, signature: Signature) -> bool:
    """Whether a parameter is another's name in camelCase."""
    snake = re.sub(r"[A-Z]", lambda m: f"_{m[0].lower()}", p.name)
    return snake != p.name and any(q.name == snake for q in signature.params)


def recorded(value: Value) -> list[Row]:
    """PyTorch's names, which are the package's too, where no type says them."""
    signatures = json.loads((ROOT / "tests" / "recorded" / "signatures.json").read_text(encoding="utf-8"))
    said = max(signatures.get(value.name) or [""], key=len)
    names = [part.strip() for part in said.split(",")]
    return [
        Row(name.strip("*="), "", "", may := name.endswith("=") or name in defaults.EVERYWHERE, not may)
        for name in names
        if name not in ("", "*") and name.strip("*=") not in ELSEWHERE and not name.startswith("_")
    ]


def settings(op: OpDef, name: str, names: Names) -> list[Row]:
    """What a module of torch.nn that a definition declares keeps."""
    (module,) = [m for m in op.modules if m.name == name]
    behind = functions(op, module, names)
    made = module_row(op, module, behind)
    docs = {p: what for o in reversed([op, *behind]) for p, what in param_docs(o).items()}
    original = {s.kept: s.name for s in module.settings}
    found = []
    for kept in made["settings"]:
        what = docs.get(original.get(kept["name"], kept["name"]), words(kept["type"]))
        default = "" if kept["required"] else kept["default"]
        found.append(Row(kept["name"], what.partition(", default")[0], default, not kept["required"], kept["required"]))
    return found


def call(name: str, made: list[Row]) -> str:
    """`torch.nn.Linear(in_features, out_features, { bias })`."""
    must, may = [r.name for r in made if not r.option], [r.name for r in made if r.option]
    given = ", ".join([*must, *(["{ " + ", ".join(may) + " }"] if may else [])])
    return f"{re.sub('^Tensor.', 'tensor.', name)}({given})"


def others(value: Value, made: list[Row]) -> list[tuple[list[Row], str]]:
    """What further signatures of a function take by place, and what they give, of those that take what no earlier one
    does: `view(dtype)` beside `view(size)`."""
    known, found = {r.name for r in made}, []
    for s in value.signatures if value.kind in ("function", "method") else ():
        if any(opaque(p) or p.option for p in s.params) or known.issuperset(p.name for p in s.params):
            continue
        known.update(p.name for p in s.params)
        taken = [
            with_default(replace(row(p, {}, value.told), option=p.optional), value)
            for p in s.params
            if not (is_camel(p, s) or p.name.startswith("_"))
        ]
        found.append((taken, s.result))
    return found


@dataclass(frozen=True)
class Described:
    """A value's page.  calls: as one writes it, nothing for a constant; result: in words; members: of a class, (name,
    what); examples: (code, what it gives)."""

    calls: list[str]
    text: str
    rows: list[Row]
    result: str
    source: str
    members: list[tuple[str, str]]
    examples: list[tuple[str, str]]


def described(value: Value, made: list[Row] | None = None) -> Described:
    """made: the parameters, where a definition says them."""
    more = others(value, rows(value)) if made is None else []
    made = rows(value) if made is None else made
    signature = fullest(value)
    called = value.kind in ("function", "class", "method")
    forms = [made, *(form for form, _ in more)]
    gives = [signature.result, *(result for _, result in more)] if signature and value.kind != "class" else []
    return Described(
        calls=[call(value.name, form) for form in forms] if called else [],
        text=value.text.strip(),
        rows=first_of_each(r for form in forms for r in form),
        result=" or ".join(dict.fromkeys(" or ".join(gives).split(" or "))) if gives or called else value.type,
        source=value.source,
        members=[(member(m), m.text) for m in value.members if m.text] if value.name != "torch.Tensor" else [],
        examples=[(code, printed) for code, _, printed in (text.rpartition("  // ") for text in value.examples)],
    )


def first_of_each(made: Iterable[Row]) -> list[Row]:
    found: dict[str, Row] = {}
    for r in made:
        found.setdefault(r.name, r)
    return list(found.values())


def member(m: Value) -> str:
    return call(m.name, rows(m)) if m.kind == "method" else m.name
