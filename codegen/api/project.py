"""The modules of a project's own ops: one for each file of definitions, which import the runtime from the package.

What they import is `tensorloom/compiled` (templates/compiled.ts.j2).  Each module holds its ops' data itself, so that
a bundler keeps what is called, and says the version of the compiler that made it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from dsl.ir.expression import RawResult
from dsl.opdef import Library, OpDef

from ..data import model
from ..version import VERSION
from ..wgsl import prelude
from . import compiled, docs, loop_programs, modules, nn, opdata
from .aliases import Names
from .complex_ops import in_project
from .literal import Identifier, literal
from .short import own_name


@dataclass(frozen=True)
class Project:
    """What the definitions of a project share.  home: its name in messages; routines, bodies: the texts of its own, by
    the names of the functions and of the ops that they were written for; slopes: the derivatives of the routines; raws:
    of the bodies what their texts are made of."""

    home: str
    library: Library
    routines: dict[str, dict]
    bodies: dict[str, dict]
    slopes: str
    raws: dict[str, tuple[model.Raw, list[model.UniformField]]]


def project(home: str, library: Library) -> Project:
    """Of definitions that are lowered, sound and complete."""
    texts, calls = prelude.functions(), prelude.calls()
    steps = opdata.routine_steps(tuple(library.routines.values()))
    routines = {
        name: {
            "binding": own_name(name),
            "name": name,
            "calls": ", ".join(f'"{c}"' for c in calls[name]),
            "called": calls[name],
            "steps": text,
        }
        for name, text in steps.items()
        if name in texts
    }
    raws = [
        s.body.raw
        for op in library.ops.values()
        for s in op.forward.stmts
        if isinstance(s.body, RawResult) and s.body.raw.body.op in library.ops
    ]
    bodies = {raw.body.op: (opdata.body(raw), opdata.body_uniforms(raw)) for raw in raws}
    rows = {name: body_row(name, *found) for name, found in bodies.items()}
    return Project(home, library, routines, rows, loop_programs.routines(library.routines), bodies)


def body_row(op: str, raw: model.Raw, uniforms: list[model.UniformField]) -> dict:
    return {
        "name": own_name(op),
        "names": literal(raw.names),
        "uniforms": modules.uniforms_text(uniforms),
        "launches": literal(raw.launches),
        "helpers": literal(raw.helpers),
        "steps": raw.steps,
        "text": modules.template_text(raw.text),
    }


def files(p: Project, typescript: bool) -> dict[str, str]:
    """The texts of all modules, by their paths: `units.ts` or `units.js` and `units.d.ts` of units.op, and the index.
    Raises ValueError if two files give a user one name."""
    made: dict[str, str] = {}
    exported: dict[str, str] = {}
    by_file = modules.by_file(p.library.ops.values())
    for stem, ops in by_file:
        row = module_row(p, stem, ops)
        for name in row["exports"]:
            if name in exported:
                raise ValueError(f"{stem}.op and {exported[name]}.op both define `{name}`, which one package exports")
            exported[name] = stem
        for suffix in ("ts",) if typescript else ("js", "d.ts"):
            made[f"{stem}.{suffix}"] = modules.render(f"project.{suffix}.j2", **row).rstrip("\n") + "\n"
    head = f"// The ops of this package, compiled by tensorloom {VERSION}.  Generated.\n\n"
    index = head + "".join(f'export * from "./{stem}.js";\n' for stem, _ in by_file)
    made |= {f"index.{suffix}": index for suffix in (("ts",) if typescript else ("js", "d.ts"))}
    return made


def names_of(ops: list[OpDef]) -> dict[str, list[OpDef]]:
    """The ops of a file by the names that users call them by."""
    found: dict[str, list[OpDef]] = {}
    for op in ops:
        for alias in op.aliases:
            found.setdefault(alias.rpartition(".")[2], []).append(op)
    return found


def module_row(p: Project, stem: str, ops: list[OpDef]) -> dict:
    """What the templates of a module are given."""
    names = names_of(ops)
    rows = [op_row(p, op, ops[:n], names) for n, op in enumerate(ops)]
    functions = {op.name: row["function"] for op, row in zip(ops, rows)}
    overloaded = [overload_row(name, found, functions) for name, found in names.items() if len(found) > 1]
    found = module_rows(p, ops, names)
    said = {name for row in rows for name in re.findall(r"\w+", row["literal"])}
    routines = with_called([r for r in p.routines.values() if r["binding"] in said], p.routines)
    bodies = [b for b in p.bodies.values() if b["name"] in said]
    exports = [name for row in rows if row["export"] for name in (row["function"], *row["names"])]
    slopes = p.slopes if any(row["derived"] for row in rows) else ""
    used = [
        "compiledBy",
        *(["PARTS"] if any(r["parts"] for r in rows) else []),
        *(["calls"] if any(r["calls"] for r in rows) else []),
        *(["changing"] if any(r["changes"] for r in rows) else []),
        *(["complexResults"] if any(r["complex"] for r in rows) else []),
        *(["derivedWith" if slopes else "derived"] if any(r["derived"] for r in rows) else []),
        *(["itself"] if any(r["itself"] for r in rows) else []),
        *(["linear"] if any("linear" in r["complexity"] for r in rows) else []),
        *(["more"] if any("more: more_" in r["literal"] for r in rows) else []),
        *(["ofPairs"] if any("ofPairs" in r["complexity"] for r in rows) else []),
        *(["overload"] if overloaded else []),
        *(["raw"] if bodies else []),
        *(["requiring"] if any(r["value_checks"] for r in rows) else []),
        *(["routine"] if routines else []),
        *(["run"] if any(r["function"] for r in rows) else []),
        *(["stateless"] if found else []),
    ]
    return {
        "stem": stem,
        "ops": rows,
        "overloaded": overloaded,
        "modules": found,
        "exports": [*exports, *(o["name"] for o in overloaded), *(m["name"] for m in found)],
        "project": {
            "version": VERSION,
            "types": types_of(rows, found),
            "imports": [f"{name} as {name}_" for name in used],
            "namespaces": [n for n in ("bodies", "callees", "routines") if any(f"{n}_." in r["literal"] for r in rows)],
            "slopes": slopes,
            "routines": routines,
            "bodies": bodies,
        },
    }


def op_row(p: Project, op: OpDef, before: list[OpDef], names: dict[str, list[OpDef]]) -> dict:
    """names: the ops by their names.  An op that shares all of its names has a function that only the module sees."""
    row, (text, derived) = modules.op_row(op, before) | {"webgpu": ""}, data_of(op, p)
    takes, gives, terms = in_project(op)
    alone = [n for a in op.aliases if len(names[n := a.rpartition(".")[2]]) == 1]
    if row["function"]:
        row["function"] = modules.binding(alone[0]) if alone else f"{op.name}_alone_"
    return row | {
        "data": f"{op.name}_data_",
        "literal": text,
        "derived": derived,
        "complexity": ["ofPairs", takes, gives] if takes else ["linear", terms] if terms else [],
        "export": "export " if alone else "",
        "names": [n for n in alone if n != row["function"]],
    }


def data_of(op: OpDef, p: Project) -> tuple[str, bool]:
    """The literal of an op's data, and whether its gradients are derived where they are needed."""
    carried, whole, loops, callees, derived = carried_by(op, p)
    return modules.data_text(carried, whole, loops, callees, p.routines), derived


