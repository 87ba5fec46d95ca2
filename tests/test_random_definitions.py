"""Random definitions: numpy's meaning, the derived gradient, WebAssembly and the GPU against what the formula says
element by element."""

import numpy as np
import pytest
from day import TODAY
from random_definitions import made

import workbench
from codegen.data.errors import OpError
from dsl.testing import gradcheck

PARTS, COUNT = 8, 25  # definitions of fixed seeds, in parts that run side by side; and of the date as many as one part
ON_GPU = 5  # of each part
STEP = 1e-6


@pytest.mark.parametrize("part", range(PARTS))
def test_random_definitions(part):
    assert compared(part * COUNT) > COUNT / 2


def test_random_definitions_of_today(figure, todays):
    with todays():
        count = compared(TODAY * 1000)
        figure(f"random definitions from seed {TODAY * 1000} on: {count} of {COUNT} compared, the others are refused")
        assert count > COUNT / 2


def test_a_kernel_of_more_tensors_than_every_device_binds():
    """The slopes of a filtered product read what it kept, beside all that the filter and the factors read."""
    f = workbench.op("""op f(x: Float[N, M], y: Float[M], w: Float[K], z: Int[N]) -> Float[N]
    out[a] = prod[j < M if (y[z[a]] ?? 0.46) < (w[2] ?? -0.12)] cos(y[j] if x[a, j] > z[a] else y[j] * (w[1] ?? 1))""")
    r = np.random.default_rng(0)
    given = [r.standard_normal(shape).astype(np.float32) for shape in ((4, 5), 5, 3)] + [np.arange(4, dtype=np.int32)]
    f.on = "numpy"
    want = f.grad(*given, cotangent=np.ones(4, np.float32))
    f.on = "gpu"
    for name, got in f.grad(*given, cotangent=np.ones(4, np.float32)).items():
        close(got, want[name], 1e-5, name)


def compared(first: int) -> int:
    """How many of a part's definitions are some, all of them right."""
    return sum(agrees(seed, seed - first < ON_GPU) for seed in range(first, first + COUNT))


def agrees(seed: int, gpu: bool) -> bool:
    """Whether a definition is one; false if it is refused because something in it is not used."""
    definition, r = made(seed), np.random.default_rng(seed)
    inputs = {
        "x": r.standard_normal((4, 5)),
        "y": r.standard_normal(5),
        "w": r.standard_normal(3),
        "z": r.integers(0, 5, 4).astype(np.int32),
    }
    try:
        f = workbench.op(definition.text, on="numpy")
    except workbench.DefinitionError as e:
        assert "never used" in str(e), f"seed {seed}\n{definition.text}\n{e}"
        return False
    where = f"seed {seed}\n{definition.text}"
    want = definition.brute(inputs)
    close(f(*inputs.values()), want, 1e-6, where)
    cotangent = r.standard_normal(want.shape)
    try:
        gradients = f.grad(*inputs.values(), cotangent=cotangent)
    except OpError as e:
        assert "no gradient" in str(e), where
        gradients = {}
    for name, got in gradients.items():
        slopes(definition, inputs, name, cotangent, got, where)
    if gradients and f.op.gradient2 is not None:  # which reads nothing that is not there, too
        again = gradcheck.check(f.op, count=1, twice=True)
        assert not again.wrong, f"{again.wrong}\n{where}"
    f.on = "wasm"
    single = [a.astype(np.float32) if a.dtype.kind == "f" else a for a in inputs.values()]
    close(f(*inputs.values()), want, 1e-6, f"WebAssembly, {where}")
    close(f(*single), want, 2e-3, f"WebAssembly in float32, {where}")
    if gradients:
        for name, got in f.grad(*inputs.values(), cotangent=cotangent).items():
            close(got, gradients[name], 1e-6, f"WebAssembly, d_{name}, {where}")
    if gpu:
        f.on = "gpu"
        close(f(*single), want, 2e-3, f"GPU, {where}")
        if gradients:
            for name, got in f.grad(*single, cotangent=cotangent.astype(np.float32)).items():
                close(got, gradients[name], 2e-2, f"GPU, d_{name}, {where}")
    return True


def close(got, want, relative: float, where: str):
    np.testing.assert_allclose(got, want, rtol=relative, atol=relative / 10, equal_nan=True, err_msg=where)


def slopes(definition, inputs, name, cotangent, got, where):
    """The gradient against differences to both sides; where they are unlike there is a kink."""

    def total(at, by):
        moved = inputs[name].copy()
        moved[at] += by
        return float((definition.brute({**inputs, name: moved}) * cotangent).sum())

    for at in np.ndindex(*inputs[name].shape):
        up, down = (total(at, STEP) - total(at, 0)) / STEP, (total(at, 0) - total(at, -STEP)) / STEP
        if abs(up - down) > 1e-3 * (1 + abs(up)):
            continue
        assert abs(got[at] - (up + down) / 2) <= 1e-4 + 1e-3 * abs(up), (
            f"d_{name}{list(at)} is {got[at]}, the slope is {(up + down) / 2}\n{where}"
        )
