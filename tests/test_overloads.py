"""Ops of one name: each is reached by a call, and where definitions say that one is not, no call reaches it."""

import itertools
import json

import numpy as np
from definitions import LIBRARY

from buildtools import node
from codegen.api import compiled
from codegen.api.aliases import in_place, names_of
from codegen.binding.bind import bind
from dsl.checking.reach import takes_all
from dsl.library import load_text
from dsl.testing.instances import instances
from workbench.numpy_runner import meta

CHOSEN = """
import {{ readFileSync }} from "node:fs";
import * as torch from "{dist}/index.js";
import {{ choose }} from "{dist}/runtime/dispatch/op-arguments.js";
import {{ binds }} from "{dist}/runtime/dispatch/call.js";
console.warn = () => {{}};  // of requirements that warn: what is printed is JSON
const modules = {{}}, out = {{}};
const value = (v) => (v === null || typeof v !== "object" || Array.isArray(v) ? v
  : torch.zeros(v.shape, {{ dtype: v.dtype }}));
for (const [name, {{ ops, calls }}] of Object.entries(JSON.parse(readFileSync("{file}", "utf8")))) {{
  const made = [];
  for (const [file, op] of ops) made.push((modules[file] ??= await import(`{dist}/ops/${{file}}.js`))[op + "Op"]);
  out[name] = calls.map((args) => {{
    const given = args.map((v) => (v?.named ? Object.fromEntries(Object.entries(v.named).map(([k, x]) => [k, value(x)])) : value(v)));
    return ops[made.indexOf(choose(made, given, binds))][1];
  }});
}}
console.log(JSON.stringify(out));
"""


def argument(v):
    return (
        {"shape": list(v.shape), "dtype": "float32" if v.dtype.kind == "f" else v.dtype.name}
        if isinstance(v, np.ndarray)
        else v
    )


# What is done to tensors of a legal call: types, and shapes at the edges of patterns.
VARIED = {
    "as it is": lambda name, v: v,
    "whole numbers": lambda name, v: {**v, "dtype": "int32"} if v["dtype"] == "float32" else v,
    "empty whole numbers": lambda name, v: {"shape": [0, *v["shape"][1:]], "dtype": "int32"},
    "no axes": lambda name, v: {**v, "shape": []} if v["shape"] == [1] else v,
    "weights of another type": lambda name, v: {**v, "dtype": "float16"} if name == "weight" else v,
}


def calls(op, count: int = 12) -> list:
    """Calls of an op, and such that lie near them, as JSON: what comes by position, then the keywords."""
    out = []
    # Small ones, as many elements as they need for windows of many axes.
    small = list(instances(op, count, seed=9, largest=100)) or instances(op, count, seed=9, largest=1000)
    for n, instance in enumerate(small):
        for vary in VARIED.values():
            given = [
                (p, vary(p.name, v) if isinstance(v, dict) else v)
                for p, v in zip(op.params, map(argument, instance.arguments(n)))
            ]
            out.append(
                [
                    *(v for p, v in given if not p.keyword),
                    {"named": {p.name: v for p, v in given if p.keyword and (v is not None or p.kind == "choice")}},
                ]
            )
    return out


def test_each_op_of_a_shared_name_is_chosen_by_some_call(dist, tmp_path):
    names = names_of(LIBRARY)
    asked = {
        f"{space}.{name}": ops
        for space, table in names.namespaces.items()
        for name, ops in table.items()
        if len(ops) > 1
    }
    file = tmp_path / "calls.json"
    file.write_text(
        json.dumps(
            {
                name: {"ops": [[op.file, op.name] for op in ops], "calls": [c for op in ops for c in calls(op)]}
                for name, ops in asked.items()
            }
        )
    )
    done = node.run(["--input-type=module", "--eval", CHOSEN.format(dist=dist, file=file)])
    chosen = json.loads(done.stdout)
    missed = [f"{name}: {op.name}" for name, ops in asked.items() for op in ops if op.name not in chosen[name]]
    assert len(asked) > 70 and not missed, "\n".join(missed)


TENSORS = {
    "a: Num": "a",
    "a: Float": "a",
    "a: Int": "a",
    "a: Num, b: Num": "a + b",
    "a: Float, b: Num | num": "a + b",
    "a: Num[N, K]": "a[n, k]",
    "a: Num[N, N]": "a[n, k]",
}
OPTIONS = {
    "": "0",
    "s: int": "s",
    "s: num": "s",
    "s: int = 2": "s",
    "s: real?": "(s ?? 0)",
    's: "one" | "two"': '(1 if s == "one" else 2)',
    's: "one"': "1",
    "s: bool": "(1 if s else 2)",
}
REQUIRES = ("", '    require rank(a) > 1, "rank"\n')


def definition(number: int, tensors: str, option: str, require: str) -> str:
    result, at = (f"Num[{tensors[7:-1]}]", "[n, k]") if "[" in tensors else ("Num", "")
    head = f"op f{number}({', '.join(filter(None, (tensors, option)))}) -> {result}\n    as torch.f{number}\n"
    return f"{head}{require}    out{at} = {TENSORS[tensors]} + {OPTIONS[option]}\n"


def test_what_is_said_to_take_all_calls_of_another_op_takes_them():
    """Random signatures, each beside each: where one is said to leave nothing for the other, it binds every call of
    it."""
    texts = [definition(n, *of) for n, of in enumerate(itertools.product(TENSORS, OPTIONS, REQUIRES))]
    library, errors, _ = load_text("\n".join(texts))
    assert not errors
    ops = list(library.ops.values())
    data = {op.name: compiled.op_data(op) for op in ops}
    given = {
        op.name: [
            {p.name: meta(single(v)) if isinstance(v, np.ndarray) else v for p, v in zip(op.params, w.arguments(n))}
            for n, w in enumerate(instances(op, 6, seed=2, largest=60))
        ]
        for op in ops
    }
    dead = 0
    for a, b in itertools.permutations(ops, 2):
        if not takes_all(a, b):
            continue
        dead += 1
        for named in given[b.name]:
            bind(data[a.name], [named.get(p.name) for p in a.params])  # raises where it does not
    assert dead > 100, dead


def single(v: np.ndarray) -> np.ndarray:
    return v.astype(np.float32) if v.dtype == np.float64 else v


def test_a_method_in_place_has_every_overload_that_can_work_in_place():
    """Unless an op is that method and nothing else, as those that draw are: `bernoulli_()` does not read the elements."""
    names = names_of(LIBRARY)
    alone = {name for name, ops in names.inplace.items() if all(a.endswith("_") for op in ops for a in op.aliases)}
    assert {"bernoulli_", "random_"} <= alone and "masked_fill_" not in alone
    for name, ops in names.methods.items():
        if f"{name}_" in names.inplace and f"{name}_" not in alone:
            lacking = {op.name for op in ops if op.pointwise and in_place(op)} - {
                o.name for o in names.inplace[f"{name}_"]
            }
            assert not lacking, name
