"""Random arguments of the operators with indices, of matrices, images, norms and Fourier transforms."""

import math
from random import choice, randint, random

import torch
from random_arguments import (
    ANY,
    BOOL,
    F32,
    F64,
    FLOATS,
    I32,
    I64,
    MAKERS,
    axes,
    axis,
    broadcast,
    flag,
    maker,
    number,
    shape,
    tensor,
)


# indices
def index(sizes, size, signed=False):
    return torch.randint(-size if signed else 0, max(size, 1), list(sizes))


@maker("gather", "scatter.value", "scatter.src", "scatter_add", "scatter_reduce.two")
def _(kind="gather", types=ANY):
    x = tensor(s := [randint(1, 4) for _ in range(randint(0, 3))], choice(types))
    a = axis(x.ndim)
    inner = [randint(0 if random() < 0.05 else 1, n) for n in s]
    if s:
        inner[a] = randint(1, 5)
    at = index(inner, s[a] if s else 1)
    if kind == "gather":
        return [x, a, at], {}
    if kind == "value":
        return [x, a, at, number(x.dtype)], {}
    if kind == "src" and s:  # which of two at the same place stays is not said
        inner[a] = min(inner[a], s[a])
        at = torch.argsort(torch.rand(s), a)[tuple(slice(n) for n in inner)]
    # PyTorch's gradient of a product is wrong where the source is larger than the index
    source = tensor([n + randint(0, 1) * (kind != "reduce") for n in inner], x.dtype)
    if kind == "reduce":
        how = choice(["sum", "prod", "mean", "amax", "amin"])
        return [x, a, at, source, how], choice([{}, {"include_self": flag()}])
    return [x, a, at, source], {}


GENERAL = MAKERS["gather.default"]
MAKERS["scatter.value"] = lambda: GENERAL("value")
MAKERS["scatter.src"] = lambda: GENERAL("src")
MAKERS["scatter_add.default"] = lambda: GENERAL("add", ANY[:-1])
MAKERS["scatter_reduce.two"] = lambda: GENERAL("reduce", [*FLOATS, I64, I32])
MAKERS["index_select.default"] = lambda: (
    [x := tensor([randint(1, 4) for _ in range(randint(0, 3))], choice(ANY)), a := axis(x.ndim),
     index(choice([[], [3], [0], [1]]), x.shape[a] if x.ndim else 1).to(choice([I64, I32]))], {},
)  # fmt: skip


def indices(x):
    """As `x[...]` has them: all of an axis, integers that are broadcast, or a mask."""
    if random() < 0.2:
        return [tensor(x.shape[: randint(1, x.ndim)], BOOL)]
    common = shape(0, 2, 3)
    at = [index(broadcast(common)[0], n, True) if random() < 0.6 else None for n in x.shape]
    if all(i is None for i in at):
        at[0] = index([2], x.shape[0])
    while at[-1] is None and flag():
        at.pop()
    return at


MAKERS["index.Tensor"] = lambda: (
    [x := tensor([randint(1, 4) for _ in range(randint(1, 3))], choice(ANY)), indices(x)], {},
)  # fmt: skip


@maker("index_put")
def _():
    x = tensor([randint(2, 4) for _ in range(randint(1, 3))], choice([*FLOATS, I64, I32]))
    at = indices(x)
    picked = torch.ops.aten.index.Tensor(x, at)
    values = tensor(choice([picked.shape, [], picked.shape[-1:]]), x.dtype)
    return [x, at, values, values.ndim > 0], {}


MAKERS["masked_scatter.default"] = lambda: (
    [x := tensor(shape(), choice(ANY)), tensor(x.shape, BOOL), tensor([x.numel() + 2], x.dtype)], {},
)  # fmt: skip
MAKERS["embedding.default"] = lambda: (
    [tensor([5, 3], choice(FLOATS)), index(shape(0, 3), 5).to(choice([I64, I32])), *choice([[], [2], [-1], [2, True]])], {},
)  # fmt: skip
MAKERS["embedding_dense_backward.default"] = lambda: (
    [tensor([*(s := shape(1, 2)), 3]), index(s, 5), 5, choice([-1, 2]), flag()], {},
)  # fmt: skip


@maker("_embedding_bag")
def _():
    mode, last = randint(0, 2), flag()
    weights = tensor([6]) if mode == 0 and flag() else None
    offsets = torch.tensor([0, 2, 2, *([6] if last else [])])
    return [tensor([5, 3]), index([6], 5), offsets, False, mode, False, weights, last, choice([-1, 2])], {}


# matrices, convolutions, pools
def linear(dtype):
    return (
        tensor([a := randint(0 if random() < 0.1 else 1, 4), b := randint(1, 5)], dtype),
        tensor([b, randint(1, 4)], dtype),
        a,
    )


