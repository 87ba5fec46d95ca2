"""Schedules are declared once: dsl/checking/schedules.py says which facts a condition may compare and which settings a
strategy reads, and the planner gives and reads exactly those."""

from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path

import pytest
from definitions import LIBRARY
from test_host import attempt, data
from test_same_kernels import CALLS, DEVICES

from codegen.api.opdata import rules
from codegen.binding.bind import bind
from codegen.data.model import Schedule
from codegen.planner import contract_launches, row_launches, strategy, tile_candidates
from codegen.planner import plan as planner
from codegen.planner.attention import attention_launches
from codegen.planner.tile_candidates import TRIED, settings_of
from dsl.checking.schedules import FLAG, SHAPES
from dsl.library import load

HOST = Path(planner.__file__).parent
NAMED = Schedule("contract", None, "exact_tile", settings_of(TRIED[3], 2))


def plan_all(op, args, device):
    """All programs of a call, as far as there are any for its type."""
    call = bind(op, args + [None] * (len(op.params) - len(args)))
    for n, p in enumerate(op.programs):
        if call.dtype != "float16" or device.f16:
            planner.plan(op, n, call, p.outputs, device, rules(LIBRARY))
            # An attention's gradient is other kernels where that of its mask is not asked for.
            planner.plan(op, n, call, p.outputs[:3], device, rules(LIBRARY))
            planner.plan(op, n, call, p.outputs, device, [NAMED, *rules(LIBRARY)])


@pytest.fixture(scope="module")
def seen():
    """What the planner asked while it planned: the facts of each shape with their values, and the settings that it
    read of each strategy."""
    facts, read = {}, {}
    choose, number = strategy.chosen, strategy.number

    def chosen(op, kernel, shape, known, given, call):
        for name, value in given.items():
            facts.setdefault(shape, {}).setdefault(name, set()).add(value)
        return choose(op, kernel, shape, known, given, call)

    def noted(rule, name):
        read.setdefault(rule.strategy, set()).add(name)
        return number(rule, name)

    patch = pytest.MonkeyPatch()
    for module in (planner, row_launches, attention_launches, contract_launches):
        patch.setattr(module, "chosen", chosen)
    for module in (row_launches, strategy, attention_launches, contract_launches, tile_candidates):
        patch.setattr(module, "number", noted)
    try:
        for name, calls in CALLS.items():
            op = data(name)
            for args, device in product(calls, DEVICES):
                attempt(partial(plan_all, op, args, device))
        yield facts, read
    finally:
        patch.undo()


def test_facts_are_those_that_are_declared(seen):
    facts, _ = seen
    assert set(facts) == set(SHAPES), "the calls of test_same_kernels.py do not reach every shape"
    for shape, given in facts.items():
        assert set(given) == set(SHAPES[shape].facts), shape
        for name, values in given.items():
            if SHAPES[shape].facts[name] == FLAG:
                assert values <= {0.0, 1.0}, (shape, name)


def test_settings_are_those_that_are_declared(seen):
    _, read = seen
    declared = {name: set(known) for shape in SHAPES.values() for name, known in shape.strategies.items() if known}
    assert read == declared


def test_strategies_are_those_that_are_declared():
    assert {shape: {s for s in names if s} for shape, names in strategy.STRATEGIES.items()} == {
        shape: set(known.strategies) for shape, known in SHAPES.items()
    }


def test_a_schedule_of_an_op_runs_the_kernels_that_it_can():
    """One for an op, which has kernels of several shapes, is passed over where its strategy runs another shape."""
    op, device = data("softmax"), DEVICES[0]
    call = bind(op, [*CALLS["softmax"][0]] + [None] * (len(op.params) - len(CALLS["softmax"][0])))
    plain = planner.plan(op, 0, call, op.programs[0].outputs, device, rules(LIBRARY))
    tiles = Schedule("softmax", None, "tiled_matmul", {"rows": 64.0, "columns": 64.0, "depth": 16.0})
    with_tiles = planner.plan(replace(op, schedules=[tiles]), 0, call, op.programs[0].outputs, device, rules(LIBRARY))
    assert [x.code for x in with_tiles] == [x.code for x in plain]


def test_without_schedules_a_build_still_has_a_plan():
    """Settings have no defaults: without a schedule no strategy reads any."""
    library, errors, _ = load(HOST.parents[1] / "ops")
    assert errors == [] and library.schedules
    op = data("matmul_mm")
    call = bind(op, [*CALLS["matmul_mm"][0]] + [None] * (len(op.params) - len(CALLS["matmul_mm"][0])))
    assert planner.plan(op, 0, call, op.programs[0].outputs, DEVICES[0], [])
