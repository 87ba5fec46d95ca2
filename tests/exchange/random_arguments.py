"""Random arguments of the core ATen operators: MAKERS has for each a function that gives arguments and options."""

import math
from random import choice, randint, random

import torch

F32, F64, I64, I32, BOOL, U8, I8, I16 = (
    torch.float32, torch.float64, torch.int64, torch.int32, torch.bool, torch.uint8, torch.int8, torch.int16,
)  # fmt: skip
FLOATS, INTEGERS = [F32, F32, F32, F64], [I64, I64, I32, U8, I8, I16]
ANY = [*FLOATS, *INTEGERS, BOOL]
MAKERS = {}


def maker(*names):
    def keep(make):
        for name in names:
            MAKERS[name if "." in name else f"{name}.default"] = make
        return make

    return keep


def shape(least=0, most=4, largest=4):
    """Now and then one without elements."""
    return [randint(0 if random() < 0.03 else 1, largest) for _ in range(randint(least, most))]


def tensor(sizes, dtype=F32, least=-3.0, most=3.0):
    """Now and then one that does not lie as it is counted."""
    sizes = list(sizes)
    lain = [*sizes[:-2], sizes[-1], sizes[-2]] if len(sizes) > 1 and random() < 0.2 else sizes
    x = torch.rand(lain, dtype=F64) * (most - least) + least
    if dtype == BOOL:
        x = x > (most + least) / 2
    elif not dtype.is_floating_point:
        x = x.abs().floor() if dtype == U8 else x.round()
    x = x.to(dtype)
    return x.transpose(-1, -2) if lain is not sizes else x


def special(x):
    """The same with some numbers that are none, infinite, and zeros with a sign."""
    if not x.is_floating_point() or x.numel() == 0 or random() < 0.6:
        return x
    x = x.contiguous()
    for value in (math.nan, math.inf, -math.inf, -0.0, 0.0):
        if random() < 0.5:
            x.view(-1)[randint(0, x.numel() - 1)] = value
    return x


def distinct(sizes, dtype=F32):
    return (torch.randperm(math.prod(sizes)) - math.prod(sizes) // 2).reshape(sizes).to(dtype) / (
        7 if dtype.is_floating_point else 1
    )


def axis(rank):
    return randint(-rank, rank - 1) if rank else choice([0, -1])


def axes(rank, least=0):
    some = [a for a in range(rank) if random() < 0.5]
    some = some if len(some) >= least else list(range(rank))[:least]
    return [a - rank if random() < 0.5 else a for a in some]


def broadcast(*sizes):
    """Sizes that give the same together."""
    return [[n if random() < 0.7 else 1 for n in s[randint(0, len(s)) if random() < 0.3 else 0 :]] for s in sizes]


def number(dtype=F32):
    return choice([randint(-3, 3), round(random() * 4 - 2, 2)] if dtype.is_floating_point else [randint(-3, 3)])


def flag():
    return random() < 0.5


RANGES = {"acosh": (1, 4), "log": (0.1, 3), "log2": (0.1, 3), "log10": (0.1, 3), "log1p": (-0.9, 3), "sqrt": (0, 3),
          "rsqrt": (0.1, 3), "acos": (-1, 1), "asin": (-1, 1), "atanh": (-0.9, 0.9), "tan": (-1.2, 1.2)}  # fmt: skip
for unary in """abs acos acosh asin asinh atan atanh ceil cos cosh erf exp expm1 floor isinf isnan log log10 log1p log2
        neg reciprocal relu round rsqrt sigmoid sign sin sinh sqrt tan tanh trunc alias clone nonzero logical_not
        gelu hardtanh leaky_relu elu bitwise_not""".split():

    @maker(unary)
    def _(unary=unary):
        types = {"bitwise_not": [*INTEGERS, BOOL], "gelu": FLOATS, "leaky_relu": FLOATS, "elu": FLOATS}.get(unary, ANY)
        if unary in ("relu", "neg", "hardtanh"):
            types = [*FLOATS, I64, I32, I8]
        dtype = choice(types)
        x = tensor(shape(), dtype, *(RANGES.get(unary, (-3, 3)) if dtype.is_floating_point else (0, 4)))
        more = {"hardtanh": [-0.5, 1.5] if dtype.is_floating_point else [-1, 2], "leaky_relu": [choice([0.2, 0, -1.5])],
                "elu": choice([[0.7], [2, 1.5], [1.0, 2, 0.5]])}.get(unary, [])  # fmt: skip
        options = {"gelu": choice([{}, {"approximate": "tanh"}])}.get(unary, {})
        return [special(x) if unary != "gelu" else x, *more], options


