"""The package's generated modules as texts, from the templates in templates/.

For each file of definitions: `ops/FILE.ts` (functions), `ops/data/FILE.js` (what the runtime knows).  For each
namespace of PyTorch one module of names; `methods.ts`.

Data is most of the package, and no person writes it: it is JavaScript with types in comments, each
with a short `.d.ts`, so that TypeScript need not read them to compile the rest.  The tests let it check them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from dsl.opdef import OpDef

from ..data import model
from ..kernels.host_formula import formula
from ..wgsl import prelude
from . import docs
from .aliases import IN_PLACE, Names, in_place
from .complex_ops import brought, given
from .literal import Identifier, literal
from .names import RESERVED, camel
from .opdata import on_webgpu, takes_parts
from .short import short, usual_text
from .signatures import options, options_name, result_type, signatures, type_name

if TYPE_CHECKING:
    import jinja2

ABOUT = {
    "torch": "Ops in PyTorch's root namespace.",
    "functional": "torch.nn.functional: the ops of networks, without modules.",
    "linalg": "torch.linalg: linear algebra.",
    "special": "torch.special: special functions.",
    "fft": "torch.fft: Fourier transforms.",
    "masked": "torch.masked: reductions that leave elements out.",
    "signal.windows": "torch.signal.windows: curves to weight signals with.",
}


def render(template: str, **values) -> str:
    return templates().get_template(template).render(**values)


@cache
def templates() -> jinja2.Environment:
    """Loaded when a text is made: what compiles a definition into data alone needs no templates."""
    import jinja2

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )


def binding(name: str) -> str:
    """The name of a function's binding: a reserved one gets a `_`."""
    return name + "_" if name in RESERVED else name


def by_file(ops) -> list[tuple[str, list[OpDef]]]:
    return [(file, list(group)) for file, group in groupby(ops, lambda op: op.file)]


# --- Modules of a file of definitions --------------------------------------------------------------


def ops_module(file: str, ops: list[OpDef], derived: Collection[str] = ()) -> str:
    """derived: the ops that bring what derives their gradients."""
    rows = [op_row(op, ops[:n]) | {"instead": brought(op, ops)} for n, op in enumerate(ops)]
    types = [t for t in ("Tensor", "TensorOrNumber") if any(t in words(row) for row in rows)]
    return render(
        "ops.ts.j2",
        file=file,
        ops=rows,
        functions=any(r["function"] for r in rows),
        derived=derived,
        tensor_types=types,
        dtypes=any("DType" in words(row) for row in rows),
        random=any("RandomSource" in words(row) for row in rows),
    )


def words(row: dict) -> set[str]:
    """The words of an op's types."""
    text = " ".join(
        [*row["signatures"], *(o.type for o in row["options"]), row["result"] if row["function"] else ""]
        + (["Tensor"] if row["results"] else [])
    )
    return set(re.findall(r"\w+", text))


def op_row(op: OpDef, before: Sequence[OpDef] = ()) -> dict:
    called = bool(op.aliases)
    several = len(op.outputs) > 1
    return {
        "name": op.name,
        "data": binding(op.name),
        "function": binding(op.name) if called else "",
        "export": "export ",
        "shown": docs.shown_name(op),
        "summary": docs.family_text(op, op.doc).strip().split("\n")[0],
        "comment": docs.comment(docs.lines(op, before)),
        "signatures": [s.text() for s in signatures(op)] if called else [],
        "options": options(op, docs.param_docs(op)) if called else [],
        "options_name": options_name(op),
        "results": op.outputs if several and called else [],
        "changes": called and not op.outputs,
        "result": result_type(op),
        "complex": complex_ones(op) if called else "",
        "parts": takes_parts(op),
        "calls": takes_more(op),
        "itself": formula(op.itself) if op.itself is not None else "",
        "webgpu": on_webgpu(op.on_webgpu) if op.on_webgpu else "",
        "value_checks": [
            (name, literal(list(messages)), f", {formula(e)}" if e else "")
            for (name, messages), e in zip(op.value_checks, op.spared)
        ],
    }


def complex_ones(op: OpDef) -> str:
    """A 1 for each result that is complex, which to kernels is pairs of floats, and a 0 for others; "" if none is."""
    found = given(op.tree) if op.tree is not None else ""
    return found if "1" in found else ""


def takes_more(op: OpDef) -> bool:
    """Whether calling an op takes what runtime/dispatch/creation-arguments.ts has: no tensor is needed, or one may be
    given as a list or in any shape."""
    tensors = [p for p in op.params if p.kind == "tensor"]
    return all(p.optional for p in tensors) or any(p.flat or p.keyword or p.instead == "ints" for p in tensors)


def data_text(
    data: model.Op, whole: model.Op, loops: str = "", callees: Sequence[str] = (), own: Collection[str] = ()
) -> str:
    """What the runtime knows of an op, as a literal; see `short`."""
    return literal(short(data, whole, loops, callees, own))


