"""Writes the package's sources: runtime, translated host code and templates, ops, names, entries.

    generate(".build/src", library, by_hand)

A file is written only if its text changed, and files that nothing makes any more go; the same definitions
give the same bytes anywhere.  Compiling and packing are the build's business (buildtools/package.py)."""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from dsl.ir.expression import RawResult
from dsl.opdef import Library, OpDef

from ..data import model
from ..earlier import Earlier
from ..kernels.fused import kernels
from ..kernels.kernel import Kernel
from ..translator.modules import absolute
from ..translator.template import TEXT_TS, templates_module
from ..translator.translate import EXTERNAL, PYTHON_TS, World, translate
from ..wgsl import prelude
from ..wgsl import routines as wgsl_routines
from . import aliases, core, docs, loop_programs, modules, nn, opdata, report
from .by_hand import NEEDED, ByHand, sources
from .notation import Writer

ROOT = Path(__file__).parents[2]
RENDER = ROOT / "codegen" / "planner" / "render.py"
# What the package uses of the shipped compiler; what these import goes with them.
SHIPPED = (
    "codegen.kernels.derived",
    *("codegen.data.model", "codegen.data.dtypes", "codegen.data.written"),
    *("codegen.binding.pattern", "codegen.binding.bind", "codegen.planner.lines", "codegen.planner.plan"),
    *("codegen.wasm.plan", "codegen.wasm.module", "codegen.wasm.bodies", "codegen.wasm.routines"),
)
UNSHIPPED = ("dsl.ir.interned", "dsl.ir.steps")  # the first is the translator's; of the second only types are named
# Entries: file -> (what it is, whether methods are installed).
ENTRIES = {
    "index": ("PyTorch's tensors and autograd on WebGPU and the CPU.", True),
    "functional": ("The same without methods on tensors: a bundler leaves out every op that is not called.", False),
}


@dataclass(frozen=True)
class Made:
    """What an op becomes.  data: the literal of what the runtime knows of it; derived: whether it carries no gradient
    program, but what derives it."""

    data: str
    derived: bool
    entry: report.Entry


def generate(out: str | Path, library: Library, by_hand: ByHand, earlier: Earlier = Earlier(None)) -> str:
    """Writes all TypeScript of the package into the folder `out`; answers the text of docs/compile-report.md.  by_hand:
    what the hand-written TypeScript has (buildtools/by_hand.py)."""
    out = Path(out)
    files = sources()
    files |= earlier.get(host_files, "host")
    made, report = ops_files(library, earlier)
    files |= made
    files |= names_files(library, by_hand)
    write(out, files)
    return report


def programs(op: OpDef) -> list[tuple[list[Kernel], dict]]:
    """The kernels and the tensors of each program of an op."""
    made = [op.forward] + [p for p in (op.gradient, op.gradient2) if p is not None]
    return [(kernels(p), {**op.tensors, **(p.tensors if p else {})}) for p in made]


def ops_files(library: Library, earlier: Earlier) -> tuple[dict[str, str], str]:
    """The modules of ops/, and the compile report."""
    files = {
        "ops/data/complete.ts": modules.complete_module(),
        "ops/data/schedules.ts": modules.schedules_module(opdata.rules(library)),
    }
    slopes = loop_programs.routines(library.routines)
    files["codegen/slopes.ts"] = "// The derivatives of routines; see codegen/loop_notation.ts.  Generated.\n\n"
    files["codegen/slopes.ts"] += f"export const slopes = `{slopes}`;\n"
    files["ops/data/bodies.ts"] = modules.bodies_module(bodies(library))
    files["ops/data/routines.ts"] = modules.routine_texts_module(
        prelude.rare() | wgsl_routines.functions(library.routines),
        opdata.routine_steps(tuple(library.routines.values())),
    )
    files_of = modules.by_file(library.ops.values())
    all_made = {op.name: made_of(op, earlier) for op in library.ops.values()}
    for file, ops in files_of:
        files[f"ops/{file}.ts"] = earlier.get(
            lambda: modules.ops_module(file, ops, {op.name for op in ops if all_made[op.name].derived}),
            "functions",
            file,
            *(op.source for op in ops),
        )
        files[f"ops/data/{file}.js"] = modules.data_module(file, ops, {op.name: all_made[op.name].data for op in ops})
        files[f"ops/data/{file}.d.ts"] = modules.data_types(file, ops)
    return files, report.compile_report([m.entry for m in all_made.values()])


