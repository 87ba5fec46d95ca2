"""torch.nn's modules without parameters, from the `module` clauses: constructors' types, what is kept, the ops
called."""

from __future__ import annotations

from dsl.checking.modules import HOLE, INPLACE, called
from dsl.ir.expression import Constant, Symbol
from dsl.opdef import Library, OpDef, Param
from dsl.text.syntax import Module, X

from . import described, docs
from .aliases import Names, in_place
from .literal import Identifier, literal, shown
from .modules import render, tidy
from .signatures import param_type, required

TRAINING = "training"  # a parameter that follows the module's own
WORDS = {"true": True, "false": False, "none": None}


def modules_module(library: Library, names: Names) -> str:
    """The text of names/modules.ts."""
    imports: dict[str, list[str]] = {}
    rows: dict[str, dict] = {}
    for op in library.ops.values():
        for m in op.modules:
            ops = functions(op, m, names)
            for o in ops:
                imports.setdefault(o.file, []).append(f"{o.name}Op")
            rows.setdefault(m.name, row(op, m, ops))
    types = [
        t
        for t in ("Tensor", "TensorOrNumber")
        if any(t in s["type"].split(" | ") for r in rows.values() for s in r["settings"])
    ]
    return render("modules.ts.j2", imports=tidy(imports), modules=[rows[n] for n in sorted(rows)], types=types)


def functions(op: OpDef, m: Module, names: Names) -> list[OpDef]:
    """The ops behind the name that a module calls; those of other families' members only if it is called like none of
    them."""
    space, name = called_name(op).rsplit(".", 1)
    found = names.namespaces["functional" if space.endswith("functional") else space.removeprefix("torch.")][name]
    if not op.family or m.name in {t.name for t in op.tree.modules}:
        return found
    return [o for o in found if not o.family or o.family[1] == op.family[1]]


def called_name(op: OpDef) -> str:
    return called(op.tree).replace(f"{{{op.family[0]}}}", str(op.family[1])) if op.family else called(op.tree)


def row(op: OpDef, m: Module, ops: list[OpDef]) -> dict:
    params = {p.name: (p, o) for o in reversed([op, *ops]) for p in o.params}
    chosen = [s for s in m.settings if s.value is None and s.name != INPLACE]
    kept = [{**setting(*params[s.name], ops), "name": s.kept} for s in chosen]
    in_input = len(ops) == 1 and op.pointwise and in_place(op)
    if in_input or len(chosen) < sum(s.value is None for s in m.settings):
        kept.append({"name": INPLACE, "type": "boolean", "required": False, "default": "false", "value": False})
    text = prints(m, {s.kept: params[s.name][0] for s in chosen}, {s.name: s.kept for s in chosen})
    if INPLACE in [k["name"] for k in kept] and m.prints is None:
        text += f"[{', ' * bool(text)}inplace={{inplace}}]"
    asked = known_when_made(op, {s.name for s in chosen}) if calls(op, m) else []
    call = {
        "prints": text,
        "fixed": {s.name: constant(s.value) for s in m.settings if s.value is not None},
        "renamed": {s.kept: s.name for s in m.settings if s.kept != s.name},
        "training": TRAINING in params and TRAINING not in [s.name for s in m.settings],
        "copied": kept[-1:] != [] and kept[-1]["name"] == INPLACE and not in_input,
        "asks": [op.name, *asked] if asked else [],
    }
    call = {name: value for name, value in call.items() if value}
    written = {**call, "asks": [Identifier(f"{op.name}Op"), *asked]} if asked else call
    return {
        "name": m.name,
        "summary": docs.family_text(op, op.doc).strip().split("\n")[0],
        "function": called_name(op),
        "examples": [line.replace("*/", "*\\/") for line in examples(op, m, ops)],
        "settings": kept,
        "call": call,
        "options": f", {shown(written).flat}" if call else "",
        "behind": [o.name for o in ops],
        "ops": [f"{o.name}Op" for o in ops],
    }


def calls(op: OpDef, m: Module) -> bool:
    """Whether this is the overload that takes the texts that a module fixes: `mode = "constant"`."""
    texts = {p.name: p.choices for p in op.params if p.kind == "choice"}
    return all(s.value is None or s.value.val in texts.get(s.name, (s.value.val,)) for s in m.settings)


