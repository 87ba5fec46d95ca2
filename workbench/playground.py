"""All that the website's op playground shows of a text, as JSON: mistakes, mathematics, gradients, kernels, tests, and
the ops to run.

    page(text, inputs) is {"errors": [...]} or {"ops": [...], "made": {...}, "tests": [...], "op": {...}}

It runs in the visitor's page, where there is no numpy: nothing here asks for it, and nothing runs a definition. The
page runs the ops with the package (run_time.py), the tests (examples_data.py) too."""

from __future__ import annotations

import json
from collections import ChainMap
from collections.abc import Mapping

from codegen.api import compiled, described, opdata, report
from codegen.api.project import files, project
from codegen.api.transported import transported
from codegen.binding.bind import bind
from codegen.data.errors import OpError
from codegen.data.model import Call, Meta
from codegen.data.model import Op as OpData
from dsl.catalogue import WORD
from dsl.library import standard
from dsl.opdef import Library, OpDef
from dsl.text.diagnostics import DefinitionError
from dsl.text.show import show, signature
from dsl.text.source import Source
from dsl.text.syntax import Op
from dsl.text.vocabulary import expanded

from . import call_arguments, examples_data, formulas, kernels
from .call_arguments import Argument
from .run_time import complete_all, mistakes, read, unplaced

HOME = "playground"  # what messages and kernels call the visitor's ops after
MOST = 40_000  # letters of a kernel that are shown


def answer(request: str) -> str:
    """request: the arguments of `page` as JSON; its answer, too."""
    return json.dumps(page(**json.loads(request)))


def page(text: str, inputs: Mapping[str, str] | None = None, name: str = "", module: bool = False) -> dict:
    """What is shown of a text with definitions.

    inputs: by the names of its parameters, as call_arguments.py reads them, what the op is called with; by default a
    call of its tests or a small one.  name: the op that is shown, by default the last that has a name.  module: whether
    the text of the module that `tensorloom build` would write is asked for, which takes a while at first."""
    shelf = standard()
    items, library, errors, source = read(text, HOME)
    if errors:
        return {"errors": mistakes(errors, source)}
    ops = [op for op in library.ops.values() if op.aliases]
    try:
        complete_all(library)
    except DefinitionError as e:
        return {"errors": [unplaced(e)]}
    if not ops:
        return {"errors": [], "ops": []}
    op = next((o for o in ops if o.name == name), ops[-1])
    everything = Library(ChainMap(dict(library.ops), shelf.ops), shelf.library.schedules)
    written = {n: i for i in items if isinstance(i, Op) for n in expanded(i)}
    own = project(HOME, library)
    return {
        "errors": [],
        "ops": [o.name for o in ops],
        "made": transported(own),
        "module": files(own, typescript=False)["definition.js"] if module else "",
        "tests": [test for o in ops for test in examples_data.in_order(o, everything, source)],
        "op": of_op(op, written.get(op.name, op.tree), everything, source, inputs),
    }


def alone(op: OpDef) -> str:
    """A definition of the library with the functions of formulas that it calls, as a text of its own; nothing if that
    cannot be compiled beside the library."""
    shelf = standard()
    assert op.tree is not None
    texts = {op.tree.name: show(op.tree)}
    todo = list(texts.values())
    while todo:
        for name in WORD.findall(todo.pop()):
            item = shelf.items.get(name)
            if item is not None and item.kind == "def" and name not in texts:
                texts = {name: item.text.rstrip() + "\n", **texts}
                todo.append(item.text)
    text = "\n".join(texts.values())
    return text if not read(text, HOME)[2] else ""


# --- One op ----------------------------------------------------------------------------------------


def of_op(op: OpDef, tree: Op, library: Library, source: Source, inputs: Mapping[str, str] | None) -> dict:
    data = compiled.op_data(op)
    texts, call, arguments, problem = called(op, data, source, inputs)
    return {
        "name": op.name,
        "function": op.aliases[0].rpartition(".")[2],
        "signature": signature(tree),
        "doc": op.doc,
        "parameters": [
            {
                "name": p.name,
                "what": described.parameter(op, written),
                "default": described.default(op, written),
                "text": texts.get(p.name, ""),
            }
            for p in op.params
            for written in op.tree.params
            if written.name == p.name
        ],
        "results": op.outputs,
        "formula": formulas.body(tree),
        "sizes": formulas.sizes(tree),
        "loops": str(op.forward),
        "derived": report.gradient(op),
        "gradient": formulas.gradient(op),
        "program": str(op.gradient) if op.gradient is not None else "",
        "arguments": arguments,
        "problem": problem,
        "kernels": [] if call is None else kernels_of(op, data, call, library),
    }


def called(
    op: OpDef, data: OpData, source: Source, inputs: Mapping[str, str] | None
) -> tuple[Mapping[str, str], Call | None, dict, str]:
    """The texts of the arguments, the bound call, the arguments as data, and what is wrong with them."""
    tries = [inputs] if inputs is not None else [*call_arguments.tested(op, source), call_arguments.small(op)]
    problem = ""
    for texts in tries:
        try:
            given = call_arguments.given(op, texts)
            call = bind(data, [meta(given.get(p.name)) for p in op.params])
        except OpError as e:
            problem = str(e)
            continue
        return texts, call, placed(op, given), ""
    return tries[-1], None, {"args": [], "options": {}}, problem


def meta(a: Argument | None) -> object:
    """What `bind` takes for an argument."""
    if a is None or a.shape is None:
        return None if a is None else a.value
    strides = [1] * len(a.shape)
    for i in range(len(a.shape) - 1, 0, -1):
        strides[i - 1] = strides[i] * max(a.shape[i], 1)
    return Meta(a.dtype, list(a.shape), strides, 0, False)


def placed(op: OpDef, given: Mapping[str, Argument]) -> dict:
    """Those that come first by their places, all others by their names."""
    args = []
    for p in op.params:
        if p.keyword or p.name not in given:
            break
        args.append(given[p.name].data())
    rest = [p.name for p in op.params[len(args) :] if p.name in given]
    return {"args": args, "options": {name: given[name].data() for name in rest}}


def kernels_of(op: OpDef, data: OpData, call: Call, library: Library) -> list[dict]:
    """The kernels of the call and of its gradient, for both devices."""
    found = []
    rules = opdata.rules(library)
    floats = any(s.dtype in ("float32", "float64", "float16", "bfloat16") for s in call.slots)
    for title, program in (("The call", 0), ("Its gradient", 1)):
        if program and (op.gradient is None or not op.gradient.stmts or not floats):
            continue
        slots = kernels.wanted(op, data, bool(program))
        launches = kernels.launches(data, program, call, slots, rules)
        found.append(
            {
                "title": title,
                "wgsl": [f"// {' x '.join(map(str, x.groups))} workgroups\n{cut(x.code.rstrip())}" for x in launches],
                "wasm": [cut(text) for text in kernels.wasm(data, program, call, slots)],
            }
        )
    return found


def cut(text: str) -> str:
    return text if len(text) <= MOST else text[:MOST] + "\n…"
