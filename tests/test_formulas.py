"""Formulas are nodes until they are printed: what the package carries is read into the same nodes, and however they are
printed, nothing about a kernel but its spelling changes."""

import random
import sys
from dataclasses import asdict

import pytest
from definitions import LIBRARY, data_of
from test_same_kernels import CALLS, DEVICES

from codegen.api.notation import written
from codegen.api.opdata import op_data, rules
from codegen.binding.bind import bind
from codegen.data.formulas import formulas_of
from codegen.data.nodes import Apply, Binary, Constant, Element, Index, Local, Unary, contains, nodes_of, replaced, same
from codegen.data.written import read_formula
from codegen.kernels.verified import BrokenNode, verify
from codegen.planner import printed
from codegen.planner.common import common
from codegen.planner.plan import plan
from codegen.planner.writer import Facts
from dsl.lowering.types import symbol_kinds


def test_what_the_package_carries_is_read_as_it_was(figure):
    count = 0
    for op in LIBRARY.ops.values():
        for kernel in (n for p in data_of(op.name).programs for n in p.kernels):
            loops = [l.name for l in kernel.loops + kernel.rloops]
            for e in (e for code in (kernel.floating, kernel.integral) if code for e in formulas_of(code)):
                assert read_formula(written(e), loops) == e, (op.name, kernel.number, written(e))
                count += e is not None
    figure(f"{count} formulas of the library, read again")


@pytest.mark.parametrize(
    "text, printed_as",
    [
        ("(@0+1)*(-2.5)", "(r0 + 1) * (-2.5)"),
        ("-(@0+@1)", "-(r0 + r1)"),
        ("!(a&&(!b))", "!(a_ && !b_)"),
        ("1e-7", "1e-7f"),
        ("3.", "3.0"),
        ("-1", "-1"),
        ("f32(i)", "f32(i_)"),
        ("{0.,@0,i<j}", "select(0.0, r0, i_ < j_)"),
        ("max(i<j,i>j)", "max((i_ < j_), (i_ > j_))"),
        ("1b", "true"),
        ("uniform_random(3)", "uniform_random(3u, place)"),
        ("p.inf", "p.inf"),
        ("p.n", "p.n_"),
        ("$1", "acc1"),
        ("r0", "r0_"),
        ("true", "true_"),
        ("check_bounds(@0)", "r0"),
        ("power(@0,2.)", "power(r0, 2.0)"),
        ("(@0/2.)+@1", "divide(r0, 2.0) + r1"),
        ("-(i//j)", "-floor_divide_int(i_, j_)"),
        ("i%2", "remainder_int(i_, 2)"),
        ("1e+21", "1e+21f"),
    ],
)
def test_printed(text, printed_as):
    e = read_formula(text, ["i", "j", "r0"])
    assert e is not None and written(e) == text and printed.printed(e) == printed_as


def test_equal_parts_are_found_by_what_they_say():
    x, call = Element(0), Apply("exp_of", [Unary("-", Element(0))])
    e = Binary("+", call, Binary("*", Apply("exp_of", [Unary("-", Element(0))]), x))
    assert contains(e, call) and same(
        replaced(e, call, Local("v")), Binary("+", Local("v"), Binary("*", Local("v"), x))
    )
    found = common(e, "c")
    assert found.lines == ["let c_0 = exp_of(-r0);"] and printed.printed(found.formula) == "c_0 + (c_0 * r0)"
    assert not same(Index("r0"), Element(0)) and not same(Constant("i", 1), Constant("f", 1))


def test_broken_nodes_are_refused():
    """Each constant of a wrong kind, and each operator of another group, is found by the verifier that meets every
    kernel."""
    op = LIBRARY.ops["cross_entropy"]
    options, found = symbol_kinds(op), 0
    for kernel in op_data(op).programs[0].kernels:
        for code in (kernel.floating, kernel.integral):
            for step in code.steps if code else ():
                whole = step.body
                for e in nodes_of(whole):
                    if isinstance(e, Constant):
                        wrong = Constant({"f": "i", "i": "b", "b": "f"}[e.kind], e.value)
                    elif isinstance(e, Binary):
                        wrong = Binary("&&" if e.operator != "&&" else "*", e.left, e.right)
                    else:
                        continue
                    step.body = replaced(whole, e, wrong)
                    with pytest.raises(BrokenNode):
                        verify(kernel, options)
                    step.body, found = whole, found + 1
        verify(kernel, options)
    assert found > 10


def launches(data, call, facts: Facts) -> list[dict]:
    """All programs of a call, scheduled and plain, but for their texts."""
    return [
        {k: repr(v) for k, v in asdict(x).items() if k != "code"}
        for n, p in enumerate(data.programs)
        if not n or call.dtype.startswith("float")
        for shared in (rules(LIBRARY), [])
        for x in plan(data, n, call, p.outputs, facts, shared)
    ]


def spelled_otherwise(monkeypatch, seed: int):
    """From here on every formula is printed with brackets and blanks more, at random."""
    chance = random.Random(seed)
    plain = {name: getattr(printed, name) for name in ("printed", "operand")}

    def wild(print_):
        def spelled(e):
            text = print_(e)
            for _ in range(chance.randrange(3)):
                text = f"({text})" if chance.random() < 0.6 else f" {text} "
            return text

        return spelled

    for module in list(sys.modules.values()):
        if not getattr(module, "__name__", "").startswith("codegen.planner."):
            continue
        for name, own in plain.items():
            if getattr(module, name, None) is own:
                monkeypatch.setattr(module, name, wild(own))


def test_no_decision_reads_a_text(monkeypatch):
    tasks = []
    for name, calls in CALLS.items():
        data = data_of(name)
        for args in calls:
            call = bind(data, args + [None] * (len(data.params) - len(args)))
            tasks += [(name, data, call, facts) for facts in DEVICES if call.dtype != "float16" or facts.f16]
    before = [launches(data, call, facts) for _, data, call, facts in tasks[::3]]
    texts = [x.code for x in plan(tasks[0][1], 0, tasks[0][2], tasks[0][1].outputs, tasks[0][3], [])]
    spelled_otherwise(monkeypatch, 1)
    assert [x.code for x in plan(tasks[0][1], 0, tasks[0][2], tasks[0][1].outputs, tasks[0][3], [])] != texts
    for (name, data, call, facts), was in zip(tasks[::3], before):
        assert launches(data, call, facts) == was, name