def carried_by(op: OpDef, p: Project) -> tuple[model.Op, model.Op, str, list[str], bool]:
    """An op's data as its project carries it, with all programs, what the others are derived from, how it names the
    data of ops that these run, and whether gradients are derived where they are needed: those of an op that runs a body
    of the project are not."""
    data = replace(compiled.op_data(op), name=op.aliases[0] if op.aliases else f"{p.home}.{docs.shown_name(op)}")
    named = lambda body: Identifier(own_name(body)) if body in p.bodies else modules.body_text(body)
    whole = compiled.with_named_bodies(op, data, named)
    ran = [s.body.raw.body.op for s in op.forward.stmts if isinstance(s.body, RawResult)]
    if any(body in p.bodies for body in ran):
        return whole, whole, "", [], False
    carried, loops, callees = compiled.carried_of(op, whole)
    # Derivatives of a project's own functions come with what derives gradients of gradients, too.
    slopes = any(r.name in p.routines for r in whole.routines)
    return carried, whole, loops, callees, loops != "" and (slopes or len(carried.programs) == 1)


def with_called(rows: list[dict], known: dict[str, dict]) -> list[dict]:
    """Routines with those of the project that they call, in the order of their definitions."""
    names, todo = {r["name"] for r in rows}, list(rows)
    while todo:
        for name in re.findall(r"\w+", todo.pop()["calls"]):
            if name in known and name not in names:
                names.add(name)
                todo.append(known[name])
    return [r for name, r in known.items() if name in names]


def overload_row(name: str, ops: list[OpDef], functions: dict[str, str]) -> dict:
    return {
        "name": name,
        "ops": [f"{op.name}Op" for op in ops],
        "doc": " ".join(dict.fromkeys(docs.family_text(op, op.doc).strip().split("\n")[0] for op in ops)),
        "type": " & ".join(f"typeof {functions[op.name]}" for op in modules.typed_order(ops)),
    }


def module_rows(p: Project, ops: list[OpDef], names: dict[str, list[OpDef]]) -> list[dict]:
    known = Names({p.home: names})
    rows: dict[str, dict] = {}
    for op in ops:
        for m in op.modules:
            rows.setdefault(m.name, nn.row(op, m, nn.functions(op, m, known)))
    return list(rows.values())


def types_of(rows: list[dict], found: list[dict]) -> list[str]:
    """The types that a module's text names."""
    said = {word for row in rows for word in modules.words(row)}
    said |= {word for m in found for s in m["settings"] for word in re.findall(r"\w+", s["type"])}
    used = [t for t in ("DType", "RandomSource", "Tensor", "TensorOrNumber") if t in said]
    return ["CompiledOp", *used, "ShortOp", *(["Stateless"] if found else [])]