def made_of(op: OpDef, earlier: Earlier) -> Made:
    """What an op becomes; with a schedule of its own it becomes something else."""
    return earlier.get(lambda: make(op), "made", op.source, op.name, repr(op.schedules))


def make(op: OpDef) -> Made:
    found = with_named_bodies(op, op_data(op))
    loops = loop_text(op)
    carried = found if not loops else without_derived(op, found)
    data = modules.data_text(carried, found, loops)
    forward, *backward = (Counter(n.shape for n in ns) for ns, _ in programs(op))
    return Made(
        data,
        len(carried.programs) == 1 and loops != "",
        report.Entry(
            op.name,
            op.file,
            bool(op.aliases),
            bool(op.raw),
            report.gradient(op),
            forward,
            sum(backward, Counter()),
            len(data.encode()),
        ),
    )


def loop_text(op: OpDef) -> str:
    """The loop program from which the package derives an op's gradients; "": it carries them."""
    if op.gradient is None or any(isinstance(s.body, RawResult) for s in op.forward.stmts):
        return ""
    assert op.derivable is not None
    return loop_programs.Writer([*opdata.all_tensors(op, 1)]).derivable(op.derivable)


CARRIED = 200  # bytes of a gradient program that is carried; a longer one is derived when it is first needed


def gradient_size(data: model.Op) -> int:
    """Bytes of the first gradient program."""
    w, p = Writer(data), data.programs[1]
    return sum(map(len, (w.program(p), *map(w.kernel, p.kernels))))


def without_derived(op: OpDef, data: model.Op) -> model.Op:
    """The data without the programs that the package derives, and their slots."""
    count = 2 if gradient_size(data) <= CARRIED else 1
    there = opdata.all_tensors(op, count)
    return replace(data, programs=data.programs[:count], slots=data.slots[: len(there)])


def op_data(op: OpDef) -> model.Op:
    """The op as the package has it: under the name its users know, gradients for a floating T only."""
    data = replace(opdata.op_data(op), name=docs.shown_name(op))
    for program in data.programs[1:]:
        program.kernels = [replace(kernel, integral=None) for kernel in program.kernels]
    return data


def with_named_bodies(op: OpDef, data: model.Op) -> model.Op:
    """`data` with the names of raw bodies, which stand in ops/data/bodies.ts, instead of their texts."""
    for program, (made, _) in zip(data.programs, programs(op)):
        for kernel, source in zip(program.kernels, made):
            if source.raw is not None:
                kernel.raw = replace(kernel.raw, text=modules.body_text(source.raw.body.op))
    return data


def bodies(library: Library) -> dict[str, tuple[model.Raw, list[model.Word]]]:
    """What all raw bodies are to kernels, by the op that each was written for."""
    raws = [s.body.raw for op in library.ops.values() for s in op.forward.stmts if isinstance(s.body, RawResult)]
    return {raw.body.op: (opdata.body(raw), opdata.body_words(raw)) for raw in raws}


def host_files() -> dict[str, str]:
    """The host code in TypeScript, and the GPU's side."""
    paths = {name: ROOT / f"{name.replace('.', '/')}.py" for name in host_modules()}
    world = World(paths.values())
    files = {f"{world.modules[name].output}.ts": translate(path, world) for name, path in paths.items()}
    files["dsl/steps.ts"] = "// Steps of bodies, of which the package has no more.\n\nexport type Range = unknown;\n"
    files["dsl/steps.ts"] += "export type Step = unknown;\n"
    return files | {"host/python.ts": PYTHON_TS, **wgsl_files()}


def host_modules() -> list[str]:
    """The modules of the compiler that become part of the package."""
    found: list[str] = []
    todo = list(SHIPPED)
    while todo:
        name = todo.pop()
        if name in found or name.rpartition(".")[2] in EXTERNAL:
            continue
        found.append(name)
        todo += imported(name)
    return sorted(found)


def imported(name: str) -> dict[str, list[str]]:
    """The modules of the compiler that a module imports from, with the names that it takes."""
    tree = ast.parse((ROOT / f"{name.replace('.', '/')}.py").read_text(encoding="utf-8"))
    found: dict[str, list[str]] = {}
    for n in tree.body:
        if isinstance(n, ast.ImportFrom) and (n.level or (n.module or "").partition(".")[0] == "dsl"):
            full = absolute(name, n)
            for a in n.names:
                inner = f"{full}.{a.name}"
                module = inner if (ROOT / f"{inner.replace('.', '/')}.py").exists() else full
                found.setdefault(module, []).append(a.name)
    return {module: names for module, names in found.items() if module not in UNSHIPPED}