def pair(a=None, b=None, largest=3.0):
    """Two tensors that are broadcast, of the same type or of two; one may have no axis."""
    a, b = a or choice(ANY), b or choice(ANY)
    b = a if random() < 0.5 else b
    sizes = shape()
    one, other = broadcast(sizes, sizes)
    return tensor(one, a, -largest, largest), tensor(other, b, -largest, largest)


def nonzero(x):
    return torch.where(x == 0, torch.ones((), dtype=x.dtype), x) if x.dtype != BOOL else torch.ones_like(x)


for binary in (
    "add sub mul div eq ge gt le lt ne fmod remainder maximum minimum atan2 logical_and logical_or logical_xor".split()
):  # noqa: E501
    by_tensor = f"{binary}.Tensor" if binary in "add sub mul div eq ge gt le lt ne fmod remainder".split() else binary

    @maker(by_tensor)
    def _(binary=binary):
        x, y = pair()
        if binary == "sub" and BOOL in (x.dtype, y.dtype):
            x, y = x.float(), y.to(I32)
        if binary in ("fmod", "remainder", "div"):
            y = y if binary == "div" or (x.is_floating_point() and y.is_floating_point()) else nonzero(y)
        if binary in ("eq", "ge", "gt", "le", "lt", "ne", "maximum", "minimum", "add", "mul"):
            x, y = special(x), special(y)
        both_whole = not x.is_floating_point() and not y.is_floating_point()
        alpha = binary in ("add", "sub") and flag() and (x.dtype, y.dtype) != (BOOL, BOOL)
        return [x, y], {"alpha": randint(-2, 3) if both_whole else choice([2, -0.5, 1.5])} if alpha else {}

    if by_tensor is not binary:

        @maker(f"{binary}.Scalar")
        def _(binary=binary):
            x = tensor(shape(), choice(ANY if binary != "sub" else ANY[:-1]))
            y = number(choice([F32, I64]))
            y = abs(y) if x.dtype == U8 else y
            if binary in ("fmod", "remainder"):
                y = y or 2
                x = x if x.dtype != BOOL else x.int()
            return [x, y], {}


@maker("div.Tensor_mode", "div.Scalar_mode")
def _():
    x, y = pair()
    return [x, nonzero(y)], {"rounding_mode": choice([None, "trunc", "floor"])}


MAKERS["div.Scalar_mode"] = lambda: (
    [tensor(shape(), choice(ANY)), number() or 1.5],
    {"rounding_mode": choice([None, "trunc", "floor"])},
)
for bitwise in "bitwise_and bitwise_or bitwise_xor".split():
    MAKERS[f"{bitwise}.Tensor"] = lambda: ([*pair(choice([*INTEGERS, BOOL]), choice([*INTEGERS, BOOL]))], {})
    MAKERS[f"{bitwise}.Scalar"] = lambda: (
        [tensor(shape(), choice([*INTEGERS, BOOL])), choice([randint(-3, 9), True])], {},
    )  # fmt: skip


@maker("pow.Tensor_Tensor")
def _():
    x, y = pair(choice(FLOATS), choice(ANY))
    return [x.abs() + 0.1, y], {}


MAKERS["pow.Tensor_Scalar"] = lambda: ([tensor(shape(), choice(ANY)), choice([0, 1, 2, 3, 2.0, 0.5, -1.5])], {})
MAKERS["pow.Scalar"] = lambda: ([choice([2, 0, 1, 1.5]), tensor(shape(), choice([*FLOATS, I64]), 0, 4)], {})
MAKERS["atan2.out"] = lambda: ([tensor([2, 3]), tensor([3])], {"out": torch.zeros(2, 3, dtype=F64).int().float()})


@maker("clamp")
def _():
    x = tensor(shape(), choice([*FLOATS, *INTEGERS]))
    low, high = choice([(-1, 1), (None, 0.5), (0.5, None), (1, -1), (0, 2)])
    return [special(x), low, high], {}


@maker("clamp.Tensor")
def _():
    x, y = pair(choice([*FLOATS, I64]), choice([F32, I64]))
    return choice([[x, y], [x, None, y], [x, y, (y + 1)[..., :1]]]) if y.ndim else [x, y, None], {}


@maker("where.self")
def _():
    sizes = shape()
    c, a, b = broadcast(sizes, sizes, sizes)
    return [tensor(c, BOOL), tensor(a, choice(ANY)), tensor(b, choice(ANY))], {}


