"""Every op's kernels in the interpreter of the CPU device, forward, gradient and gradient of the gradient, mean what the
reference says."""

import numpy as np
import pytest
from day import TODAY
from definitions import LIBRARY
from interpreter_instances import Bench, task
from random_definitions import made
from turns import one_in, turn

from codegen.api.compiled import programs
from dsl.gradients.adjoint import complete
from dsl.library import load_text
from dsl.opdef import OpDef
from dsl.reference.interpreter import evaluate
from dsl.testing.instances import instances

COUNT = 3
DEFINITIONS = 100  # random ones, of fixed seeds and of the date

# Ops that change tensors over axes of their own, not over those of the result.
OWN_AXES = {
    "batch_norm",
    "batch_norm_empty",
    "instance_norm",
    "native_batch_norm",
    "embedding_limited",
    "adafactor_step",
}


def in_place_only_whole(op, instance) -> bool:
    """Whether every tensor that the op changes is as large as the loops over it: a broadcast one cannot be changed."""
    changed = [v.shape for n, v in instance.views.items() if op.tensors[n].mut]
    return op.name in OWN_AXES or all(
        shape == np.broadcast_shapes(*(v.shape for v in instance.views.values())) for shape in changed
    )


def beyond(op: OpDef) -> bool:
    """Whether an op is not tried here: the one of tensors without elements, which computes nothing, and those with
    bodies of steps, which get their words and scratch memory from the planner, which is left out here: their JavaScript
    runs in test_raw.py and, through the package, against PyTorch's answers."""
    raw = (kernel.raw for kernels, _ in programs(op) for kernel in kernels)
    return op.name == "batch_norm_empty" or any(body is not None for body in raw)


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    return answers_of(LIBRARY, tmp_path_factory.mktemp("kernels"))


def may_be_float(op: OpDef) -> bool:
    """Whether T may be a float."""
    return op.promote == "float" or not any(
        p.kind == "tensor" and p.name in op.promoted and p.cls in ("Int", "Bits", "Bool") for p in op.params
    )


def answers_of(library, folder, count: int = COUNT, orders: int = 3):
    """For each op (op, program, wanted, got or an error) in every instance; of its first programs so many."""
    bench = Bench(library, folder)
    tasks, expected = [], []
    for place, op in enumerate(library.ops.values()):
        if beyond(op):
            continue
        dtype = np.float64 if may_be_float(op) else np.int32
        drawn = enumerate(instances(op, count, legal=dtype == np.float64))
        possible = [(seed, instance) for seed, instance in drawn if in_place_only_whole(op, instance)]
        for seed, instance in possible if len(possible) < 2 else one_in(2, possible, turn(), start=place):
            rng = np.random.default_rng(seed)
            given, program = dict(instance.views), op.forward
            for number, program in enumerate(
                p for p in (op.forward, op.gradient, op.gradient2)[:orders] if p is not None
            ):
                if number:  # results and cotangents of the program before
                    for n in program.inputs:
                        if n in given or n not in program.tensors:
                            continue
                        t = program.tensors[n]
                        if t.like in given and t.role == "cotangent":
                            given[n] = rng.standard_normal(given[t.like].shape)
                    if any(program.tensors[n].role == "cotangent" and n not in given for n in program.inputs):
                        break
                want = evaluate(program, instance.env, instance.packs, given, dtype=dtype)
                tasks.append(task(op, number, instance, given, dtype))
                expected.append((op.name, number, want))
                given.update({n: v for n, v in want.items() if n not in given})
    return expected, tasks, bench.run(tasks)


def test_kernels_mean_what_the_reference_says(answers):
    same_as_wanted(answers)


def same_as_wanted(answers):
    wrong = []
    for (name, number, want), t, got in zip(*answers):
        if got["error"]:
            wrong.append(f"{name} program {number}: {got['error'].splitlines()[0]}")
            continue
        for n in t["wanted"]:
            values = np.array(
                [float(x.replace("Infinity", "inf").replace("NaN", "nan")) for x in got["arrays"][n]]
            ).reshape(t["shapes"][n])
            if n in want and not np.allclose(values, want[n], rtol=1e-8, atol=1e-9, equal_nan=True):
                wrong.append(
                    f"{name} program {number}: {n} is {values.ravel()[:4]}, not {np.asarray(want[n], float).ravel()[:4]}"
                )
    assert not wrong, f"{len(wrong)} of {len(answers[1])}:\n" + "\n".join(wrong[:40])


def test_every_op_with_a_program_is_tried(answers):
    names = {name for name, _, _ in answers[0]}
    missing = {name for name, op in LIBRARY.ops.items() if not beyond(op)} - names
    assert not missing, missing


def test_random_definitions_mean_what_the_reference_says(tmp_path):
    """As tests/test_random_definitions.py has them for numpy, WebAssembly and the GPU."""
    random_definitions_are_right(0, tmp_path)


def test_random_definitions_of_today_mean_what_the_reference_says(tmp_path, todays):
    with todays():
        random_definitions_are_right(TODAY * 1000, tmp_path)


def random_definitions_are_right(first, tmp_path):
    texts = [made(seed).text.replace("op f(", f"op f{seed}(") for seed in range(first, first + DEFINITIONS)]
    library, errors, _ = load_text("\n".join(t for t in texts if not load_text(t)[1]))
    assert not errors and len(library.ops) > DEFINITIONS / 2
    for op in library.ops.values():
        complete(op)
    answers = answers_of(library, tmp_path, 1, orders=2)
    assert len({name for name, _, _ in answers[0]}) == len(library.ops)
    same_as_wanted(answers)
