"""Formulas over more tensors than a kernel of a GPU binds: each is computed in parts, whose kernels bind no more, and
means the same on numpy, WebAssembly and the GPU, with its gradient."""

import numpy as np
import pytest

import workbench
from codegen.kernels import grouping, pointwise
from codegen.kernels.fused import kernels
from dsl.ir import wide

MOST = 4  # tensors of a kernel, here: formulas of few are as wide as those of nine where eight are bound

NAMES = "abcd"
TENSORS = ", ".join(f"{n}: Float[N, M]" for n in NAMES)
ROWS = ", ".join(f"{n}: Float[N]" for n in NAMES)


def all_of(operator: str, at: str = "[n, m]") -> str:
    return f" {operator} ".join(n + at for n in NAMES)


FORMULAS = {
    "product": (TENSORS, "Float[N, M]", f"out[n, m] = {all_of('*')}"),
    "product of rows": (TENSORS, "Float[N]", f"out[n] = prod[m] ({all_of('*')})"),
    "largest": (TENSORS, "Float[N]", f"out[n] = max[m] ({all_of('+')})"),
    "sum of a product": (TENSORS, "Float[N]", f"out[n] = sum[m] {all_of('*')}"),
    "sum of squares of sums": (TENSORS, "Float[]", f"out[] = sum[n, m] ({all_of('+')}) ** 2"),
    "function": (TENSORS, "Float[N, M]", f"out[n, m] = tanh({all_of('-')})"),
    "rows alone": (ROWS, "Float[N, N]", f"out[n, m] = tanh({all_of('*', '[n]')}) * a[m]"),
    "choice": (TENSORS, "Float[N, M]", f"out[n, m] = {all_of('*')} if a[n, m] > b[n, m] else tanh({all_of('+')})"),
    "beyond the edge": (
        TENSORS,
        "Float[N, M]",
        f"out[n, m] = 1 if m == 0 else ({' * '.join(f'({n}[n, m - 1] ?? 0)' for n in NAMES)}) if m > 1 else "
        f"exp(0.1 * ({all_of('+')}))",
    ),
    "filtered": (TENSORS, "Float[N]", f"out[n] = prod[m if a[n, m] > 0] ({all_of('*')})"),
}


@pytest.fixture
def few_are_bound(monkeypatch):
    monkeypatch.setattr(wide, "MOST_TENSORS", MOST)
    monkeypatch.setattr(grouping, "MOST_TENSORS", MOST)
    monkeypatch.setattr(pointwise, "MOST_TENSORS", MOST - 1)


@pytest.mark.usefixtures("few_are_bound")
@pytest.mark.parametrize("name", FORMULAS)
def test_a_wide_formula_runs_in_parts(name):
    parameters, result, body = FORMULAS[name]
    f = workbench.op(f"op f({parameters}) -> {result}\n    {body}\n")
    rng = np.random.default_rng(7)
    given = [rng.uniform(0.5, 1.5, 3 if parameters == ROWS else (3, 4)).astype(np.float32) for _ in NAMES]
    f.on = "numpy"
    wanted = f(*given)
    cotangent = rng.standard_normal(wanted.shape).astype(np.float32)
    slopes = f.grad(*given, cotangent=cotangent)
    for device in ("wasm", "gpu"):
        f.on = device
        np.testing.assert_allclose(f(*given), wanted, rtol=1e-4, err_msg=device)
        for n, slope in f.grad(*given, cotangent=cotangent).items():
            np.testing.assert_allclose(slope, slopes[n], rtol=1e-3, atol=1e-4, err_msg=f"{device}, {n}")
    for program in (f.op.forward, f.op.gradient, f.op.gradient2):
        for kernel in kernels(program):
            bound = {a.tensor for a in kernel.accesses}
            assert len(bound) <= MOST, f"{program.name}: {sorted(bound)}"


@pytest.mark.usefixtures("few_are_bound")
@pytest.mark.parametrize("name", ["product", "choice", "rows alone"])
def test_the_gradient_agrees_with_differences(name):
    parameters, result, body = FORMULAS[name]
    report = workbench.op(f"op f({parameters}) -> {result}\n    {body}\n").check()
    assert report and {"gradient", "gradient of it"} <= {made.title for made in report.findings}, str(report)


def test_as_many_tensors_as_no_gpu_need_bind():
    tensors = [f"t{n}" for n in range(wide.MOST_TENSORS + 3)]
    parameters = ", ".join(f"{t}: Float[N, M]" for t in tensors)
    report = workbench.op(
        f"op f({parameters}) -> Float[N]\n    out[n] = max[m] ({' + '.join(f'{t}[n, m]' for t in tensors)})\n"
    ).check()
    assert report and {"gradient", "gpu"} <= {made.title for made in report.findings}, str(report)
