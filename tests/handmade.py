"""Op definitions written as loop programs by hand, so that the adjoint is tested apart from the front end."""

import numpy as np

from dsl.ir.builders import ONE, ZERO, add, call, cond, div, idx, integer, mul, neg, pack, read, sub, sym
from dsl.ir.expression import Binary, Random
from dsl.ir.program import Dim, Loop, Program, Stmt, Tensor
from dsl.opdef import OpDef, Param, Require

ALL, KEPT = Dim("domain", option="dim"), Dim("domain", option="dim", part="kept")
I, B, A, N = Dim("domain"), Dim("pack", "B", broadcast=True), Dim("pack", "A"), Dim("pack", "N")


def one(name):
    return Dim("one", name, sym(name))


def split(*names):
    return Dim("split", factors=tuple(map(sym, names)))


def loop(name, extent):
    return Loop(name, sym(extent) if isinstance(extent, str) else extent)


def over(name, p):
    return Loop(name, pack=p)


def op(name, tensors, stmts):
    """tensors: name -> (role, dims, dtype); `input?` marks an optional one."""
    made = {}
    for n, (role, *dims) in tensors.items():
        dtype = dims.pop() if isinstance(dims[-1:] and dims[-1], str) else "T"
        made[n] = Tensor(n, role.rstrip("?"), tuple(dims), dtype, optional=role.endswith("?"))
    params = [
        Param(t.name, "tensor", "Int" if t.dtype == "int" else "Num", optional=t.optional)
        for t in made.values()
        if t.role == "input"
    ]
    outputs = [t.name for t in made.values() if t.role == "output"]
    strides = [Require(Binary(">", sym(n), ZERO), "") for n in ("stride", "dilation")]
    return OpDef(
        name,
        "",
        (),
        params,
        made,
        "default",
        [],
        [],
        strides,
        outputs,
        forward=Program(name, made, stmts, [p.name for p in params], outputs),
    )


i, b, a, n, kept, dropped = map(pack, ("i", "b", "a", "n", "kept", "dropped"))
m, k, c, o, g, y, j = map(idx, "mkcogyj")
everywhere = (over("i", "I"),)
rows, both = (over("kept", "kept"),), (over("kept", "kept"), over("dropped", "dropped"))


def window(y, k):
    return sub(add(mul(y, sym("stride")), mul(k, sym("dilation"))), sym("padding"))


def add_op():
    return op(
        "add",
        {"input": ("input", I), "other": ("input", I), "out": ("output", I)},
        [Stmt("out", (i,), everywhere, add(read("input", [i]), mul(sym("alpha"), read("other", [i]))))],
    )


def matmul():
    return op(
        "matmul",
        {
            "input": ("input", B, one("M"), one("K")),
            "other": ("input", B, one("K"), one("N")),
            "out": ("output", B, one("M"), one("N")),
        },
        [
            Stmt(
                "out",
                (b, m, idx("n")),
                (over("b", "B"), loop("m", "M"), loop("n", "N")),
                mul(read("input", [b, m, k]), read("other", [b, k, idx("n")])),
                "sum",
                (loop("k", "K"),),
            )
        ],
    )


def softmax():
    x, e = read("input", [kept, dropped]), read("e", [kept, dropped])
    return op(
        "softmax",
        {
            "input": ("input", ALL),
            "t0_": ("temp", KEPT),
            "e": ("temp", ALL),
            "t1_": ("temp", KEPT),
            "out": ("output", ALL),
        },
        [
            Stmt("t0_", (kept,), rows, x, "max", both[1:]),
            Stmt("e", (kept, dropped), both, call("exp", sub(x, read("t0_", [kept])))),
            Stmt("t1_", (kept,), rows, e, "sum", both[1:]),
            Stmt("out", (kept, dropped), both, div(e, read("t1_", [kept]))),
        ],
    )


def conv1d():
    nest = (over("n", "N"), loop("g", "G"), loop("o", "O"), loop("y", "Y"))
    product = mul(read("input", [n, g, c, window(y, k)], ZERO), read("weight", [g, o, c, k]))
    return op(
        "conv1d",
        {
            "input": ("input", N, split("G", "C"), one("X")),
            "weight": ("input", split("G", "O"), one("C"), one("K")),
            "bias": ("input?", split("G", "O")),
            "t0_": ("temp", N, one("G"), one("O"), one("Y")),
            "out": ("output", N, split("G", "O"), one("Y")),
        },
        [
            Stmt("t0_", (n, g, o, y), nest, product, "sum", (loop("c", "C"), loop("k", "K"))),
            Stmt(
                "out",
                (n, g, o, y),
                nest,
                add(read("t0_", [n, g, o, y]), cond(sym("has_bias"), read("bias", [g, o]), ZERO)),
            ),
        ],
    )


def conv_transpose1d():
    return op(
        "conv_transpose1d",
        {
            "input": ("input", N, one("C"), one("X")),
            "weight": ("input", one("C"), one("O"), one("K")),
            "out": ("output", N, one("O"), one("Y")),
        },
        [
            Stmt(
                "out",
                (n, o, y),
                (over("n", "N"), loop("o", "O"), loop("y", "Y")),
                mul(read("input", [n, c, j]), read("weight", [c, o, k])),
                "sum",
                (loop("c", "C"), loop("j", "X"), loop("k", "K")),
                Binary("==", window(j, k), y),
            )
        ],
    )


def scan(red):
    return op(
        "cum" + red,
        {"input": ("input", A, one("K"), N), "out": ("output", A, one("K"), N)},
        [
            Stmt(
                "out",
                (a, k, n),
                (over("a", "A"), loop("k", "K"), over("n", "N")),
                read("input", [a, j, n]),
                red,
                (loop("j", "K"),),
                Binary("<=", j, k),
            )
        ],
    )