def data_module(file: str, ops: list[OpDef], texts: dict[str, str], elsewhere: Collection[str] = ()) -> str:
    """texts: the ops' literals.  elsewhere: the ops whose data stand in ops/data/callees.js."""
    own = [op.name for op in ops if op.name not in elsewhere]
    named = [name for name in ("bodies", "callees", "routines") if any(f"{name}_." in texts[op] for op in own)]
    return render(
        "data.js.j2",
        file=file,
        ops=[{"name": binding(op), "literal": texts[op]} for op in own],
        elsewhere=[binding(op.name) for op in ops if op.name in elsewhere],
        named=named,
        more=any("more: more_" in texts[op] for op in own),
    )


def data_types(file: str, ops: list[OpDef]) -> str:
    return render("data.d.ts.j2", file=file, names=[binding(op.name) for op in ops])


def complete_module() -> str:
    return render("complete.ts.j2", usual=usual_text())


def schedules_module(rules: list) -> str:
    """The schedules for shapes of kernels."""
    return render("schedules.ts.j2", rules=literal(rules))


def routine_texts_module(texts: dict[str, str], steps: dict[str, str]) -> str:
    """The rare functions of WGSL, and the library's routines as data (data/statements.py)."""
    calls = prelude.calls()
    return render(
        "routine_texts.ts.j2",
        functions=[
            {
                "binding": camel(n),
                "name": n,
                "text": template_text(t),
                "calls": ", ".join(f'"{c}"' for c in calls[n]),
                "steps": steps.get(n, ""),
            }
            for n, t in texts.items()
        ],
    )


def bodies_module(bodies: dict[str, tuple[model.Raw, list[model.UniformField]]]) -> str:
    """What ops with bodies run on the GPU: many programs may run one body."""
    rows = [
        {
            "name": binding(camel(n)),
            "names": literal(raw.names),
            "uniforms": uniforms_text(uniforms),
            "launches": literal(raw.launches),
            "helpers": literal(raw.helpers),
            "steps": raw.steps,
            "text": template_text(raw.text),
        }
        for n, (raw, uniforms) in bodies.items()
    ]
    return render("bodies.ts.j2", bodies=rows)


def callee_names(op: OpDef, callees: Sequence[str]) -> list[str]:
    """How an op's data names that of ops with bodies, beside which it stands if it has one itself."""
    return [binding(name) if op.raw else f"callees_.{binding(name)}" for name in callees]


def uniforms_text(uniforms: list[model.UniformField]) -> str:
    return " ".join(w.name + (f":{w.kind}" if w.kind != "i" else "") for w in uniforms)


def body_text(op: str) -> Identifier:
    """How op data names the text of an op's body."""
    return Identifier(f"bodies_.{binding(camel(op))}")


# --- Names -----------------------------------------------------------------------------------------


def names_module(space: str, names: dict[str, list[OpDef]], composite: Sequence[str] = (), root: str = "..") -> str:
    """The ops of a namespace.  composite: functions that the runtime makes of ops (runtime/composite/SPACE.ts) that it
    shall have, too; root: the package's folder, seen from the module's."""
    single = {n: ops[0] for n, ops in names.items() if len(ops) == 1}
    several = {n: ops for n, ops in names.items() if len(ops) > 1}
    exports: dict[str, list[str]] = {}
    for name, op in single.items():
        own = binding(op.name)
        exports.setdefault(op.file, []).append(own if own == name else f"{own} as {name}")
        exports[op.file] += types_of(op)
    for ops in several.values():
        for op in ops:
            exports.setdefault(op.file, []).extend(types_of(op))
    imports: dict[str, list[str]] = {}
    for ops in several.values():
        for op in ops:
            imports.setdefault(op.file, []).extend(
                [f"type {binding(op.name)} as {type_name(op.name)}Function", f"{op.name}Op"]
            )
    overloaded = [
        {
            "name": n,
            "local": binding(n),
            "ops": [f"{op.name}Op" for op in ops],
            "doc": " ".join(dict.fromkeys(docs.family_text(op, op.doc).strip().split("\n")[0] for op in ops)),
            "type": " & ".join(f"typeof {type_name(op.name)}Function" for op in typed_order(ops)),
        }
        for n, ops in several.items()
    ]
    return render(
        "names.ts.j2",
        about=ABOUT[space],
        root=root,
        composite="index" if space == "torch" else space,
        some=composite,
        imports=tidy(imports),
        exports=tidy(exports),
        overloaded=overloaded,
    )


