"""What a call decides before kernels of the CPU are printed: keys, margins, parts, what is kept, columns together."""

import numpy as np
import pytest
from test_wgsl import strided

import workbench
from codegen.planner.lines import points
from codegen.wasm.module import kernel_bytes, kernel_text, wasm_kernel
from codegen.wasm.planning import margins, plan
from codegen.wasm.planning.plan import plan_wasm
from codegen.wasm.planning.strategy import columns_of
from workbench.wasm_runner import Wasm


@pytest.mark.parametrize("name", ["max_pool2d", "conv2d", "unfold"])
def test_keys_say_it_all(name):
    """Kernels of equal keys are the same bytes, whatever the options of a window are."""
    f = workbench.op(name)
    made = {}
    for size in [[6, 7], [5, 5], [9, 4]]:
        x = np.zeros((1, 4, *size), np.float32)
        weight = [np.ones((4, 2, 3, 3), np.float32)] if name == "conv2d" else []
        options = {"groups": 2} if name == "conv2d" else {"kernel_size": [3, 3], "stride": [1, 1]}
        for padding in [[1, 0], [0, 1], [1, 1], [0, 0]]:
            for more in [{}, {"stride": [2, 1]}, {"dilation": [1, 2]}]:
                if 2 * padding[1] + size[1] < 5:
                    continue
                call, _ = f.bind((x, *weight), {**options, **more, "padding": padding}, "wasm")
                for launch in plan_wasm(f.data, 0, call, f.data.programs[0].outputs, [b.dtype for b in call.slots]):
                    if launch is not None and not launch.why:
                        code = kernel_bytes(wasm_kernel(launch, False), False)
                        assert made.setdefault(launch.key, code) == code
    assert len(made) > 4


@pytest.mark.parametrize("channels", [(16, 3), (12, 20)])
def test_keys_say_which_points_a_part_computes(channels):
    """Points of one residue ask with their own numbers which products count."""
    f, made = workbench.op("conv2d"), {}
    for stride, size, padding in [(2, 7, 3), (2, 3, 1), (3, 4, 2)]:
        weight = np.zeros((*channels, size, size), np.float32)
        args = (np.zeros((1, channels[1], 33, 31), np.float32), weight)
        call, wanted = f.planned(args, {"stride": [stride] * 2, "padding": [padding] * 2}, True, "wasm")
        (launch, *_) = plan_wasm(f.data, 1, call, wanted, [b.dtype for b in call.slots])
        parts = [launch, *launch.more]
        assert len(parts) == stride * stride
        for part in parts:
            code = kernel_bytes(wasm_kernel(part, False), False)
            assert made.setdefault(part.key, code) == code


def test_keys_say_what_is_left_out():
    """Kernels of equal keys are the same bytes, whatever scales them and however many gates they are printed for."""
    made = {}
    x = np.zeros((5, 8), np.float32)
    calls = [("add", (x, x), {"alpha": alpha}) for alpha in (1, 2, 1, 0.5)]
    calls += [("lstm_step", (np.zeros((n, 4 * h), np.float32), x[:n, :h]), {}) for n in (2, 5) for h in (1, 8)]
    for name, args, options in calls:
        f = workbench.op(name)
        for program in range(2):
            call, wanted = f.planned(args, options, bool(program), "wasm")
            for launch in plan_wasm(f.data, program, call, wanted, [b.dtype for b in call.slots]):
                if launch is not None:
                    code = kernel_bytes(wasm_kernel(launch, False), False)
                    assert made.setdefault((name, launch.key), code) == code
    assert len([key for key in made if key[0] == "add"]) > 1


def test_margins_are_zeros_that_count():
    """What a window reads off its tensor is 0, which times infinity is no number."""
    f = workbench.op("conv2d", on="wasm")
    x, w = np.ones((1, 2, 4, 8), np.float32), np.full((2, 1, 3, 3), np.inf, np.float32)
    options = {"padding": [1, 1], "groups": 2}
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(f(x, w, **options), f.numpy(x, w, **options))


PARTS = [
    ("matmul", [(67, 33), (33, 41)], {}),
    ("matmul", [(30, 33), (33, 71)], {}),
    ("matmul", [(9, 20, 12), (9, 12, 20)], {}),
    ("matmul", [(2, 40), (40, 131)], {}),
    ("conv2d", [(2, 8, 9, 11), (20, 8, 3, 3), (20,)], {"padding": [1, 1]}),
    ("conv2d", [(1, 24, 9, 11), (24, 1, 3, 3), (24,)], {"padding": [1, 1], "groups": 24}),
    ("conv_transpose2d", [(1, 8, 14, 14), (8, 9, 4, 4)], {"stride": [2, 2], "padding": [1, 1]}),
    ("max_pool2d", [(1, 20, 12, 13)], {"kernel_size": [3, 3]}),
    ("softmax", [(37, 45)], {"dim": 0}),
    ("softmax", [(37, 45)], {"dim": 1}),
    ("exp", [(211,)], {}),
    ("add", [(40, 1, 33), (5, 1)], {}),
    ("cumsum", [(40, 33)], {"dim": 0}),
    ("triu", [(40, 41)], {}),
    ("dropout", [(40, 41)], {"p": 0.5}),
]


