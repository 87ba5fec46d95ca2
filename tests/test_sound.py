"""The rules that are asked between passes: each break of one is noticed, and so is a pass that breaks one."""

from dataclasses import replace

import pytest
from definitions import LIBRARY

import codegen.kernels.fuse
import dsl.gradients.adjoint
import dsl.gradients.derivable
from codegen.kernels.fused import kernels
from codegen.kernels.kernel import Access, Kernel, Step
from codegen.kernels.sound import BrokenKernel, problems
from dsl.gradients.reverse import Reverse
from dsl.ir.builders import add, idx, integer, mul, pack, read, sym
from dsl.ir.expression import Element, Pack, Read, Result, Unknown
from dsl.ir.program import Dim, Loop, Program, Tensor
from dsl.ir.verify import Unsound
from dsl.library import load_text

N = sym("N")
PROGRAM = Program(
    "p",
    {
        "x": Tensor("x", "input", (Dim("pack", "B"), Dim("one", "N", N))),
        "at": Tensor("at", "input", (Dim("one", "N", N),), "own"),
        "y": Tensor("y", "output", (Dim("pack", "B"),)),
    },
    [],
    ["x", "at"],
    ["y"],
)
# y[*b] = sum[i < N] x[*b, at[i]] * 2, and what it came to once more beside it.
GOOD = Kernel(
    "reduce",
    (Loop("b", None, "B"),),
    (Loop("i", N),),
    (Access("at", (idx("i"),)), Access("x", (pack("b"), Element(0))), Access("y", (pack("b"),))),
    (Step("reduce", 0, mul(Element(1), integer(2)), "sum"), Step("store", -1, Result(0), target=2)),
)
AT, X, Y = GOOD.accesses
SUM, STORE = GOOD.steps


@pytest.mark.parametrize(
    "change, said",
    [
        ({"shape": "map"}, "a map that reduces"),
        ({"shape": "contract"}, "two factors"),
        ({"shape": "scatter", "steps": (STORE,)}, "nothing reduces"),
        ({"shape": "reduce", "steps": (replace(STORE, body=integer(0)),)}, "without a reduction"),
        ({"shape": "scan", "rloops": ()}, "along one loop"),
        ({"reverse": True}, "backwards"),
        ({"left": (3,)}, "not there"),
        ({"loops": (Loop("i", None, "B"),)}, "two loops"),
        ({"rloops": (Loop("i"),)}, "extent or a pack"),
        ({"accesses": (AT, replace(X, tensor="z"), Y)}, "no tensor for z"),
        ({"accesses": (AT, replace(X, index=(pack("b"),)), Y)}, "other axes"),
        ({"accesses": (AT, replace(X, index=(pack("b"), idx("k"))), Y)}, "no loop for k"),
        ({"accesses": (AT, replace(X, index=(idx("b"), Element(0))), Y)}, "another kind of axis"),
        ({"accesses": (AT, replace(X, index=(pack("b"), Element(1))), Y)}, "its own element"),
        ({"accesses": (replace(AT, index=(Element(1),)), X, Y)}, "access 0 needs its own element"),  # through another
        ({"accesses": (AT, replace(X, index=(pack("b"), Element(7))), Y)}, "an access that is not there"),
        ({"accesses": (AT, replace(X, fallback=integer(0)), Y)}, "a place that it never has"),
        ({"accesses": (AT, X, replace(Y, guard=add(Pack("b"), N)))}, "inside a formula"),
        ({"accesses": (AT, X, replace(Y, guard=add(idx("b"), N)))}, "as one number"),
        ({"steps": (replace(SUM, result=1), STORE)}, "is known as step 1"),
        ({"steps": (replace(SUM, red=None), STORE)}, "reduces nothing"),
        ({"steps": (SUM, replace(STORE, target=-1))}, "stores nowhere"),
        ({"steps": (replace(SUM, body=Result(0)), STORE)}, "not there yet"),
        ({"steps": (SUM, replace(STORE, body=Result(1)))}, "not there yet"),
        ({"steps": (SUM, replace(STORE, body=idx("i")))}, "not open here"),
        ({"steps": (SUM, replace(STORE, body=read("x", (pack("b"), integer(0)))))}, "no formula of a kernel"),
    ],
)
def test_what_is_wrong_with_a_kernel_is_noticed(change, said):
    assert problems(GOOD, PROGRAM) == []
    assert any(said in p for p in problems(replace(GOOD, **change), PROGRAM))


# --- A pass that breaks a rule is named -----------------------------------------------------------------------------

SOFT = "op soft(x: Float, dim: dim) -> Float\n    e = exp(x - max[dim] x)\n    out = e / sum[dim] e\n"


def broken(pass_):
    """A pass that reads a tensor which is not there in the last statement."""

    def made(*args):
        out = pass_(*args)
        return [*out[:-1], replace(out[-1], body=add(out[-1].body, Read("nothing", (), None)))]

    return made


def soft():
    library, errors, _ = load_text(SOFT)
    assert errors == []
    return library.ops["soft"]


@pytest.mark.parametrize("where, name, after", [(Reverse, "run", "reverse"), (dsl.gradients.derivable, "tidy", "tidy")])
def test_the_pass_that_broke_a_program_is_named(monkeypatch, where, name, after):
    monkeypatch.setattr(where, name, broken(getattr(where, name)))
    with pytest.raises(Unsound, match=f"after {after}: .*no tensor for nothing"):
        dsl.gradients.adjoint.complete(soft())


def test_the_program_that_settling_broke_is_named(monkeypatch):
    def settled(p, fresh):
        p.stmts = broken(lambda: p.stmts)()

    monkeypatch.setattr(dsl.gradients.adjoint, "settled", settled)
    with pytest.raises(Unsound, match="after settle: soft: no tensor for nothing"):
        dsl.gradients.adjoint.complete(soft())


def test_a_derivative_that_stays_unknown_is_no_statement(monkeypatch):
    tidy = dsl.gradients.derivable.tidy
    monkeypatch.setattr(dsl.gradients.derivable, "tidy", lambda *a: [replace(s, when=Unknown("f")) for s in tidy(*a)])
    with pytest.raises(Unsound, match="after tidy: .*`when`"):
        dsl.gradients.adjoint.complete(soft())


def test_kernels_that_fusion_broke_are_named(monkeypatch):
    program = soft().forward
    scalar = codegen.kernels.fuse.Builder.scalar
    monkeypatch.setattr(codegen.kernels.fuse.Builder, "scalar", lambda self, e: add(scalar(self, e), Element(99)))
    with pytest.raises(BrokenKernel, match="soft, kernel 0: an access that is not there"):
        kernels(program)


def test_every_kernel_of_the_library_is_sound():
    count = 0
    for op in LIBRARY.ops.values():
        for program in (op.forward, op.gradient, op.gradient2):
            for kernel in kernels(program):
                assert problems(kernel, program) == []
                count += 1
    assert count > 2500
