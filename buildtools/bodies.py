"""Raw bodies as what they are compiled by sees them: JavaScript by esbuild and TypeScript, WGSL by Dawn.

A definition's author reads what is wrong with its place in the .op file, before any program runs it."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from codegen.earlier import Earlier
from dsl.ir.expression import RawResult
from dsl.ir.program import Raw
from dsl.lowering.raw import code_place
from dsl.opdef import Library, OpDef
from dsl.testing.instances import instances
from dsl.text.diagnostics import Error
from dsl.text.source import Source
from dsl.text.syntax import Code
from workbench.function import Function

from . import gpu, node
from .environment import SetupError, say
from .paths import ROOT, SOURCES

INSTANCES = 8  # calls of an op whose kernels are compiled: of floats, whole numbers, bytes
CHECKED = "ok"  # what is kept of a body in which nothing is wrong
MESSAGE = re.compile(r"^(?:.*[/\\])?bodies\.js\((\d+),(\d+)\): error TS\d+: (.*)$", re.M)


def mistakes(
    library: Library, sources: dict[str, Source], whole: Collection[str] = (), earlier: Earlier = Earlier(None)
) -> list[Error]:
    """What is wrong in the raw bodies of a library.  sources: its files by their stems.

    JavaScript must be JavaScript in all of them; in the files `whole` its names and types must fit, too, and WGSL must
    compile. What passed in an earlier build is not looked at again."""

    def fresh(kind: str, ops: Iterable[OpDef]) -> list[OpDef]:
        return [op for op in ops if not op.source or not earlier.has(kind, op.source, op.name)]

    def passed(kind: str, ops: Iterable[OpDef], errors: list[Error]) -> None:
        for op in ops if not errors else ():
            if op.source:
                earlier.keep(CHECKED, kind, op.source, op.name)

    raw = [op for op in library.ops.values() if op.tree is not None and op.tree.code and op.file in sources]
    ops, strict = fresh("js", raw), fresh("bodies", (op for op in raw if op.file in whole))
    if not ops and not strict:
        return []
    kernels = [(op, code) for op in strict for code in texts(op, library)]
    found = messages([module(op) for op in ops], [code for _, code in kernels])
    errors = [js_error(op, sources[op.file], m) for op, said in zip(ops, found["js"]) for m in said[:1]]
    passed("js", ops, errors)
    if found["wgsl"] is None:
        say("there is no GPU here: the WGSL of raw bodies was not compiled")
    else:
        wrong = {
            op.name: wgsl_error(op, sources[op.file], code, said[0])
            for (op, code), said in reversed([*zip(kernels, found["wgsl"])])
            if said
        }
        errors += wrong.values()
    if strict and not errors:
        errors += typed(strict, sources)
    if found["wgsl"] is not None:
        passed("bodies", strict, errors)
    return errors


def messages(js: list[str], wgsl: list[str]) -> dict[str, list[Any]]:
    """For each text a list of {line, column, length, text}; `wgsl` is None where there is no GPU."""
    try:
        env = gpu.variables() if wgsl else {}
    except SetupError:
        env = {}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "bodies.json"
        file.write_text(json.dumps({"js": js, "wgsl": wgsl}), encoding="utf-8")
        done = node.run([ROOT / "buildtools" / "bodies.mjs", file], env=env, timeout=600)
    lines = [line for line in done.stdout.splitlines() if line.startswith("bodies{")]
    if not lines:
        raise SetupError(f"raw bodies cannot be checked:\n{done.stdout}")
    found: dict[str, list[Any]] = json.loads(lines[-1].removeprefix("bodies"))
    return found


def body(op: OpDef, language: str) -> Code:
    assert op.tree is not None
    return next(c for c in op.tree.code if c.language == language)


def raw(op: OpDef) -> Raw:
    assert op.forward is not None
    return next(s.body.raw for s in op.forward.stmts if isinstance(s.body, RawResult) and s.body.raw.body.op == op.name)


# --- JavaScript ------------------------------------------------------------------------------------


def module(op: OpDef) -> str:
    """A body as a function of what it speaks of; its first line is HEAD lines further down."""
    text, own = body(op, "js").text, raw(op)
    used = set(re.findall(r"[A-Za-z_]\w*", text))
    tensors = [n for n in (*own.inputs, *(n for n, _ in own.outputs)) if n in used]
    words = [n for n, _ in own.words if n in used and n not in tensors]
    types = [*(f"@param {{Elements}} {n}" for n in tensors), *(f"@param {{number}} {n}" for n in words)]
    return f"/** {' '.join(types)} */\nexport function body_{op.name}({', '.join((*tensors, *words))}) {{\n{text}\n}}\n"


HEAD = 2
# What kernels may use beside; see raw_functions_module in codegen/api/modules.py.
IMPORTS = (
    '/** @import { Elements } from "../src/runtime/program/compiled-op.js" */\n'
    'import * as math from "../src/runtime/elements/math.js";\n'
    'import * as routines from "../src/ops/routines.js";\nexport { math, routines };\n'
)


def js_error(op: OpDef, source: Source, m: dict[str, Any]) -> Error:
    at = code_place(source, body(op, "js"), m["line"] - HEAD, m["column"], m["length"])
    return Error("syntax", f"the `js` body of `{op.name}` is no JavaScript", at, m["text"], path=source.path)


def typed(ops: list[OpDef], sources: dict[str, Source]) -> list[Error]:
    """What TypeScript, strict, says of the bodies' names and types; the built sources say what theirs are."""
    if not (SOURCES / "runtime" / "program" / "compiled-op.ts").exists():
        return []
    folder = SOURCES.parent / "bodies"
    folder.mkdir(exist_ok=True)
    begins, text = [], IMPORTS
    for op in ops:
        begins.append((text.count("\n"), op))
        text += module(op)
    (folder / "bodies.js").write_text(text, encoding="utf-8")
    config = SOURCES.parent / "tsconfig.bodies.json"
    config.write_text(
        json.dumps(
            {
                "extends": str(ROOT / "tsconfig.json"),
                "files": [str(folder / "bodies.js")],
                "compilerOptions": {
                    "rootDir": str(SOURCES.parent),
                    "types": [],
                    "allowJs": True,
                    "checkJs": True,
                    "noEmit": True,
                    "declaration": False,
                },
                "include": [],
            },
            indent=1,
        )
    )
    errors: dict[str, Error] = {}
    for line, column, said in MESSAGE.findall(
        node.run([node.compiler(), "--project", config, "--pretty", "false"]).stdout
    ):
        before = [(n, op) for n, op in begins if n + HEAD <= int(line) - 1]
        if not before:
            continue
        begin, op = before[-1]
        at = code_place(sources[op.file], body(op, "js"), int(line) - 1 - begin - HEAD, int(column) - 1)
        errors.setdefault(
            op.name,
            Error(
                "type",
                f"the `js` body of `{op.name}` has a mistake",
                at,
                said.strip().rstrip("."),
                path=sources[op.file].path,
            ),
        )
    return list(errors.values())


# --- WGSL ------------------------------------------------------------------------------------------


def texts(op: OpDef, library: Library) -> list[str]:
    """The kernels in which a body stands: one for each function that is launched and each type."""
    text, made = body(op, "wgsl").text, dict[str, None]()
    for n, instance in enumerate(instances(op, INSTANCES, seed=3, largest=200)):
        try:
            launches = Function(op, library).launches(*instance.arguments(n))
        except Exception:
            continue  # the checks of the definition say what is wrong with such a call
        made |= {x.code: None for x in launches if text in x.code}
    return list(made)


def wgsl_error(op: OpDef, source: Source, code: str, m: dict[str, Any]) -> Error:
    text = body(op, "wgsl")
    line = m["line"] - code[: code.index(text.text)].count("\n")
    return Error(
        "syntax",
        f"the `wgsl` body of `{op.name}` does not compile",
        code_place(source, text, line, m["column"], m["length"]),
        m["text"].split("\n")[0],
        path=source.path,
    )