@pytest.mark.parametrize("relaxed", [False, True])
@pytest.mark.parametrize("name, shapes, options", PARTS)
def test_parts_come_to_what_the_whole_does(name, shapes, options, relaxed, monkeypatch):
    """Bit for bit, so that results do not depend on how many threads there are."""
    rng = np.random.default_rng(0)
    arrays = [strided(rng.standard_normal(shape).astype(np.float32)) for shape in shapes]
    found, shared = [], []
    for parts in (1, 3):
        runner = Wasm(relaxed, parts)
        monkeypatch.setattr(workbench.function, "cpu", lambda runner=runner: runner)
        f = workbench.op(name, on="wasm")
        found.append([f(*arrays, **options), *f.grad(*arrays, **options).values()])
        shared.append(runner.shared)
    assert shared[1] > 1
    assert [a.tobytes() for a in found[0]] == [a.tobytes() for a in found[1]]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("shape", [(3, 41), (2, 5, 3), (64, 256)])
def test_values_of_a_row_are_kept(shape, dtype):
    """softmax takes each exponential once, and rounds what doubles come to once."""
    f = workbench.op("softmax")
    x = np.random.default_rng(0).standard_normal(shape).astype(dtype)
    call, _ = f.bind((x,), {"dim": len(shape) - 1}, "wasm")
    (launch,) = plan_wasm(f.data, 0, call, f.data.programs[0].outputs, [b.dtype for b in call.slots])
    assert launch is not None and "kept 1" in launch.key
    # Several at once; none in the pass that stores.
    floats = dtype == np.float32 and shape[-1] > 32
    once = "i32x4.shl" if floats else "i64x2.shl" if dtype != np.float64 else "f64x2.nearest"
    assert kernel_text(wasm_kernel(launch, False)).count(once) == 1
    doubles = x.astype(np.float64)
    exact = np.exp(doubles - doubles.max(-1, keepdims=True))
    exact /= exact.sum(-1, keepdims=True)
    got = f.run("wasm", (x,), {"dim": len(shape) - 1})
    assert np.max(np.abs(got - exact) / np.spacing(exact.astype(dtype))) < (
        8 if floats or dtype == np.float64 else 0.51
    )


SIDE_BY_SIDE = [
    ("softmax", (40, 700), {"dim": 0}, np.float32),
    ("softmax", (2, 300, 91), {"dim": 1}, np.float32),
    ("log_softmax", (300, 270), {"dim": 0}, np.float64),
    ("softmax", (90, 301), {"dim": 0}, np.float16),
    ("var", (130, 515), {"dim": 0}, np.float32),
    ("amax", (300, 261), {"dim": 0}, np.float32),
    ("sum", (3, 70, 600), {"dim": 1}, np.float32),
    ("rms_norm", (300, 261), {"normalized_shape": [261]}, np.float32),
    ("layer_norm", (130, 300), {"normalized_shape": [300]}, np.float32),
]


@pytest.mark.parametrize("name, shape, options, dtype", SIDE_BY_SIDE)
def test_columns_go_through_rows_together(name, shape, options, dtype, monkeypatch):
    """And come to what each column does alone, bit for bit."""
    rng = np.random.default_rng(0)
    arrays = {"input": strided(rng.standard_normal(shape).astype(dtype))}
    for weight in ("weight", "bias")[: {"rms_norm": 1, "layer_norm": 2}.get(name, 0)]:
        arrays[weight] = rng.standard_normal(shape[-1:]).astype(dtype)
    arrays["input"][(..., 5, 7)], arrays["input"][(..., 6, 11)] = np.nan, np.inf
    widths, found = [], []
    for together in (True, False):

        def columns(k, together=together):
            widths.append(columns_of(k))
            return widths[-1] if together else 0

        monkeypatch.setattr(plan, "columns_of", columns)
        monkeypatch.setattr(workbench.function, "cpu", Wasm)
        f = workbench.op(name, on="wasm")
        found.append([f(**arrays, **options), *f.grad(**arrays, **options).values()])
    assert any(0 < width < shape[-1] for width in widths)
    assert [a.tobytes() for a in found[0]] == [a.tobytes() for a in found[1]]


