"""Names in definitions are their authors': whatever else means something in a kernel, a function or an object, in every
language."""

import numpy as np
import pytest
from definitions import LIBRARY, data_of
from test_interpreter import answers_of, same_as_wanted

from codegen.binding.bind import bind
from dsl.checking.scope import compared, derived
from dsl.gradients.adjoint import complete
from dsl.library import load_text
from dsl.opdef import OpDef, symbol
from dsl.testing.instances import instances
from dsl.text.diagnostics import render
from dsl.text.parse import parse_text
from dsl.text.places import OPS
from dsl.text.syntax import Op
from dsl.text.vocabulary import expanded
from workbench.function import Function
from workbench.numpy_runner import meta

# Of kernels and their templates, of the prelude, of WGSL, of JavaScript and its objects, of Python, of what the
# compiler makes itself.
WORDS = """r0 r1 acc0 acc1 inner0 outer0 inner outer row rows flat lane place point points value at storage p u l words kernel
is_nan larger square power divide philox exp_of reached tell fault source common0 part0 host0 seed0 call tile patch0
i32 f32 array var fn let struct loop switch self filter target bitcast vec4 override atomic ptr workgroup texture private
delete class new function this await yield eval arguments args math count uniform best largest product0 where0 math_
constructor prototype toString hasOwnProperty length then name options device torch tensor undefined
lambda def_ pass_ np print env self0 import0 kept dropped has_x type_x rank_x xStride0 xAt xIn xLength0 k2 n2""".split()
WORDS = [w for w in WORDS if not w.endswith("_")]
WORDS += [
    f"{w}1" for w in WORDS[: -len(WORDS) % 14]
]  # so that ops and `def`s of half the definitions have different names
SIZES = "Math Number NaN Infinity Object Array R0 T I Words Float32Array Symbol Promise X0 Acc0 Place P U L".split()
KINDS = ("op", "def", "tensor", "other", "option", "flag", "loop", "bound", "part", "argument", "local")
TEXT = """
def {def}({argument}, b)
    {local} = {argument} * b
    for turn in 0 .. 3: {local} = {local} / 2 + {argument}
    out = {local} + b
    grad {argument} = b / 8 + 1.75
    grad b = {argument} / 8 + 1

op {op}({tensor}: Float[{size}, KK], {other}: Float[KK]?, {option}: real = 2, {flag}: bool = true) -> Float[{size}, KK]
    {part}[{loop}, kk] = {def}({tensor}[{loop}, kk], {option}) * ({other}[kk] ?? 1) if {flag} else {tensor}[{loop}, kk]
    total[{loop}] = sum[{bound} < KK if {bound} <= {loop}] {part}[{loop}, {bound}] * {bound}
    out[{loop}, kk] = ({part}[{loop}, kk] + ({tensor}[{loop} - 1, kk] ?? {option})) / (1 + total[{loop}] ** 2) + rand()
"""


def text_of(n: int) -> str:
    """A definition with other words for each kind of name; n counts so that every kind has every word once."""
    names = {kind: WORDS[(n + 7 * k) % len(WORDS)] for k, kind in enumerate(KINDS)}
    return TEXT.format(**names, size=SIZES[n % len(SIZES)])


TEXTS = [text_of(n) for n in range(len(WORDS))]


def loaded(text: str):
    library, errors, (source,) = load_text(text, "names.op")
    return library, render(errors, source)


@pytest.mark.parametrize("text", TEXTS[::6], ids=[t.split("op ")[1].split("(")[0] for t in TEXTS[::6]])
def test_gpu_and_slopes(text):
    library, errors = loaded(text)
    assert not errors
    report = Function(next(iter(library.ops.values())), library).check(instances=1)
    assert report, str(report)


@pytest.mark.parametrize("half", (0, 1))
def test_cpu(tmp_path, half):
    library, errors = loaded("".join(t for n, t in enumerate(TEXTS) if n // 7 % 2 == half))
    assert not errors
    for op in library.ops.values():
        complete(op)
    same_as_wanted(answers_of(library, tmp_path, 1))


def test_what_a_call_brings_with_it_is_no_name_for_an_author():
    """Otherwise the rank of a pack would silently stand for an option that is called `rank_B`."""
    items = [i for file in sorted(OPS.glob("*.op")) for i in parse_text(file.read_text(encoding="utf-8"))[0]]
    for name, item in [(n, i) for i in items if isinstance(i, Op) for n in expanded(i)][::8]:
        op = LIBRARY.ops[name]
        written = {symbol(p.name) for p in op.params} | {s.name for s in item.sizes}
        for brought in environment(op) - written - set(derived(item)):
            known = brought.endswith("_") or brought.isupper()  # no author's name, or a size
            assert known or compared(brought, item), f"{name}: {brought}"


def environment(op: OpDef) -> set[str]:
    """What formulas of a call know by name."""
    for instance in instances(op, 1, seed=5, largest=150):
        args = [meta(a) if isinstance(a, np.ndarray) else a for a in instance.arguments(0)]
        return set(bind(data_of(op.name), args).env)
    return set()  # of weights in blocks no small instance is drawn
