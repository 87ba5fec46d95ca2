"""The passes that derive programs, translated: in Node they make the programs that they make here, of all ops."""

import json
from dataclasses import fields, is_dataclass

import pytest
from test_host import LIBRARY

from buildtools import node
from buildtools.paths import ROOT
from codegen.translator.translate import PYTHON_TS, Project, translate
from dsl.gradients import adjoint, derivable
from dsl.ir.expression import Expression, RawResult
from dsl.ir.intrinsics import ROUTINES

PASSES = [
    *("ir/expression", "ir/intrinsics", "ir/builders", "ir/rewriting", "ir/program", "ir/axes", "ir/conditions"),
    *("ir/affine", "gradients/solve", "gradients/derive", "ir/tidy", "gradients/contributions", "gradients/settle"),
    *(
        "ir/row_calls",
        "gradients/pairing",
        "gradients/deviations",
        "gradients/common_sums",
        "gradients/reverse",
        "gradients/derivable",
        "gradients/saving",
        "ir/wide",
    ),
]
MAIN = """
import { readFileSync, writeFileSync } from "node:fs";
import * as expression from "./dsl/expression.js";
import { ROUTINES } from "./dsl/intrinsics.js";
import * as ir from "./dsl/program.js";
import { NoDerivative } from "./dsl/derive.js";
import { finished } from "./dsl/derivable.js";
import { unused } from "./dsl/program.js";
import { Reverse } from "./dsl/reverse.js";
import { settled } from "./dsl/settle.js";
import { Sizes } from "./dsl/solve.js";
import { narrowed } from "./dsl/wide.js";

const classes = { ...expression, ...ir, Sizes } as any;
const { expressions, routines, tasks } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const made: any[] = [];

/** A value as the test wrote it: what is no text, number or list says what it is. */
function read(x: any): any {
  if (Array.isArray(x)) return x.map(read);
  if (typeof x !== "object" || x === null) return x;
  if ("expression" in x) return made[x.expression];
  if ("set" in x) return new Set(x.set);
  const fields = Object.fromEntries(Object.entries(x.fields).map(([key, value]) => [key, read(value)]));
  if (!("class" in x)) return fields;
  // a dataclass of fields alone is an object literal
  return typeof classes[x.class] === "function" ? new classes[x.class](...Object.values(fields)) : fields;
}

for (const e of expressions) made.push(read(e));
Object.assign(ROUTINES, read(routines));
writeFileSync(process.argv[3], JSON.stringify(tasks.map((task: any) => {
  const t = read(task);
  const reverse = new Reverse(t.stmts, t.tensors, t.seeds, t.wanted, t.prefix, t.explicit, t.sizes, t.owned);
  try {
    const back = reverse.run();
    const p = finished(t.name, reverse, [...t.before, ...back], t.given, t.stored);
    if (p === null) return null;
    settled(p, unused(p.stmts, p.tensors));
    narrowed(p, unused(p.stmts, p.tensors), false);
    return [String(p), p.inputs, p.outputs, Object.keys(p.tensors)];
  } catch (error) {
    if (!(error instanceof NoDerivative)) throw error;
    return error.message;
  }
})));
"""


