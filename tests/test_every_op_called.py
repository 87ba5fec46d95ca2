"""Every op of the library in the formula of another: an op of the same signature that calls it, nothing else, has its
values and its gradients."""

from dataclasses import replace

import numpy as np
import pytest
from definitions import LIBRARY
from turns import one_in, turn

from codegen.data.errors import OpError
from dsl.gradients.adjoint import complete
from dsl.library import lower_item
from dsl.lowering.inline import called, given_by, says_axes
from dsl.opdef import OpDef
from dsl.testing.instances import instances
from dsl.text.syntax import Assign, Dim, Op, Output, Param, X
from dsl.text.vocabulary import FUNCTIONS, LISTS, is_tensor, names_in
from workbench.function import Function

# What a formula cannot call, and why.
LEFT = {
    "digamma": "a function of the language, whose derivative is none",
    "max": "in formulas `max(a, b)` is the larger of two and `max[k]` a reduction",
    "min": "the same",
    "ctc_rows": "a step of ctc_loss without a gradient of its own",
    "multilabel_soft_margin_loss": "its axis is told by the rank of its argument",
    "pinv": "its gradient by two of three arguments is derived through bodies; `pinverse` can be called",
    "complex_pinv": "the same",
    "gaussian_nll_loss_row": "which axes of `var` are stretched is told by ranks that only a call from outside has",
    "gaussian_nll_loss_rows": "the same",
    "gaussian_nll_loss_wide": "the same",
    "index_fill_tensor": "its limits are those of the type of an argument, which only a caller of the library has",
    "index_fill_tensor_allows": "the same",
}
TOLERANCE = {"rtol": 1e-6, "atol": 1e-9}


def name(n: str) -> X:
    return X("name", (), n)


def single(d: Dim, ranked: set[str | None]) -> Dim:
    """One axis in the place of a pack, of a split axis and of one that an option chooses.  ranked: packs that have a
    number of axes."""
    d = d.of if d.kind == "chosen" and d.of is not None else d
    if d.kind == "pack" and d.name not in ranked:
        return Dim("size", expr=name(d.name or ""))
    return Dim("size", expr=name("Z" + "".join(d.factors))) if d.kind == "split" else d


def of_axes(tree: Op) -> tuple[list[Param], list[X]]:
    """The parameters of an op that calls one whose tensors say their axes, and what it gives for each.  Options that
    choose axes and list them are given as numbers; what is left out stays out."""
    dims = [d for p in tree.params if is_tensor(p) for d in p.type.dims or ()]
    chosen = {d.at for d in dims if d.kind == "chosen"}
    first = next(p for p in [*tree.params] if is_tensor(p) or p is tree.params[-1])
    at = next((n for n, d in enumerate(first.type.dims or ()) if d.kind == "chosen"), 0)
    conditions = {n.val for o in tree.outputs if o.type for d in o.type.dims or () for n in names_in(d.when)}
    ranked = {d.name for d in (*dims, *(d for p in tree.params for d in p.type.dims or ())) if d.rank is not None}
    params, given = [], []
    for p in tree.params:
        if p.type.name == "dtype" or p.type.optional and is_tensor(p):
            continue
        if is_tensor(p):
            params.append(
                replace(
                    p, mut=False, type=replace(p.type, dims=tuple(single(d, ranked) for d in p.type.dims), instead="")
                )
            )
            value = name(p.name)
        elif p.name in chosen:
            value = X("num", (), at)
        elif p.name in conditions or p.name == "reduction":
            value = X("str", (), p.type.choices[-1]) if p.type.choices else name("false")
        elif p.type.name == "choice" and not p.type.choices or p.type.name == "dim" and p.type.optional:
            continue
        elif p.type.name in LISTS and p.type.optional and not p.type.dims[0].name:
            continue  # so many numbers, or none
        elif p.type.name in LISTS and p.type.dims and p.type.dims[0].name not in ranked:
            count = p.type.dims[0].expr
            empty = count is not None and count.kind == "num" and count.val == 0
            value = X("list", () if empty else (name(p.type.dims[0].name or ""),))
        else:
            params.append(p)
            value = name(p.name)
        given.append(X("kw", (value,), p.name))
    return params, given


