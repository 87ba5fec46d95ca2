"""The host decides alike in both languages, and as PyTorch does: promotion, PyTorch's words for wrong calls, and for
every op the same bound calls and byte-equal kernels from Python's text and from the package's."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from as_json import as_json
from definitions import LIBRARY, drawn
from definitions import packaged as data
from turns import one_in, turn

from buildtools import node
from codegen.api import modules
from codegen.api.opdata import rules, takes_parts
from codegen.binding.bind import bind
from codegen.binding.binding import bind_with
from codegen.binding.options import MISSING, numbers_of
from codegen.binding.pattern import contiguous_strides
from codegen.data.dtypes import DTYPES, can_cast, promote_types, promoted_type, result_type
from codegen.data.errors import OpError, decimal
from codegen.data.model import Meta
from codegen.planner.plan import plan, plan_cpu
from codegen.planner.writer import Facts
from codegen.wgsl import prelude
from workbench.numpy_runner import meta


def tensor(*shape: int, dtype: str = "float32", weak: bool = False) -> Meta:
    return Meta(dtype, list(shape), contiguous_strides(list(shape)), 0, weak)


# --- Types -----------------------------------------------------------------------------------------


def test_promotion_is_pytorchs():
    """torch.promote_types; tests/checks/dtypes.mjs has PyTorch's whole table."""
    order = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"]
    between = {frozenset({"uint8", "int8"}): "int16", frozenset({"float16", "bfloat16"}): "float32"}
    alone = {"uint16", "uint32"}
    assert {*order, *alone} == set(DTYPES)
    for a in order:
        for b in order:
            assert promote_types(a, b) == between.get(frozenset({a, b}), max(a, b, key=order.index)), (a, b)
    for a in alone:
        for b in DTYPES:
            if a == b or "float" in b:
                assert promote_types(a, b) == promote_types(b, a) == b
            else:
                with pytest.raises(OpError, match="promotion of uint16 and uint32 is not supported"):
                    promote_types(a, b)


@pytest.mark.parametrize(
    "want, metas",
    [
        ("float32", [tensor(2), tensor(2, dtype="int32")]),
        ("float16", [tensor(2, dtype="float16"), tensor(dtype="float32")]),  # a tensor without axes does not widen
        ("float32", [tensor(2, dtype="int32"), tensor(dtype="float32")]),  # but its category counts
        ("float16", [tensor(2, dtype="float16"), tensor(weak=True)]),
        ("float32", [tensor(2, dtype="int8"), tensor(weak=True)]),
        ("int8", [tensor(2, dtype="int8"), tensor(weak=True, dtype="int32")]),
        ("int64", [tensor(2, dtype="bool"), tensor(weak=True, dtype="int32")]),
        ("bool", [tensor(2, dtype="bool"), tensor(weak=True, dtype="bool")]),
        ("float64", [tensor(dtype="float64"), tensor(weak=True)]),
        ("int64", [tensor(weak=True, dtype="int64")]),
    ],
)
def test_result_type(want, metas):
    assert result_type(metas) == want == result_type(metas[::-1])


@pytest.mark.parametrize(
    "kind, dtype, want",
    [
        ("default", "uint8", "uint8"),
        ("float", "int32", "float32"),
        ("float", "bool", "float32"),
        ("float", "float16", "float16"),
        ("sum", "bool", "int64"),
        ("sum", "int8", "int64"),
        ("sum", "float64", "float64"),
        ("none", "bool", "bool"),
    ],
)
def test_kinds_of_promotion(kind, dtype, want):
    assert promoted_type(kind, [tensor(2, dtype=dtype)]) == want


def test_casts_in_place():
    assert can_cast("int32", "float16") and can_cast("float64", "float32") and can_cast("bool", "uint8")
    assert not can_cast("float32", "int32") and not can_cast("int8", "bool")