MAKERS["mm.default"] = lambda: ([*linear(choice([F32, F64, I64]))[:2]], {})
MAKERS["bmm.default"] = lambda: ([tensor([3, 2, 4], d := choice([F32, F64])), tensor([3, 4, 1], d)], {})


@maker("addmm")
def _():
    a, b, _rows = linear(d := choice([F32, F64, I64]))
    c = tensor(choice([[b.shape[1]], [1], [a.shape[0], b.shape[1]], [a.shape[0], 1], []]), d)
    return [c, a, b], choice([{}, {"beta": 2, "alpha": 3}, {"beta": 0}, {"alpha": -1}])


@maker("convolution")
def _(backward=False):
    n, groups, transposed = randint(1, 3), choice([1, 1, 2]), flag()
    k, dtype = [randint(1, 3) for _ in range(n)], choice([F32, F32, F64])
    x = tensor([randint(1, 2), 2 * groups, *[randint(5, 7) for _ in k]], dtype)
    weight = tensor([2 * groups, choice([1, 3]), *k] if transposed else [3 * groups, 2, *k], dtype)
    outputs = weight.shape[1] * groups if transposed else weight.shape[0]
    stride = [randint(1, 3) for _ in range(n)]
    rest = [choice([stride, stride[:1]]), [randint(0, 1) for _ in k], [randint(1, 2) for _ in k], transposed,
            [randint(0, min(1, s - 1)) if transposed else 0 for s in stride], groups]  # fmt: skip
    if not backward:
        return [x, weight, tensor([outputs], dtype) if flag() else None, *rest], {}
    rest[0] = stride
    out = torch.ops.aten.convolution(x, weight, None, *rest)
    return [tensor(out.shape, dtype), x, weight, choice([None, [outputs]]), *rest, [True, True, True]], {}


CONVOLUTION = MAKERS["convolution.default"]
MAKERS["convolution_backward.default"] = lambda: CONVOLUTION(True)


def image(n, dtype=None, least=5, batch=None):
    batch = [randint(1, 2)] if batch or (batch is None and flag()) else []
    return tensor([*batch, 2, *[randint(least, 7) for _ in range(n)]], dtype or choice(FLOATS))


for n in (1, 2, 3):
    MAKERS[f"avg_pool{n}d.default"] = lambda n=n: (
        [image(n), [randint(2, 3) for _ in range(n)], choice([[], [2] * n, [1] * n]), [randint(0, 1)] * n, flag(), flag(),
         *([choice([None, 3])] if n > 1 else [])], {},
    )  # fmt: skip
    if n > 1:
        MAKERS[f"max_pool{n}d_with_indices.default"] = lambda n=n: (
            [image(n), [randint(2, 3) for _ in range(n)], choice([[], [2] * n, [1] * n]), [randint(0, 1)] * n,
             [randint(1, 2)] * n, flag()], {},
        )  # fmt: skip
        MAKERS[f"_adaptive_avg_pool{n}d.default"] = lambda n=n: ([image(n), [randint(1, 9) for _ in range(n)]], {})
MAKERS["adaptive_avg_pool1d.default"] = lambda: ([image(1), [randint(1, 9)]], {})


@maker("_adaptive_avg_pool2d_backward")
def _():
    x = image(2)
    return [tensor([*x.shape[:-2], 3, 4], x.dtype), x], {}


@maker("avg_pool2d_backward")
def _():
    x = image(2)
    rest = [[randint(2, 3)] * 2, choice([[2, 1], [1, 2]]), [randint(0, 1)] * 2, flag(), flag(), choice([None, 3])]
    return [tensor(torch.ops.aten.avg_pool2d(x, *rest).shape, x.dtype), x, *rest], {}


@maker("max_pool2d_with_indices_backward")
def _():
    x = image(2)
    rest = [[randint(2, 3)] * 2, choice([[2, 1], [1, 2]]), [randint(0, 1)] * 2, [1, 1], flag()]
    out, at = torch.ops.aten.max_pool2d_with_indices(x, *rest)
    return [tensor(out.shape, x.dtype), x, *rest, at], {}