def embedding():
    return op(
        "embedding",
        {"input": ("input", A, "int"), "weight": ("input", one("V"), one("D")), "out": ("output", A, one("D"))},
        [Stmt("out", (a, k), (over("a", "A"), loop("k", "D")), read("weight", [read("input", [a]), k]))],
    )


def max_pool1d():
    return op(
        "max_pool1d",
        {"input": ("input", A, one("X")), "out": ("output", A, one("Y"))},
        [
            Stmt(
                "out",
                (a, y),
                (over("a", "A"), loop("y", "Y")),
                read("input", [a, window(y, k)], neg(sym("inf"))),
                "max",
                (loop("k", "K"),),
            )
        ],
    )


def reduction(red):
    return op(
        red,
        {"input": ("input", ALL), "out": ("output", KEPT)},
        [Stmt("out", (kept,), rows, read("input", [kept, dropped]), red, both[1:])],
    )


def layer_norm():
    x, mu, v = read("input", [a, n]), read("mu", [a]), read("v", [a])
    per, nest, inner = (over("a", "A"),), (over("a", "A"), over("n", "N")), (over("n", "N"),)
    scaled = mul(div(sub(x, mu), call("sqrt", add(v, sym("eps")))), cond(sym("has_weight"), read("weight", [n]), ONE))
    return op(
        "layer_norm",
        {
            "input": ("input", A, N),
            "weight": ("input?", N),
            "t0_": ("temp", A),
            "mu": ("temp", A),
            "t1_": ("temp", A),
            "v": ("temp", A),
            "out": ("output", A, N),
        },
        [
            Stmt("t0_", (a,), per, x, "sum", inner),
            Stmt("mu", (a,), per, div(read("t0_", [a]), sym("count"))),
            Stmt("t1_", (a,), per, Binary("**", sub(x, mu), integer(2)), "sum", inner),
            Stmt("v", (a,), per, div(read("t1_", [a]), sym("count"))),
            Stmt("out", (a, n), nest, scaled),
        ],
    )


def dropout():
    kept_ = Binary(">=", Random(0), sym("p"))
    return op(
        "dropout",
        {"input": ("input", I), "out": ("output", I)},
        [Stmt("out", (i,), everywhere, cond(kept_, div(read("input", [i]), sub(ONE, sym("p"))), ZERO))],
    )


def scatter_add():
    at = (a, k, n)
    return op(
        "scatter_add",
        {
            "input": ("input", A, one("K"), N),
            "index": ("input", A, one("M"), N, "int"),
            "src": ("input", A, one("M"), N),
            "out": ("output", A, one("K"), N),
        },
        [
            Stmt("out", at, (over("a", "A"), loop("k", "K"), over("n", "N")), read("input", at)),
            Stmt(
                "out",
                (a, read("index", [a, m, n]), n),
                (over("a", "A"), loop("m", "M"), over("n", "N")),
                read("src", [a, m, n]),
                mode="+=",
            ),
        ],
    )


def drawn(seed=0):
    """(op, env, packs, views) for each of the above, in float64."""
    rng = np.random.default_rng(seed)
    r = lambda *shape: rng.uniform(0.3, 2, shape)
    ints = lambda high, *shape: rng.integers(0, high, shape).astype(np.int32)
    zeros = r(2, 4, 3)
    zeros[0, 1, :2] = 0
    zeros[1, 0, 0] = 0
    yield add_op(), dict(alpha=2), dict(I=(3, 4)), dict(input=r(3, 4), other=r(1, 4))
    yield matmul(), dict(M=2, K=3, N=4), dict(B=(3, 2)), dict(input=r(3, 2, 2, 3), other=r(1, 2, 3, 4))
    yield softmax(), {}, dict(kept=(2, 3), dropped=(4,)), dict(input=r(2, 3, 4))
    conv = dict(G=2, C=2, O=3, X=7, K=2, stride=2, padding=1, dilation=2, Y=4)
    yield conv1d(), {**conv, "has_bias": 1}, dict(N=(2,)), dict(input=r(2, 2, 2, 7), weight=r(2, 3, 2, 2), bias=r(2, 3))
    yield conv1d(), {**conv, "has_bias": 0}, dict(N=()), dict(input=r(2, 2, 7), weight=r(2, 3, 2, 2))
    yield (
        conv_transpose1d(),
        dict(C=2, O=3, X=4, K=3, stride=2, dilation=2, padding=1, Y=9),
        dict(N=(2,)),
        dict(input=r(2, 2, 4), weight=r(2, 3, 3)),
    )
    yield scan("sum"), dict(K=4), dict(A=(2,), N=(3,)), dict(input=r(2, 4, 3))
    yield scan("prod"), dict(K=4), dict(A=(2,), N=(3,)), dict(input=r(2, 4, 3))
    yield embedding(), dict(V=5, D=3), dict(A=(2, 2)), dict(input=ints(5, 2, 2), weight=r(5, 3))
    yield max_pool1d(), dict(X=7, Y=4, K=3, stride=2, padding=1, dilation=1), dict(A=(2,)), dict(input=r(2, 7))
    for red in ("sum", "prod", "max", "min"):
        yield reduction(red), {}, dict(kept=(2,), dropped=(3, 2)), dict(input=r(2, 3, 2))
    yield layer_norm(), dict(count=4, eps=1e-5, has_weight=1), dict(A=(3,), N=(4,)), dict(input=r(3, 4), weight=r(4))
    yield dropout(), dict(p=0.3), dict(I=(5,)), dict(input=r(5))
    yield scatter_add(), dict(K=3, M=4), dict(A=(2,), N=()), dict(input=r(2, 3), index=ints(3, 2, 4), src=r(2, 4))