@pytest.mark.parametrize(
    "x, text",
    [
        (3.0, "3"),
        (0.5, "0.5"),
        (-0.001, "-0.001"),
        (1e-7, "1e-7"),
        (1.5e-7, "1.5e-7"),
        (1e21, "1e+21"),
        (12345.678, "12345.678"),
        (0.00001, "0.00001"),
        (2.0**60, "1152921504606847000"),
        (math.inf, "Infinity"),
        (-math.inf, "-Infinity"),
        (math.nan, "NaN"),
    ],
)
def test_numbers_in_messages(x, text):
    assert decimal(x) == text


# --- Wrong calls -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, args, words",
    [
        ("softmax", [tensor(2, 3), 2], "Dimension out of range (expected to be in range of [-2, 1], but got 2)"),
        ("softmax", [tensor(), 1], "Dimension out of range (expected to be in range of [-1, 0], but got 1)"),
        ("sum", [tensor(2, 3), [0, -2]], "dim 0 appears multiple times in the list of dims"),
        (
            "add",
            [tensor(2, 3), tensor(4, 3)],
            "The size of tensor a (2) must match the size of tensor b (4) at non-singleton dimension 0",
        ),
        (
            "mm",
            [tensor(2, 3), tensor(2, 3)],
            "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3): 'mat2' should have size 3 along dimension 0, but has 2",
        ),
        ("conv1d", [tensor(1, 2, 5), tensor(1, 3, 2)], "these shapes do not go together (1x2x5 and 1x3x2)"),
        ("mm", [tensor(2), tensor(2, 3)], "'input' must have 2 dimensions ([M, K]), but got 1"),
        ("mm", [tensor(2, 3)], "missing argument 'mat2'"),
        ("mm", [tensor(2, 3), "x"], "'mat2' must be a tensor"),
        ("softmax", [tensor(2, 3, dtype="int32"), 0], "'input' must be a floating point tensor, but is int32"),
        (
            "bitwise_and",
            [tensor(2), tensor(2)],
            "not implemented for 'float32': 'input' must be an integer or bool tensor",
        ),
        (
            "bitwise_and",
            [tensor(2, dtype="int32"), tensor(2)],
            "not implemented for 'float32': 'other' must be an integer or bool tensor",
        ),
        (
            "pow",
            [tensor(weak=True), tensor(weak=True, dtype="int32")],
            "pow() received an invalid combination of arguments - got (float, int), but expected at least one Tensor",
        ),
        (
            "mm",
            [tensor(2, 3), tensor(3, 2, dtype="float16")],
            "expected m1 and m2 to have the same dtype, but got: float32 != float16",
        ),
        (
            "conv1d",
            [tensor(1, 2, 5), tensor(4, 2, 3), tensor(4, dtype="int32")],
            "Input type (float32) and bias type (int32) should be the same",
        ),
        (
            "scatter_add",
            [tensor(2), 0, tensor(2, dtype="int32"), tensor(2, dtype="float64")],
            "Expected self.dtype to be equal to src.dtype, but they are float32 and float64",
        ),
        ("neg", [tensor(2, dtype="bool")], "Negation, the `-` operator, on a bool tensor is not supported."),
        ("window_hann", [3, True, "half"], "hann expects float32 or float64 dtypes, got: torch.float16"),
        ("gelu", [tensor(2), "fast"], "'approximate' must be one of none, tanh, but got 'fast'"),
        (
            "conv2d",
            [tensor(1, 2, 5, 5), tensor(4, 2, 3, 3), None, [1, 2, 3]],
            "'stride' must be a number or 2 numbers, but got 3",
        ),
        ("conv2d", [tensor(1, 2, 5, 5), tensor(4, 2, 3, 3), None, 0], "non-positive stride is not supported"),
        ("conv2d", [tensor(1, 3, 5, 5), tensor(4, 2, 3, 3)], "weight' should have size 3 along dimension 1, but has 2"),
        ("cumsum", [tensor(2, 3), 0.5], "'dim' must be a whole number, but got 0.5"),
        (
            "add",
            [tensor(2, dtype="int32"), tensor(2, dtype="int32"), 0.5],
            "For integral input tensors, argument alpha must not be a floating point number.",
        ),
        ("outer", [tensor(65536), tensor(65536)], "has too many elements"),
        ("linalg_eig", [tensor(2, 3)], "A must be batches of square matrices, but they are 2 by 3 matrices"),
    ],
)
def test_wrong_calls(name, args, words):
    op = data(name)
    with pytest.raises(OpError) as e:
        bind(op, args + [None] * (len(op.params) - len(args)))
    assert words in str(e.value) and str(e.value).startswith(op.name + ": ")