def examples(op: OpDef, m: Module, ops: list[OpDef]) -> list[str]:
    """`torch.nn.Softmax({ dim: 0 })(torch.tensor([0, 0]))  // [0.5, 0.5]`, of a test of its op or one of the same name:
    what the module keeps is given to the constructor, the rest to the call (tests/test_documents.py)."""
    kept = {s.name: s.kept for s in m.settings if s.value is None}
    fixed = {s.name: literal(constant(s.value)) for s in m.settings if s.value is not None}
    for o in [op, *(o for o in ops if o is not op)]:
        if o.tree is None:
            continue
        trains = [described.default(o, p) for p in o.tree.params if p.name == TRAINING and TRAINING not in kept]
        for left, right in docs.compared(o):
            try:
                given = docs.given(left, o)
                values = docs.value(right, docs.rounded)
            except docs.Unwritable:
                continue
            if any(given.pop(name, None) != text for name, text in fixed.items()):
                continue
            evaluates = any(given.pop(TRAINING, usual) == "false" for usual in trains)
            inputs = [text for name, text in given.items() if name not in kept]
            if list(given)[: len(inputs)] != [name for name in given if name not in kept]:
                continue
            options = ", ".join(f"{kept[name]}: {text}" for name, text in given.items() if name in kept)
            made = f"torch.nn.{m.name}({f'{{ {options} }}' if options else ''})"
            made += ".eval()" * evaluates
            return [f"{made}({', '.join(inputs)})  // {values}"]
    return []


def known_when_made(op: OpDef, kept: set[str]) -> list[int]:
    """The requirements, by number, of which the numbers that a module keeps decide: a wrong one is refused at once."""
    numbers = {p.name for p in op.params if p.kind in ("real", "num")} & kept
    return [n for n, r in enumerate(op.requires) if r.holds.names and r.holds.names <= numbers]


def prints(m: Module, kept: dict[str, Param], names: dict[str, str]) -> str:
    """What a module of this kind prints: its own text or all that it keeps; holes say how a value is shown
    (runtime/nn/stateless.ts).

    `{alpha:f}`: as a float; `{padding:4}`: a list of 4; `{stride=kernel_size}`: kernel_size where there is none.  In a
    definition `{*padding}` asks for a list, `{=stride}` for what was given and nothing else."""
    if m.prints is None and any(s.name == "reduction" for s in m.settings):  # a loss
        return ""
    text = (
        m.prints
        if m.prints is not None
        else ", ".join(
            f"{k}='{{{k}}}'" if p.kind == "choice" and not flag(p) else f"{k}={{{k}}}" for k, p in kept.items()
        )
    )

    def hole(found):
        mark, name = found.groups()
        if name not in kept:
            return found[0]
        if mark == "=":
            return f"{{{name}}}"
        p, other = kept[name], ""
        if isinstance(p.default, Symbol):
            other = f"={names.get(p.default.name, p.default.name)}"
        if p.kind == "choice" and not flag(p) and chosen(p) in WORDS:
            other = f"={chosen(p)}"
        a_float = p.kind in ("real", "reals") or (p.kind == "num" and p.default is not None)
        how = f":{p.rank}" if mark else ":f" if a_float else ""
        return f"{{{name}{other}{how}}}"

    return HOLE.sub(hole, text)


def flag(p: Param) -> bool:
    return {"true", "false"} >= set(p.choices)


def setting(p: Param, op: OpDef, ops: list[OpDef]) -> dict:
    """A constructor's argument: its types in all ops of the name together, and its default."""
    found = [(q, o) for o in ops for q in o.params if q.name == p.name]
    types = dict.fromkeys(t for q, o in found for t in param_type(q, o).split(" | "))
    if {"true", "false"} <= types.keys():
        types = {"boolean": None}
    must = all(required(q) for q, _ in found) and len(found) == len(ops)
    value = default(p, op)
    return {
        "name": p.name,
        "type": " | ".join(sorted(types, key=lambda t: t == "null")),
        "required": must,
        "default": literal(value),
        "value": value,
    }


def default(p: Param, op: OpDef) -> float | bool | str | None:
    if not isinstance(p.default, Constant):
        return None
    return WORDS.get(chosen(p), chosen(p)) if p.kind == "choice" else p.default.literal


def chosen(p: Param) -> str:
    """The text of a choice that is taken where none is given, if that is known."""
    return p.choices[int(p.default.value)] if isinstance(p.default, Constant) else ""


def constant(e: X) -> float | bool | str | None:
    if e.kind == "neg":
        return -constant(e.args[0])
    return WORDS[e.val] if e.kind == "name" else e.val
