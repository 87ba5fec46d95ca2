"""Definitions and derived gradients as mathematics, and their signatures in words.  That KaTeX takes all of them is
tested with the website, which renders them."""

import pytest
from definitions import LIBRARY

from codegen.api import described
from dsl.library import load_text
from dsl.text import latex, latex_programs


def lines(formula: str) -> list[str]:
    inner = formula.removeprefix(r"\begin{aligned} ").removesuffix(r" \end{aligned}")
    return inner.split(r" \\[0.4em] ")


def body(text: str) -> str:
    """The formula of `out` in a one-line op over `x` and `y`."""
    library, errors, _ = load_text(f"op f(x: Num, y: Num) -> Num = {text}\n", "f.op")
    assert not errors
    (line,) = lines(latex.body(library.ops["f"].tree))
    return line.removeprefix(r"\mathrm{out} &= ")


@pytest.mark.parametrize(
    "text, wanted",
    [
        ("x + y * 2", r"x + y \cdot 2"),
        ("(x + y) * 2", r"\left(x + y\right) \cdot 2"),
        ("2 * x", r"2\,x"),
        ("x / (1 + y)", r"\frac{x}{1 + y}"),
        ("(x - y) ** 2", r"{\left(x - y\right)}^{2}"),
        ("x // 2", r"\left\lfloor x / 2 \right\rfloor"),
        ("sqrt(abs(x))", r"\sqrt{\left|x\right|}"),
        ("x if x > 0 else -y", r"\begin{cases} x & \text{if } x > 0 \\ -y & \text{otherwise} \end{cases}"),
        ("poly(x, 1, 0, 0.5)", r"1 + 0.5\,x^{2}"),
        ("expm1(x) * y", r"\left(e^{x} - 1\right) \cdot y"),
        ("sum(x) + y", r"\sum x + y"),
        ("1e-05 * x", r"1 \cdot 10^{-5}\,x"),
    ],
)
def test_formulas(text, wanted):
    assert body(text) == wanted


def test_a_definition_with_its_own_gradient():
    tree = LIBRARY.ops["softmax"].tree
    assert lines(latex.body(tree)) == [
        r"e &= \exp\left(\mathrm{input} - \max_{\mathrm{dim}} \mathrm{input}\right)",
        r"\mathrm{out} &= \frac{e}{\sum_{\mathrm{dim}} e}",
    ]
    (gradient,) = lines(latex.gradient(tree))
    out, bar = r"\mathrm{out}", r"\overline{\mathrm{out}}"
    inner = rf"{bar} - \sum_{{\mathrm{{dim}}}} {bar} \cdot {out}"
    assert gradient == rf"\overline{{\mathrm{{input}}}} &= {out} \cdot \left({inner}\right)"


def test_a_derived_gradient():
    """Pointwise ones have no indices; a choice is said in words."""
    op = LIBRARY.ops["mul"]
    assert lines(latex_programs.program(op.gradient, {})) == [
        r"\overline{\mathrm{input}} &= \overline{\mathrm{out}} \cdot \mathrm{other}",
        r"\overline{\mathrm{other}} &= \overline{\mathrm{out}} \cdot \mathrm{input}",
    ]
    gelu = LIBRARY.ops["gelu"]
    choices = {p.name: p.choices for p in gelu.params if p.choices}
    assert r"\text{where } \mathrm{approximate} = \texttt{tanh}" in latex_programs.program(gelu.gradient, choices)


def test_every_derived_gradient_can_be_printed():
    """Nothing in a loop program is without a sign here; bodies of steps are no formulas."""
    made = [latex_programs.program(op.gradient, {}) for op in LIBRARY.ops.values() if op.gradient]
    assert sum(map(bool, made)) > 450


@pytest.mark.parametrize(
    "op, parameter, wanted",
    [
        ("softmax", "input", "float tensor"),
        ("conv2d", "input", "tensor of numbers [*N, groups · C, H, W]"),
        ("conv2d", "weight", "tensor of numbers [groups · O, C, K_H, K_W]"),
        ("conv2d", "stride", "whole number, or one for each of H, W"),
        ("conv1d", "stride", "whole number"),
        ("add", "other", "tensor of numbers, or a number"),
        ("gather", "index", "tensor of whole numbers [*P, M along dim, *Q]"),
        ("nll_loss", "weight", "float tensor [C], or null"),
        ("nll_loss", "reduction", 'one of "mean", "sum", "none"'),
        ("pad2d", "pad", "4 whole numbers"),
        ("complex_exp", "input", "complex tensor [*B]"),
    ],
)
def test_signatures_in_words(op, parameter, wanted):
    op = LIBRARY.ops[op]
    (found,) = [p for p in op.tree.params if p.name == parameter]
    assert described.parameter(op, found) == wanted
