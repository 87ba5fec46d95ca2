"""Broken programs are noticed by the verifier of the loop IR."""

from dataclasses import replace

import pytest

from dsl.ir.builders import idx, pack, read, sym
from dsl.ir.program import Dim, Loop, Program, Stmt, Tensor
from dsl.ir.verify import Unsound, problems, verify

N, LOOP = sym("N"), Loop("i", sym("N"))
GOOD = Program(
    "p",
    {"x": Tensor("x", "input", (Dim("one", "N", N),)), "y": Tensor("y", "output", (Dim("one", "", N),))},
    [Stmt("y", (idx("i"),), (LOOP,), read("x", (idx("i"),)))],
    ["x"],
    ["y"],
)


@pytest.mark.parametrize(
    "change, said",
    [
        ({"target": "z"}, "no tensor"),
        ({"target": "x"}, "is written"),
        ({"idx": ()}, "0 indices"),
        ({"loops": ()}, "no loop"),
        ({"body": read("z", ())}, "no tensor"),
        ({"body": read("x", (pack("i"),))}, "pack"),
        ({"body": read("x", (idx("k"),))}, "no loop"),
        ({"red": "sum"}, "without loops"),
        ({"loops": (LOOP, Loop("j", N))}, "overwrite"),
        ({"loops": (LOOP, LOOP)}, "two loops"),
        ({"when": read("x", (idx("i"),))}, "`when`"),
        ({"mode": "-="}, "mode"),
        ({"body": read("y", (idx("i"),))}, "before"),
    ],
)
def test_verification_notices(change, said):
    assert problems(GOOD) == []
    bad = Program("p", GOOD.tensors, [replace(GOOD.stmts[0], **change)], ["x"], ["y"])
    assert any(said in p for p in problems(bad))
    with pytest.raises(Unsound):
        verify(bad, "lower")