# reductions
def reduced(x, given=True, least=0):
    return [x, axes(x.ndim, least)] + ([flag()] if flag() else [])


def dtyped(x):
    return {"dtype": choice([F32, F64, I64, I32])} if random() < 0.3 and x is not None else {}


MAKERS["amax.default"] = MAKERS["amin.default"] = lambda: (reduced(tensor(shape(), choice(ANY))), {})
MAKERS["any.default"] = lambda: ([tensor(shape(), choice(ANY))], {})
MAKERS["any.dims"] = lambda: (reduced(tensor(shape(), choice(ANY))), {})


@maker("sum.dim_IntList", "mean.dim")
def _():
    x = tensor(shape(), choice(FLOATS))
    return [x, choice([axes(x.ndim), None, []]), *([flag()] if flag() else [])], choice([{}, {"dtype": F64}])


@maker("sum.dim_IntList")
def _():
    x = tensor(shape(), choice(ANY))
    return [x, choice([axes(x.ndim), None, []]), *([flag()] if flag() else [])], dtyped(x)


MAKERS["mean.default"] = lambda: ([tensor(shape(), choice(ANY))], {"dtype": choice([F32, F64])})
MAKERS["prod.default"] = lambda: ([tensor(shape(), choice(ANY))], choice([{}, {"dtype": choice([F32, F64])}]))


@maker("any.dim", "prod.dim_int", "max.dim", "min.dim", "argmax", "argmin", "cumsum", "sort")
def _():
    x = tensor(shape(), choice(ANY))
    return [x, axis(x.ndim), flag()], {}


MAKERS["cumsum.default"] = lambda: ([x := tensor(shape(), choice(ANY)), axis(x.ndim)], dtyped(x))
MAKERS["prod.dim_int"] = lambda: ([x := tensor(shape(), choice(ANY)), axis(x.ndim), flag()], dtyped(x))
MAKERS["argmax.default"] = MAKERS["argmin.default"] = lambda: (
    [x := special(tensor(shape(), choice(ANY[:-1]))), choice([None, axis(x.ndim)]), flag()], {},
)  # fmt: skip
MAKERS["sort.default"] = lambda: ([x := distinct(shape(), choice([F32, F64, I64])), axis(x.ndim), flag()], {})
MAKERS["topk.default"] = lambda: (
    [x := distinct(shape(1), choice([F32, F64, I64])), randint(0, x.shape[a := axis(x.ndim)]), a, flag(), True], {},
)  # fmt: skip


@maker("var.correction")
def _():
    x = tensor(shape(), choice(FLOATS))
    options = choice([{}, {"correction": choice([0, 1, 0.5])}, {"correction": 0, "keepdim": True}])
    return [x, choice([None, axes(x.ndim, 1)])], options


MAKERS["var.dim"] = lambda: (
    [x := tensor(shape(), choice(FLOATS)), choice([None, axes(x.ndim, 1)]), flag(), flag()],
    {},
)


@maker("_softmax", "_log_softmax")
def _():
    x = tensor(shape(), choice(FLOATS))
    return [x, axis(x.ndim), False], {}


# views and copies
@maker("permute", "flip")
def _():
    x = tensor(shape(), choice(ANY))
    order = torch.randperm(x.ndim).tolist()
    return [x, [a - x.ndim if flag() else a for a in order]], {}


MAKERS["flip.default"] = lambda: ([x := tensor(shape(), choice(ANY)), axes(x.ndim)], {})
MAKERS["unsqueeze.default"] = lambda: ([x := tensor(shape(), choice(ANY)), randint(-x.ndim - 1, x.ndim)], {})
MAKERS["squeeze.dim"] = lambda: ([x := tensor(shape(largest=2), choice(ANY)), axis(x.ndim)], {})
MAKERS["squeeze.dims"] = lambda: ([x := tensor(shape(largest=2), choice(ANY)), axes(x.ndim)], {})
MAKERS["expand.default"] = lambda: (
    [tensor(s := [choice([1, 3]) for _ in range(randint(0, 3))], choice(ANY)),
     [2, *[n if n > 1 and flag() else -1 if n > 1 or flag() else 4 for n in s]]], {},
)  # fmt: skip
MAKERS["repeat.default"] = lambda: (
    [
        x := tensor(shape(), choice(ANY)),
        [randint(0 if random() < 0.1 else 1, 3) for _ in range(x.ndim + randint(0, 1))],
    ],
    {},
)
MAKERS["view.default"] = lambda: (
    [
        x := tensor(s := shape(1), choice(ANY)).contiguous(),
        choice([[-1], [1, *s], [*s[:-1], 1, s[-1]], [x.numel(), 1]]),
    ],
    {},
)
MAKERS["select.int"] = lambda: (
    [x := tensor(shape(1), choice(ANY)), a := axis(x.ndim), randint(-x.shape[a], x.shape[a] - 1) if x.shape[a] else 0], {},
)  # fmt: skip