MAKERS["grid_sampler_2d.default"] = lambda: (
    [tensor([2, 2, 4, 5], d := choice(FLOATS)), tensor([2, 3, 2, 2], d, -1.3, 1.3), randint(0, 2), randint(0, 2), flag()], {},
)  # fmt: skip
MAKERS["upsample_nearest2d.vec"] = lambda: (
    [image(2, None, 2, True), *choice([[[5, 9], None], [None, [2.0, 1.5]], [None, [0.6, 3.0]], [[1, 2], None]])], {},
)  # fmt: skip
MAKERS["upsample_bilinear2d.vec"] = lambda: (
    [
        image(2, None, 2, True),
        s := choice([[5, 9], None, [1, 2]]),
        flag(),
        None if s else choice([[2.0, 1.5], [0.6, 3.0]]),
    ],
    {},
)
MAKERS["col2im.default"] = lambda: (
    [
        tensor(choice([[2, 8, 9], [8, 9]]), choice(FLOATS)),
        *choice([([4, 4], [2, 2], [1, 1], [0, 0], [1, 1]), ([6, 6], [2, 2], [2, 2], [1, 1], [2, 2])]),
    ],
    {},
)


# norms
def maybe(x):
    return x if flag() else None


@maker("_native_batch_norm_legit", "_native_batch_norm_legit_no_training", "_native_batch_norm_legit.no_stats")
def _(kind="plain"):
    x = tensor([3, 4, *shape(0, 2)], d := choice([F32, F32, F64]))
    weight, bias, mean, variance = (
        maybe(tensor([4], d)),
        maybe(tensor([4], d)),
        tensor([4], d),
        tensor([4], d, 0.5, 2),
    )
    if kind == "evaluated":
        return [x, weight, bias, mean, variance, 0.1, 1e-5], {}
    if kind == "none":
        return [x, weight, bias, True, 0.1, 1e-3], {}
    return [x, weight, bias, mean, variance, False, 0.2, 1e-5], {}


BATCH_NORM = MAKERS["_native_batch_norm_legit.default"]
MAKERS["_native_batch_norm_legit_no_training.default"] = lambda: BATCH_NORM("evaluated")
MAKERS["_native_batch_norm_legit.no_stats"] = lambda: BATCH_NORM("none")


@maker("native_layer_norm")
def _(backward=False):
    x = tensor([randint(1, 3), 2, 5], d := choice(FLOATS))
    inner = list(x.shape[randint(1, 2) :])
    weight = maybe(tensor(inner, d))
    bias = weight if weight is None else maybe(tensor(inner, d))
    if not backward:
        return [x, inner, weight, bias, choice([1e-5, 0.1])], {}
    _, mean, rstd = torch.ops.aten.native_layer_norm(x, inner, weight, bias, choice([1e-5, 0.1]))
    return [tensor(x.shape, d), x, inner, mean, rstd, weight, bias, [True, weight is not None, bias is not None]], {}


LAYER_NORM = MAKERS["native_layer_norm.default"]
MAKERS["native_layer_norm_backward.default"] = lambda: LAYER_NORM(True)


@maker("native_group_norm")
def _(backward=False):
    x = tensor([randint(1, 3), 4, *[randint(3, 5) for _ in range(randint(1, 2))]], d := choice(FLOATS))
    weight, bias, groups = maybe(tensor([4], d)), maybe(tensor([4], d)), choice([1, 2, 4])
    sizes = [x.shape[0], 4, math.prod(x.shape[2:]), groups]
    if not backward:
        return [x, weight, bias, *sizes, 1e-5], {}
    _, mean, rstd = torch.ops.aten.native_group_norm(x.contiguous(), weight, bias, *sizes, choice([1e-5, 0.1]))
    return [
        tensor(x.shape, d).contiguous(),
        x.contiguous(),
        mean,
        rstd,
        weight,
        *sizes,
        [True, weight is not None, True],
    ], {}


GROUP_NORM = MAKERS["native_group_norm.default"]
MAKERS["native_group_norm_backward.default"] = lambda: GROUP_NORM(True)
MAKERS["_cdist_forward.default"] = lambda: (
    [tensor([*(b := shape(0, 1)), 3, 4], d := choice(FLOATS)), tensor([*b, 2, 4], d), choice([0.0, 1.0, 2.0, 1.5, math.inf]),
     choice([None, 0, 1, 2])], {},
)  # fmt: skip
MAKERS["_pdist_forward.default"] = lambda: (
    [tensor([4, 3], choice(FLOATS)).contiguous(), choice([0.0, 1.0, 2.0, 3.0, math.inf])],
    {},
)


# Fourier transforms, of axes that torch.fft's functions have counted from the first
def counted(rank):
    return [a % rank for a in axes(rank, 1)]


@maker("_fft_r2c")
def _():
    x = tensor([randint(1, 5) for _ in range(randint(1, 3))])
    return [x, counted(x.ndim), randint(0, 2), flag()], {}


@maker("_fft_c2r")
def _():
    x = tensor([randint(2, 5) for _ in range(randint(1, 3))], F32)
    dims = counted(x.ndim)
    whole = x.shape[dims[-1]]
    return [torch.complex(x, torch.randn(x.shape)), dims, randint(0, 2), choice([2 * whole - 2, 2 * whole - 1])], {}