class Writer:
    """Values as JSON: each expression once, by its number."""

    def __init__(self):
        self.numbers: dict[Expression, int] = {}
        self.expressions: list = []

    def write(self, x):
        match x:
            case Expression():
                if x not in self.numbers:
                    made = self.fields(x)
                    self.numbers[x] = len(self.expressions)
                    self.expressions.append(made)
                return {"expression": self.numbers[x]}
            case list() | tuple():
                return [self.write(v) for v in x]
            case set() | frozenset():
                return {"set": sorted(x)}
            case dict():
                return {"fields": {k: self.write(v) for k, v in x.items()}}
        return self.fields(x) if is_dataclass(x) else x

    def fields(self, x):
        return {"class": type(x).__name__, "fields": {f.name: self.write(getattr(x, f.name)) for f in fields(x)}}


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The translated passes and MAIN as one file for Node."""
    folder = tmp_path_factory.mktemp("passes")
    paths = [ROOT / "dsl" / f"{name}.py" for name in PASSES]
    project = Project(paths)
    (folder / "host").mkdir()
    (folder / "dsl").mkdir()
    (folder / "host" / "python.ts").write_text(PYTHON_TS)
    for path in paths:
        (folder / "dsl" / f"{path.stem}.ts").write_text(translate(path, project))
    (folder / "dsl" / "steps.ts").write_text("export type Range = unknown;\nexport type Step = unknown;\n")
    (folder / "main.ts").write_text(MAIN)
    bundle = [node.tool("esbuild"), folder / "main.ts", "--bundle", "--platform=node", "--format=esm"]
    done = node.run([*bundle, f"--outfile={folder / 'main.mjs'}", "--log-level=warning"])
    assert done.returncode == 0, done.stdout
    return folder / "main.mjs"


def test_are_typed(program):
    """What mypy accepts TypeScript accepts, too."""
    options = [
        "--ignoreConfig",
        "--noEmit",
        "--strict",
        "--noImplicitOverride",
        "--target",
        "es2022",
        "--lib",
        "es2022",
    ]
    files = [program.parent / "dsl" / f"{name.rpartition('/')[2]}.ts" for name in PASSES]
    done = node.run([node.compiler(), *options, "--module", "nodenext", *files])
    assert done.returncode == 0, done.stdout


def tasks(monkeypatch):
    """What is reversed for the first and second gradients of all ops, and what becomes of it here."""
    writer, asked, answers = Writer(), [], []

    class Recorded(derivable.Reverse):
        def __init__(self, stmts, tensors, seeds, wanted, prefix, explicit, sizes, owned=()):
            names = ("stmts", "tensors", "seeds", "wanted", "prefix", "explicit", "sizes", "owned")
            given = (stmts, tensors, seeds, wanted, prefix, explicit, sizes, owned)
            self.task = {name: writer.write(value) for name, value in zip(names, given, strict=True)}
            super().__init__(stmts, tensors, seeds, wanted, prefix, explicit, sizes, owned)

        def run(self):
            self.back = super().run()
            return self.back

    checked = derivable.checked

    def recorded(d, name, reverse, stmts, given, stored):
        before = stmts[: len(stmts) - len(reverse.back)]
        more = {"name": name, "before": before, "given": given, "stored": stored}
        asked.append({"fields": {**reverse.task, **{key: writer.write(value) for key, value in more.items()}}})
        try:
            p = checked(d, name, reverse, stmts, given, stored)
        except adjoint.NoDerivative as error:
            answers.append(str(error))
            raise
        if p is not None:
            adjoint.settled(p, adjoint.unused(p.stmts, p.tensors))
            adjoint.narrowed(p, adjoint.unused(p.stmts, p.tensors), False)
        answers.append(p and [repr(p), p.inputs, p.outputs, list(p.tensors)])
        return p

    monkeypatch.setattr(derivable, "Reverse", Recorded)
    monkeypatch.setattr(derivable, "checked", recorded)
    for op in LIBRARY.ops.values():
        raw = any(isinstance(s.body, RawResult) for s in op.forward.stmts)
        if op.gradient is None or raw or any(isinstance(s.body, RawResult) for s in op.gradient.stmts):
            continue
        adjoint.second(op, adjoint.gradient(op))
    routines = {n: {"params": r.params, "slopes": r.slopes, "integral": r.integral} for n, r in ROUTINES.items()}
    return {"routines": writer.write(routines), "expressions": writer.expressions, "tasks": asked}, answers


def test_derive_the_same_programs(program, monkeypatch, tmp_path):
    given, want = tasks(monkeypatch)
    assert len(want) > 750
    (tmp_path / "given.json").write_text(json.dumps(given))
    done = node.run([program, tmp_path / "given.json", tmp_path / "made.json"])
    assert done.returncode == 0, done.stdout
    made = json.loads((tmp_path / "made.json").read_text())
    for task, w, g in zip(given["tasks"], want, made, strict=True):
        assert g == w, task["fields"]["name"]
