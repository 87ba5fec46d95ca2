"""A project's ops as data that goes through JSON, for a program that compiles definitions while it runs
(runtime/definitions): what the modules of project.py say, without their text.

A formula of sizes and options is an object, `{"formula": "N+1"}`, which the package reads back; what stands in the
package (bodies, routines, the data of ops that run bodies) is named as in generated modules, `bodies_.luRows`."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

from dsl.opdef import OpDef

from ..kernels.host_formula import Formula
from ..version import VERSION
from . import modules
from .complex_ops import in_project
from .literal import Identifier
from .project import Project, carried_by, module_rows, names_of, with_called
from .short import host, own_name, short


def transported(p: Project) -> dict:
    """All that is needed to make the ops of a project; see runtime/definitions/transported.ts."""
    ops = list(p.library.ops.values())
    rows = [row(p, op) for op in ops]
    used = {name for r in rows for name in (*r["data"].get("routines", ()), *r["data"].get("bodies", ()))}
    routines = with_called([r for r in p.routines.values() if r["binding"] in used], p.routines)
    names = names_of(ops)
    return {
        "version": VERSION,
        "slopes": p.slopes if any(r["derived"] for r in rows) else "",
        "routines": [
            {"binding": r["binding"], "name": r["name"], "calls": list(r["called"]), "steps": r["steps"]}
            for r in routines
        ],
        "bodies": [body(name, p) for name in p.bodies if own_name(name) in used],
        "ops": rows,
        "functions": {name: [op.name for op in found] for name, found in names.items()},
        "modules": [module(m) for m in module_rows(p, ops, names)],
    }


def row(p: Project, op: OpDef) -> dict:
    carried, whole, loops, callees, derived = carried_by(op, p)
    said = modules.op_row(op)
    takes, gives, terms = in_project(op)
    data = plain(short(carried, whole, loops, callees, p.routines))
    if callees:
        data["callees"] = list(callees)
    if "more" in data:
        data["more"] = True
    return {
        "name": op.name,
        "data": data,
        "derived": derived,
        "parts": said["parts"],
        "calls": said["calls"],
        "changes": said["changes"],
        "complex": said["complex"],
        "pairs": [takes, gives] if takes else None,
        "terms": terms,
        "itself": plain(Formula(op.itself)) if op.itself is not None else None,
        "checks": [
            [name, list(messages), plain(Formula(e)) if e is not None else None]
            for (name, messages), e in zip(op.value_checks, op.spared)
        ],
        "doc": op.doc,
    }


def module(m: dict) -> dict:
    """A class of modules; m: its row in the modules of project.py.  A setting that must be given has no default."""
    return {
        "name": m["name"],
        "settings": [[s["name"], *([] if s["required"] else [s["value"]])] for s in m["settings"]],
        "call": m["call"],
        "ops": m["behind"],
    }


def body(name: str, p: Project) -> dict:
    raw, uniforms = p.raws[name]
    return {
        "binding": own_name(name),
        "body": plain(
            {
                "names": raw.names,
                "uniforms": modules.uniforms_text(uniforms),
                "launches": raw.launches,
                "helpers": raw.helpers,
                "steps": raw.steps,
                "text": raw.text,
            }
        ),
    }


def plain(value: object) -> object:
    """The same of lists, dicts, texts and numbers alone."""
    if isinstance(value, Identifier):
        return str(value).strip("`")
    if callable(value):
        return {"formula": host(value)}  # type: ignore[arg-type]
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if is_dataclass(value):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    return value