@pytest.mark.parametrize("shape, dim", [((7, 1), 1), ((1, 40), 0), ((5, 0), 1), ((0,), 0)])
def test_nothing_is_kept_of_rows_of_one_element_or_none(shape, dim):
    """The room for a row's values would be one element's, and rows of one lie side by side."""
    f = workbench.op("softmax")
    call, _ = f.bind((np.zeros(shape, np.float32),), {"dim": dim}, "wasm")
    (launch,) = plan_wasm(f.data, 0, call, f.data.programs[0].outputs, [b.dtype for b in call.slots])
    assert launch is not None and launch.scratch == 0 and -1 not in launch.slots
    np.testing.assert_array_equal(f.run("wasm", (np.ones(shape, np.float32),), {"dim": dim}), np.ones(shape))


@pytest.mark.parametrize("window, stride, padding", [(4, 2, 1), (16, 16, 0), (32, 32, 0)])
def test_points_of_one_residue_go_together(window, stride, padding):
    """A transposed convolution multiplies no zeros that its stride puts between the places of its input, nor does the
    gradient of one that cuts a picture into patches."""
    f = workbench.op("conv_transpose2d")
    options = {"stride": [stride] * 2, "padding": [padding] * 2}
    call, _ = f.bind((np.zeros((1, 8, 14, 14)), np.zeros((8, 8, window, window))), options, "wasm")
    (launch,) = plan_wasm(f.data, 0, call, f.data.programs[0].outputs, [b.dtype for b in call.slots])
    assert launch is not None
    depths = [points(x.plan.reduce) for x in (launch, *launch.more)]
    assert depths == [8 * (window // stride) ** 2] * stride**2


def test_points_printed_for_themselves_share_nothing():
    """A kernel whose first rows have formulas of their own computes anew, at each row, what does not change along it:
    also for the last element, which is computed alone."""
    f = workbench.op("""op f(x: Float[N, M], y: Float[M], w: Float[N]) -> Float[N, M]
    out[a, m] = tanh(w[a]) + (y[m] if a == 0 else x[a, m])""")
    x, y, w = (np.random.default_rng(0).standard_normal(shape) for shape in ((4, 5), 5, 4))
    want = np.tanh(w)[:, None] + np.where(np.arange(4)[:, None] == 0, y, x)
    np.testing.assert_allclose(f.run("wasm", (x, y, w), {}), want)


@pytest.mark.parametrize(
    "shapes, options",
    [
        ([(2, 8, 13, 14), (20, 8, 3, 3)], {"padding": [1, 1]}),
        ([(1, 8, 23, 9), (16, 8, 4, 3)], {"padding": [2, 1], "stride": [2, 3], "dilation": [1, 2]}),
        ([(2, 12, 9, 7), (16, 6, 3, 3)], {"padding": [1, 2], "groups": 2}),
    ],
)
def test_tiles_read_windows_from_a_copy(shapes, options, monkeypatch):
    """With zeros around it, and come to what they do where it would be too large."""
    f = workbench.op("conv2d", on="wasm")
    rng = np.random.default_rng(0)
    arrays = [strided(rng.standard_normal(shape).astype(np.float32)) for shape in shapes]
    arrays[0][0, 0, 0, 0] = np.inf
    found, copied = [], []
    for most in (margins.MOST, 0):
        monkeypatch.setattr(margins, "MOST", most)
        found.append([f(*arrays, **options), *f.grad(*arrays, **options).values()])
        call, _ = f.bind(tuple(arrays), options, "wasm")
        (launch,) = plan_wasm(f.data, 0, call, f.data.programs[0].outputs, [b.dtype for b in call.slots])
        copied.append(launch.plan.product is not None and launch.plan.margins is not None)
    assert copied == [True, False]
    assert [a.tobytes() for a in found[0]] == [a.tobytes() for a in found[1]]


@pytest.mark.parametrize("size, stride, padding", [(2, 2, 0), (3, 2, 1), (3, 3, 1), (2, 5, 1)])
def test_windows_ask_their_own_residues_only(size, stride, padding):
    """No place of a pooling's gradient asks for steps that no window there has."""
    f = workbench.op("max_pool2d")
    options = {"kernel_size": [size] * 2, "stride": [stride] * 2, "padding": [padding] * 2}
    x = np.random.default_rng(0).standard_normal((2, 3, 31, 17)).astype(np.float32)
    call, wanted = f.planned((x,), options, True, "wasm")
    launches = plan_wasm(f.data, 1, call, wanted, [b.dtype for b in call.slots])
    sums = [part for launch in launches if launch and launch.more for part in (launch, *launch.more)]
    assert len(sums) == stride * stride
    assert sum(points(part.plan.outer) for part in sums) == x.size
    assert max(points(part.plan.reduce) for part in sums) == (-(-size // stride)) ** 2
    slopes = []
    for target in ("wasm", "numpy"):
        f.on = target
        slopes.append(f.grad(x, **options)["input"])
    np.testing.assert_array_equal(*slopes)