LISTS = [(name, i) for name, op in LIBRARY.ops.items() for i, p in enumerate(op.params) if p.kind in ("ints", "dims")]


@pytest.mark.parametrize("n", [-(2**31), -(2**31) + 1, 2**31 - 1, 2**31, -(2**53), 0.5, float("nan"), float("inf")])
def test_no_number_in_a_list_stands_for_one_that_is_left_out(n):
    """The mark of a missing number is a number as well: nobody can pass it."""
    assert len(LISTS) > 100
    for name, i in LISTS:
        op = data(name)
        with pytest.raises(OpError, match=f"{op.name}: '{op.params[i].name}' must be whole numbers, but got "):
            numbers_of(op, op.params[i], [1, n])


def test_a_left_out_number_of_a_list_is_one():
    kept = [(name, i) for name, i in LISTS if data(name).params[i].optional and data(name).params[i].kind == "ints"]
    assert len(kept) > 20
    for name, i in kept:
        assert numbers_of(data(name), data(name).params[i], [1, None]) == [1, MISSING]


@pytest.mark.parametrize(
    "name, args",
    [
        ("add", [tensor(weak=True), tensor(weak=True)]),
        ("where", [tensor(2, dtype="bool"), tensor(weak=True), tensor(weak=True)]),
        ("pow", [tensor(weak=True), tensor()]),
        ("lerp", [tensor(2), tensor(2), tensor(weak=True)]),
        ("quantile_all", [tensor(2), tensor(weak=True)]),
        ("window_hann", [3, True, "double"]),
        ("conv1d", [tensor(1, 2, 5), tensor(4, 2, 3)]),
        ("neg", [tensor(2, dtype="uint8")]),
    ],
)
def test_numbers_and_types_that_are_right(name, args):
    op = data(name)
    bind(op, args + [None] * (len(op.params) - len(args)))


def test_functions_of_kernels_are_no_names_of_definitions():
    assert not [n for n in (*prelude.always(), *prelude.rare()) if n.endswith("_")]


# --- Bound calls -----------------------------------------------------------------------------------


def bound(name: str, *args):
    op = data(name)
    return op, bind(op, [*args, *[None] * (len(op.params) - len(args))])


def test_broadcasting_is_stride_zero():
    op, call = bound("add", tensor(2, 1, 3), tensor(4, 1))
    axes = [call.slots[i].axes[0] for i in range(3)]
    assert [a.sizes for a in axes] == [[2, 4, 3]] * 3
    assert [a.strides for a in axes] == [[3, 0, 1], [0, 1, 0], [12, 3, 1]]


def test_axes_of_a_dim_option_are_dropped_or_kept():
    for keepdim, shape in ((False, [2, 4]), (True, [2, 1, 4])):
        op, call = bound("sum", tensor(2, 3, 4), [-2], keepdim)
        assert call.slots[op.outputs[0]].shape == shape and call.packs["dropped"] == [3]
    op, call = bound("softmax", tensor(), -1)
    assert call.slots[op.outputs[0]].shape == []


def test_zero_sizes_and_scalars_bind():
    op, call = bound("mm", tensor(2, 0), tensor(0, 3))
    assert call.slots[op.outputs[0]].shape == [2, 3] and call.env["K"] == 0
    op, call = bound("add", tensor(2, dtype="int32"), tensor(weak=True))
    assert call.dtype == "float32"


def test_ops_without_such_options_bind_without_parts():
    """What the package gives no parts binds, and is refused, as with all of them; and some op needs each part."""
    ops = [op for op in LIBRARY.ops.values() if not takes_parts(op)]
    assert len(ops) > 100 and takes_parts(LIBRARY.ops["sum"]) and takes_parts(LIBRARY.ops["conv2d"])
    for op in ops:
        for name, d, args, *_ in tasks_of(op, 1, 40):
            assert as_json(attempt(lambda: bind_with(d, args, None))) == as_json(attempt(lambda: bind(d, args))), (
                name,
                args,
            )


