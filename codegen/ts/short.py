"""Op data written short: what has its usual value, or follows from the rest, is left out, and put back when an op is first used.

The usual values are stated here once; `complete_module` prints them for the package.  What follows from the rest is `derived`,
and `derive` in templates/complete.ts.j2."""

from __future__ import annotations

import dataclasses
import typing

from codegen.host import model

from codegen.cpu.names import camel
from codegen.wgsl import prelude, routines

from .literal import Identifier, literal

# The fields that may be left out, and what they are then.
USUAL: dict[type, dict[str, object]] = {
    model.Param: {"kind": "tensor", "cls": "", "optional": False, "keyword": False, "default": None, "has_default": False, "choices": [],
                  "rank": -1, "pack": "", "flat": False, "instead": ""},
    model.Slot: {"dtype": "T", "like": -1, "mut": False},
    model.Dim: {"name": "", "size": None, "factors": [], "option": "", "part": "all", "broadcast": False, "when": None},
    model.Require: {"values": []},
    model.Size: {},
    model.Loop: {"extent": None, "pack": "", "named": False},
    model.Access: {"kind": "T"},
    model.Step: {"kind": "store", "name": "", "red": "", "value": "T", "inner": False, "reads": [], "target": -1, "mode": "=", "compared": "T"},
    model.ReadCode: {"index": [], "guard": "", "fallback": ""},
    model.StepCode: {"pred": ""},
    model.Code: {"accesses": [], "helpers": []},
    model.Word: {"value": None},
    model.RawLaunch: {"step": "", "steps": None, "lanes": 0},
    model.Raw: {"dtype": "T"},
    model.Nest: {"when": None, "rloops": [], "spread": False, "left": [], "floating": None, "integral": None, "words": [],
                 "statics": [], "reverse": False, "raw": None},
    model.Program: {"nests": []},
    model.Schedule: {"when": None},
    model.Op: {"promote": "default", "sizes": [], "requires": [], "drop": "", "keepdim": "", "random": False, "schedules": [], "numbers": False, "elementwise": False},
}


# What the names of cotangents and gradients begin with in each of an op's programs (dsl/adjoint.py).
PREFIXES = (("", ""), ("g_", "d_"), ("gg_", "dd_"))


def parts(cls: type) -> dict[str, str]:
    """The fields of a class that hold others: name -> class."""
    hints = typing.get_type_hints(cls)
    found = {}
    for f in dataclasses.fields(cls):
        for t in (hints[f.name], *typing.get_args(hints[f.name])):
            if isinstance(t, type) and t in USUAL: found[f.name] = t.__name__
    return found


def short(op: model.Op) -> dict:
    """An op's data without what is usual or follows."""
    return without(op, derived(op))


def derived(op: model.Op) -> dict[int, dict[str, object]]:
    """For objects of an op's data (by their `id`) the values of fields that follow from the rest: tensor parameters are the first
    slots, gradients and cotangents have the shape and, with a prefix, the name of what they are of, a nest is needed for the results
    that are made from what it writes."""
    found: dict[int, dict[str, object]] = {}
    tensors = 0
    for p in op.params:
        found[id(p)] = {"slot": tensors if p.kind == "tensor" else -1}
        if p.kind != "tensor": continue
        found[id(op.slots[tensors])] = {"name": p.name, "role": "input"}
        tensors += 1
    for s in op.slots: found.setdefault(id(s), {})["dims"] = op.slots[s.like].dims if s.like >= 0 else []
    for program, prefixes in zip(op.programs, PREFIXES):
        for prefix, of in zip(prefixes, (program.inputs, program.outputs)):
            for slot in (op.slots[n] for n in of if op.slots[n].like >= 0): found[id(slot)].setdefault("name", prefix + op.slots[slot.like].name)
        for n, nest in enumerate(program.nests): found[id(nest)] = {"number": n, "makes": nest.makes}
    return found | {id(op): {"output_names": [op.slots[o].name for o in op.outputs]}}


def without(value, follows: dict[int, dict[str, object]]):
    """A dataclass as a dict without the values that are usual or follow."""
    if isinstance(value, list): return [without(v, follows) for v in value]
    if type(value) not in USUAL: return value
    usual = USUAL[type(value)]
    if id(value) in follows: usual = usual | {name: without(v, follows) for name, v in follows[id(value)].items()}
    out = {k: without(v, follows) for k, v in value.__dict__.items() if k not in usual or v != usual[k]}
    if isinstance(value, model.ReadCode) and not any(value.index): out["index"] = []
    if isinstance(value, model.Code) and not any(any(a.index) or a.guard or a.fallback for a in value.accesses): out["accesses"] = []
    if isinstance(value, model.Code): out["helpers"] = with_routines(value.helpers)
    return {k: v for k, v in out.items() if k not in usual or v != usual[k]}


def with_routines(helpers: list[str]) -> list[str]:
    """Helpers of a kernel in the package: the prelude's by name, routines by their texts in ops/data/routines.ts, with all that those call."""
    made, calls = routines.functions(), prelude.calls()
    wanted = list(helpers)
    for h in wanted: wanted += [c for c in calls[h] if h in made and c not in wanted]
    return sorted(h for h in wanted if h not in made) + [Identifier(f"routines.{camel(h)}") for h in made if h in wanted]


def usual_text() -> tuple[str, str]:
    """The tables of usual values and of parts, as object literals."""
    usual = {cls.__name__: fields for cls, fields in USUAL.items() if fields}
    return literal(usual), literal({cls.__name__: p for cls in USUAL if (p := parts(cls))})