def whole(tree: Op) -> tuple[list[Param], list[X]]:
    """The same for an op over whole tensors: what decides which axes there are is given."""
    params, given = [], []
    for p in tree.params:
        if p.type.name == "dtype" or p.type.name == "choice" and not p.type.choices:
            continue
        value = name(p.name)
        if p.name == "reduction":
            value = X("str", (), "none")
        elif p.name == "keepdim":
            value = name("true")
        else:
            params.append(replace(p, mut=False, type=replace(p.type, instead="")))
        given.append(X("kw", (value,), p.name))
    return params, given


def caller(op: OpDef) -> Op:
    tree = op.tree
    assert tree is not None
    params, given = (of_axes if says_axes(tree) else whole)(tree)
    least, most = FUNCTIONS.get(op.name, (1, 0))
    if least <= len(given) <= most:
        given = [x.args[0] for x in given]  # a function of the language
    results, changed = given_by(tree)
    names = [f"r_{n}".rstrip("_") for n in results or changed]
    call = X("call", tuple(given), op.name)
    body = (Assign(names[0], None, "=", call, also=tuple(map(name, names[1:]))),)
    family = (op.family[0], (op.family[1],)) if op.family else None
    nograd = () if op.nograd == frozenset() else None
    samples = tuple(s for s in tree.samples if s.name in {p.name for p in params})
    types = {o.name: o.type and replace(o.type, dims=None) for o in tree.outputs}
    outputs = tuple(Output(n, types.get(o)) for n, o in zip(names, results or changed))
    return Op("caller", tuple(params), outputs, None, body, family=family, nograd=nograd, samples=samples)


def constant(e: X, env: dict) -> object:
    """The value of what the call gives for an option."""
    if e.kind == "list":
        return [int(env[x.val]) for x in e.args]
    return {"true": True, "false": False}.get(e.val, e.val) if e.kind in ("num", "str", "name") else None


def listed(results) -> list:
    return list(results.values()) if isinstance(results, dict) else [results]


@pytest.mark.parametrize("file", sorted({op.file for op in LIBRARY.ops.values()}))
def test_ops_mean_the_same_where_they_are_called(file):
    compared = 0
    for place, op in enumerate(op for op in LIBRARY.ops.values() if op.file == file):
        if op.name in LEFT:
            continue
        tree = caller(op)
        made, errors = lower_item(tree, LIBRARY.trees, LIBRARY.defs, "caller")
        assert not errors, (op.name, [(e.message, e.label) for e in errors])
        (calls,) = made
        complete(calls)
        complete(op)
        if op.random or called(tree.body[0].value, LIBRARY.trees, {}) is None:
            continue
        for w in one_in(2, instances(calls, 2), turn(), start=place):
            given = {p.name: v for p, v in zip(calls.params, w.arguments()) if v is not None}
            if len({np.shape(given[p.name]) for p in op.params if p.mut and p.name in given}) > 1:
                continue  # what is changed in place is not stretched
            constants = {a.val: constant(a.args[0], w.env) for a in tree.body[0].value.args if a.kind == "kw"}
            asked = {n: v for n, v in constants.items() if n not in {p.name for p in calls.params}} | given
            copies = {n: np.array(v) if isinstance(v, np.ndarray) else v for n, v in asked.items()}
            try:
                right = Function(op, LIBRARY, on="numpy")(**copies)
            except OpError:
                continue  # requirements of types and elements are those of a call from outside
            found = Function(calls, LIBRARY, on="numpy")(**given)
            for n, a, b in zip(calls.outputs, listed(found), listed(right)):
                np.testing.assert_allclose(a, np.reshape(b, np.shape(a)), **TOLERANCE, err_msg=f"{op.name}: {n}")
            compared += 1
            if op.gradient is None:
                continue
            right = Function(op, LIBRARY, on="numpy").grad(**asked)
            found = Function(calls, LIBRARY, on="numpy").grad(**given) if calls.gradient else {}
            for n in right.keys() & given.keys():
                a, b = found.get(n, np.zeros(np.shape(right[n]))), right[n]
                np.testing.assert_allclose(a, np.reshape(b, np.shape(a)), **TOLERANCE, err_msg=f"{op.name}: d_{n}")
    assert compared or file in ("attention", "dropout", "draw", "patches", "random"), "nothing was compared"