def kernel_templates() -> list[tuple[str, str, str]]:
    """The template that each function of render.py shows, the function's name and the class of what that is given."""
    found = []
    for node in ast.parse(RENDER.read_text(encoding="utf-8")).body:
        match node:
            case ast.FunctionDef(
                name=name,
                args=ast.arguments(args=[ast.arg(annotation=ast.Name(id=context))]),
                body=[ast.Return(value=ast.Call(func=ast.Name(id="shown"), args=[ast.Constant(value=file), _]))],
            ):
                found.append((file, name, context))
    return found


def wgsl_files() -> dict[str, str]:
    """The GPU's side: the kernels' templates as functions, the prelude with its own dependences."""
    types = {
        name: f"../host/{module.rpartition('.')[2]}.js"
        for module, names in imported("codegen.planner.render").items()
        for name in names
    }
    templates = kernel_templates()
    used = {context: types[context] for _, _, context in templates}
    module = templates_module(templates, used)
    functions, calls = prelude.of_file(), prelude.calls()
    return {
        "wgsl/templates.ts": module.rstrip("\n") + '\n\nexport { prelude_text } from "./prelude.js";\n',
        "wgsl/text.ts": TEXT_TS,
        "wgsl/prelude.ts": modules.prelude_module([(n, functions[n], calls[n]) for n in functions]),
    }


def names_files(library: Library, by_hand: ByHand) -> dict[str, str]:
    """The modules of names, methods and the entries; what the runtime has by hand goes before an op of that name."""
    names = aliases.names_of(library, by_hand.methods)
    spaces = {
        s: {n: ops for n, ops in table.items() if s != "torch" or n not in by_hand.root}
        for s, table in names.namespaces.items()
    }
    mixed = [s for s in spaces if s != "torch" and by_hand.functions(s)]
    made = {f"names/{space}.ts": modules.names_module(space, table) for space, table in spaces.items()}
    made |= {f"namespaces/{space}.ts": modules.namespace_module(space, names.namespaces[space]) for space in mixed}
    made["methods.ts"] = modules.methods_module(names)
    made["needed.ts"] = modules.needed_module([library.ops[n] for n in NEEDED])
    namespaces = sorted({s.split(".")[0] for s in spaces} - {"torch", "functional"})
    for name, (about, methods) in ENTRIES.items():
        folders = [(s, "namespaces" if s in mixed else "names") for s in namespaces]
        made[f"{name}.ts"] = modules.entry_module(about, methods, folders)
    for outer in sorted({s.split(".")[0] for s in spaces if "." in s}):
        made[f"names/{outer}.ts"] = modules.outer_module(
            outer, [s for s in sorted(spaces) if s.startswith(outer + ".")]
        )
    made |= core_files(names, by_hand)
    made["names/modules.ts"] = nn.modules_module(library, names)
    made["nn.ts"] = modules.nn_module()
    return made


def core_files(names: aliases.Names, by_hand: ByHand) -> dict[str, str]:
    """The entry tensorloom/core."""
    of_runtime = by_hand.exports["runtime/index"]
    tables, composed, methods = core.chosen(names, {s: by_hand.functions(s) for s in names.namespaces})
    tables["torch"] = {n: ops for n, ops in tables["torch"].items() if n not in of_runtime}
    made = {
        f"names/core/{space}.ts": modules.names_module(space, table, composed.get(space, ()), "../..")
        for space, table in tables.items()
    }
    made["names/core/nn.ts"] = modules.outer_module("nn", ["functional"])
    made["core-methods.ts"] = modules.methods_module(methods)
    made["core.ts"] = modules.core_module(sorted({"nn", *tables} - {"torch", "functional"}))
    return made


def write(out: Path, files: dict[str, str]):
    """Makes `out` hold just these files."""
    for path, text in files.items():
        file, data = out / path, text.encode()  # bytes: an interrupted build may have left half a letter
        if file.exists() and file.read_bytes() == data:
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    for file in (f for kind in ("*.ts", "*.js") for f in out.rglob(kind)):
        if str(file.relative_to(out)) not in files:
            file.unlink()