# --- Both languages --------------------------------------------------------------------------------

DECIDE = Path(__file__).parent / "node" / "decide.mjs"
FACTS = [Facts(False, False, 2**27, 8, 256, 16384, False), Facts(True, True, 2**30, 8, 1024, 32768, True)]


def attempt(f):
    try:
        return f()
    except OpError as e:
        return str(e)


def decided(task, shared):
    """What Python decides about a task, as JSON has it."""
    _, op, args, facts, launched = task
    call = attempt(lambda: bind(op, args))
    if isinstance(call, str) or not launched:
        return [call if isinstance(call, str) else as_json(call)]
    out = [call]
    for n, p in enumerate(op.programs):
        # Where no schedule asks for anything, little depends on the device: one is enough.
        for schedules in (shared, []) if facts == FACTS[0] else (shared,):
            out.append(attempt(lambda: plan(op, n, call, p.outputs, facts, schedules)))
        out.append(attempt(lambda: plan_cpu(op, n, call, p.outputs)))
    return as_json(out)


def single(a):
    """What a call on WebGPU has: no doubles."""
    if not isinstance(a, np.ndarray):
        return a
    return meta(a.astype(np.float32) if a.dtype == np.float64 else a)


def tasks_of(op, count=2, largest=150):
    """Legal calls, large and small, and the same with one tensor or number that may not fit: op, its data, arguments,
    a device, and whether the launches are compared too; where others fit after all, they are of each third one
    (turns.py)."""
    d = data(op.name)
    at = 0
    found = drawn(op, count, seed=9, largest=largest)
    for n, instance in one_in(len(found), found, turn(), start=len(op.name)):
        args = [single(a) for a in instance.arguments(n)]
        yield op.name, d, args, FACTS[n % 2], True
        for i, a in enumerate(args):
            if isinstance(a, Meta):
                wrong = [*args[:i], tensor(7, *a.shape), *args[i + 1 :]]
            elif isinstance(a, (int, float)) and not isinstance(a, bool):
                wrong = [*args[:i], -3 - n, *args[i + 1 :]]
            else:
                continue
            at += 1
            yield op.name, d, wrong, FACTS[n % 2], turn() is None or (at + turn()) % 3 == 0


def test_package_decides_as_python_does(dist, tmp_path):
    """Bound calls, messages, and the launches of every program byte for byte, also of gradients that the package
    derives: texts, bindings, words, workgroups."""
    ops = list(LIBRARY.ops.values())
    tasks = [t for op in ops for t in tasks_of(op)]
    given = tmp_path / "tasks.json"
    given.write_text(
        json.dumps(
            [
                [modules.binding(name), as_json(args), as_json(facts), facts == FACTS[0], launched]
                for name, _, args, facts, launched in tasks
            ]
        )
    )
    done = node.run([DECIDE, given, ",".join(sorted({op.file for op in ops}))])
    assert done.returncode == 0, done.stdout
    got = json.loads(
        done.stdout, parse_int=lambda digits: int(float(digits))
    )  # JavaScript writes 2 ** 63 without a point
    shared, kernels, refused, different = rules(LIBRARY), 0, 0, []
    for task, g in zip(tasks, got, strict=True):
        want = decided(task, shared)
        if g != want:
            different.append((task[0], task[2], first_difference(g, want)))
        refused += len(want) == 1
        kernels += sum(len(p) for p in want[1:] if isinstance(p, list))
    assert not different, (len(different), different[:3])
    assert kernels > 2000 and refused > 200  # the comparison is not empty


def first_difference(a, b, path=""):
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        pairs = [(k, a[k], b[k]) for k in a]
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        pairs = [(i, x, y) for i, (x, y) in enumerate(zip(a, b))]
    else:
        return f"{path}: {str(a)[:300]} in the package, {str(b)[:300]} in Python"
    return next(first_difference(x, y, f"{path}/{k}") for k, x, y in pairs if x != y)