def namespace_module(space: str, names: dict[str, list[OpDef]], working: Mapping[str, list[OpDef]]) -> str:
    """A namespace of ops and of functions that the runtime makes of ops.  working: its functions `name_`."""
    inplace = {name: names[name] for name in IN_PLACE if name in names} if space == "functional" else {}
    about = f"// {ABOUT[space]}  Generated by codegen/api/package.py.\n\n"
    text = about + f'export * from "../names/{space}.js";\nexport * from "../runtime/composite/{space}.js";\n'
    if inplace:
        imports = tidy(
            {
                op.file: [f"{o.name}Op" for ops in inplace.values() for o in ops if o.file == op.file]
                for ops in inplace.values()
                for op in ops
            }
        )
        text += 'import { orInPlace } from "../runtime/views/or-in-place.js";\n'
        text += f'import * as plain from "../names/{space}.js";\n'
        text += "".join(f'import {{ {", ".join(found)} }} from "../ops/{file}.js";\n' for file, found in imports)
    for name, ops in inplace.items():
        copied = literal(not all(op.pointwise and in_place(op) for op in ops))
        bindings = ", ".join(f"{op.name}Op" for op in ops)
        text += "\n/** As the op; `inplace`: the result takes the place of the input's elements. @function */\n"
        text += f"export const {name} = /* @__PURE__ */ orInPlace(plain.{name}, {copied}, {bindings});\n"
    return text + (f'export * from "./{space}-in-place.js";\n' if working else "")


def in_place_module(space: str, working: Mapping[str, list[OpDef]]) -> str:
    """The functions `name_` of a namespace."""
    imports: dict[str, list[str]] = {}
    for op in (op for ops in working.values() for op in ops):
        own = f"type {binding(op.name)} as {type_name(op.name)}Function"
        imports.setdefault(op.file, []).extend([own, f"{op.name}Op"])
    functions = [
        {
            "name": name,
            "ops": [f"{op.name}Op" for op in ops],
            "type": " & ".join(f"typeof {type_name(op.name)}Function" for op in typed_order(ops)),
        }
        for name, ops in working.items()
    ]
    return render("in_place.ts.j2", space=space, imports=tidy(imports), functions=functions)


def outer_module(name: str, spaces: list[str]) -> str:
    """A namespace that holds others."""
    return f"// torch.{name}.  Generated; change the aliases in ops/*.op.\n\n" + "".join(
        f'export * as {s.split(".")[-1]} from "./{s}.js";\n' for s in spaces
    )


def typed_order(ops: list[OpDef]) -> list[OpDef]:
    """Ops of one name as TypeScript should try them: a number is an axis before it is a tensor."""
    return sorted(ops, key=lambda op: any("TensorOrNumber" in s.text() for s in signatures(op)))


def types_of(op: OpDef) -> list[str]:
    """The types a user may want to name: options and results."""
    found = [f"type {options_name(op)}"] if options_name(op) else []
    return found + ([f"type {result_type(op)}"] if len(op.outputs) > 1 else [])


def tidy(table: dict[str, list[str]]) -> list[tuple[str, list[str]]]:
    return [(file, sorted(set(names), key=lambda n: n.removeprefix("type "))) for file, names in sorted(table.items())]


def methods_module(names: Names) -> str:
    imports: dict[str, list[str]] = {}
    rows = []
    for inplace, methods in ((False, names.methods), (True, names.inplace)):
        for name, ops in methods.items():
            rows.append(method_row(name, ops, inplace))
            for op in ops:
                imports.setdefault(op.file, []).append(f"{op.name}Op")
                imports[op.file] += types_of(op)
    dtypes = any("DType" in signature for row in rows for signature in row["signatures"])
    return render("methods.ts.j2", imports=tidy(imports), methods=rows, dtypes=dtypes)


def method_row(name: str, ops: list[OpDef], inplace: bool) -> dict:
    seen: dict[str, None] = {}
    for op in typed_order(ops):
        for s in signatures(op):
            seen[s.text(name, skip=1, result="this" if inplace else "")] = None
    said = " ".join(dict.fromkeys(docs.family_text(op, op.doc).strip().split("\n")[0] for op in ops))
    if inplace:
        said = f"As `{name[:-1]}`, in place."
    return {
        "name": name,
        "inplace": inplace,
        "ops": [f"{op.name}Op" for op in ops],
        "comment": docs.comment([said], "    "),
        "signatures": list(seen),
    }


# --- Entries ---------------------------------------------------------------------------------------


def needed_module(needed: list[OpDef]) -> str:
    exports: dict[str, list[str]] = {}
    for op in needed:
        exports.setdefault(op.file, []).append(f"{op.name}Op")
    return render("needed.ts.j2", exports=tidy(exports))


def entry_module(about: str, methods: bool, namespaces: list[tuple[str, str]]) -> str:
    """namespaces: their names and the folders of their modules."""
    return render("index.ts.j2", about=about, methods=methods, namespaces=namespaces)


def nn_module() -> str:
    return render("nn.ts.j2")


def core_module(namespaces: list[str]) -> str:
    return render("core.ts.j2", namespaces=namespaces)


def prelude_module(functions: list[tuple[str, str, list[str]]]) -> str:
    """functions: (name, WGSL text, the other names it calls), in order."""
    return render(
        "prelude.ts.j2",
        functions=[
            {"name": n, "text": template_text(t), "calls": ", ".join(f'"{c}"' for c in calls)}
            for n, t, calls in functions
        ],
    )


def template_text(text: str) -> str:
    """A text inside a template literal."""
    return text.replace("\\", "\\\\").replace("`", "\\`").replace("${", "\\${")