def places():
    return (
        choice([None, 0, 1, -1, -2, 2, -9, 9]),
        choice([None, 2, -1, 3, 0, 9223372036854775807, -9]),
        choice([1, 2, 3]),
    )


MAKERS["slice.Tensor"] = lambda: ([x := tensor(shape(1), choice(ANY)), axis(x.ndim), *places()], {})


@maker("slice_scatter")
def _():
    x, dtype = tensor(shape(1), choice(ANY)), choice(ANY)
    at = [axis(x.ndim), *places()]
    return [x, tensor(torch.ops.aten.slice(x, *at).shape, choice([x.dtype, dtype])), *at], {}


@maker("select_scatter")
def _():
    x = tensor(shape(1), choice(ANY))
    a = axis(x.ndim)
    at = randint(-x.shape[a], x.shape[a] - 1) if x.shape[a] else 0
    return [x, tensor([n for i, n in enumerate(x.shape) if i != a % x.ndim], x.dtype), a, at], {}


@maker("diagonal")
def _():
    x = tensor(shape(2), choice(ANY))
    a, b = torch.randperm(x.ndim)[:2].tolist()
    return [x, randint(-2, 2), a - x.ndim if flag() else a, b], {}


@maker("split_with_sizes")
def _():
    sizes = [randint(0, 3) for _ in range(randint(1, 4))]
    x = tensor([2, sum(sizes), 3], choice(ANY))
    return [x, sizes, choice([1, -2])], {}


@maker("cat")
def _():
    s, a = shape(1), 0
    a = axis(len(s))
    of = choice(ANY)
    parts = []
    for _ in range(randint(1, 4)):
        other = list(s)
        other[a] = randint(0, 3)
        parts.append(tensor(other, of if flag() else choice(ANY)))
    return [parts, a], {}


MAKERS["as_strided.default"] = lambda: (
    [
        tensor([24], choice(ANY)),
        *choice([([2, 3], [4, 1]), ([3, 2], [1, 1]), ([], []), ([2, 2], [0, 3])]),
        choice([0, 1, None]),
    ],
    {},
)
MAKERS["copy.default"] = lambda: ([tensor(s := shape(), choice(ANY)), tensor(broadcast(s)[0], choice(ANY))], {})
MAKERS["_to_copy.default"] = lambda: ([tensor(shape(), choice(ANY))], choice([{}, {"dtype": choice(ANY)}]))
MAKERS["fill.Scalar"] = lambda: ([tensor(shape(), choice(ANY)), number()], {})
MAKERS["full_like.default"] = lambda: ([tensor(shape(), choice(ANY)), number()], choice([{}, {"dtype": choice(ANY)}]))
MAKERS["full.default"] = lambda: ([shape(), choice([number(), True])], choice([{}, {"dtype": choice(ANY)}]))
MAKERS["scalar_tensor.default"] = lambda: ([choice([number(), True])], choice([{}, {"dtype": choice(ANY)}]))
MAKERS["arange.start_step"] = lambda: (
    choice([[0, 5], [1, 8, 3], [5, -3, -2], [0.5, 3.1, 0.4], [2, 2, 1], [1, 4.5, 2]]),
    choice([{}, {"dtype": choice([F32, F64, I64, I32])}]),
)
MAKERS["constant_pad_nd.default"] = lambda: (
    [x := tensor(shape(1, largest=5), choice(ANY)), [randint(-1, 2) for _ in range(2 * randint(1, x.ndim))],
     choice([0, 1, 2.5])], {},
)  # fmt: skip
for n, rank in ((1, 2), (2, 3), (3, 4)):

    @maker(f"reflection_pad{n}d", *([f"replication_pad{n}d"] if n > 1 else []))
    def _(n=n, rank=rank):
        x = tensor(
            [randint(1, 2) for _ in range(rank - n + randint(0, 1))] + [randint(3, 5) for _ in range(n)], choice(FLOATS)
        )
        return [x, [randint(-1, 2) for _ in range(2 * n)]], {}
