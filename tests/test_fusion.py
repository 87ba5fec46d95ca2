"""Programs of several ops joined by codegen/fusion: as many launches as there should be, and in WebAssembly and on a GPU
what numpy makes of the ops one after another."""

import itertools
from dataclasses import dataclass, field

import numpy as np
import pytest
from definitions import LIBRARY, data_of

from codegen.api.opdata import rules
from codegen.binding.bind import bind
from codegen.data.model import Call, Op
from codegen.data.nodes import Binary, Constant, Element, Option, Rounded, Select, Unary
from codegen.fusion.fuse import fused
from codegen.fusion.reasons import reasons
from codegen.fusion.settle import folded
from codegen.fusion.substitute import as_read
from codegen.fusion.work import Item, apart, as_op, item_of, work_of
from codegen.planner.plan import plan
from workbench import numpy_runner
from workbench.numpy_runner import meta
from workbench.wasm_runner import Wasm
from workbench.wgpu_runner import Gpu

RULES = rules(LIBRARY)


BITS = {0: Constant("b", 0), 1: Constant("b", 1)}
FOLDED = {
    "&&": lambda a, b: a and b,
    "||": lambda a, b: a or b,
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
}


def test_what_is_known_is_folded():
    """A condition of a number that a call knows is the other half of it, or a bit: of vectors all bits say it."""
    left_open, two = Option("way"), [(a, b) for a in BITS for b in BITS]
    for sign, means in FOLDED.items():
        for a, b in two:
            assert folded(Binary(sign, BITS[a], BITS[b])) == BITS[means(a, b)], (sign, a, b)
    for sign in ("&&", "||"):
        for a in BITS:
            decides = (a == 0) == (sign == "&&")
            for e in (Binary(sign, BITS[a], left_open), Binary(sign, left_open, BITS[a])):
                assert folded(e) == (BITS[a] if decides else left_open), (sign, a)
    for a in BITS:
        assert folded(Unary("!", BITS[a])) == BITS[1 - a]
        assert folded(Select(BITS[a], left_open, BITS[0])) == (left_open if a else BITS[0])
    assert folded(Binary("==", left_open, BITS[1])) == Binary("==", left_open, BITS[1])


def test_what_was_stored_is_read_as_its_type_says():
    """A formula in the place of a tensor that held it: rounded as that was, a condition as 1 or 0; else there is
    none."""
    e = Element(0)
    known = {("f", "float32", "f"): Rounded(e), ("i", "int32", "i"): e, ("b", "bool", "b"): e}
    for dtype, wanted in ("float32", "f"), ("bool", "f"), ("bool", "i"):
        known["b", dtype, wanted] = Select(e, Constant(wanted, 1), Constant(wanted, 0))
    for given in itertools.product("fib", ["float32", "int32", "bool", "float16", "uint8"], "fib"):
        assert as_read(e, *given) == known.get(given), given


@dataclass
class Steps:
    """Ops that are called one after another; values by number, as numpy has them."""

    values: list[np.ndarray] = field(default_factory=list)
    steps: list[tuple[Op, Call, list[int]]] = field(default_factory=list)
    given: int = 0

    def give(self, *shape: int) -> int:
        self.values.append(np.random.default_rng(len(self.values)).standard_normal(shape).astype(np.float32))
        self.given = len(self.values)
        return self.given - 1

    def __call__(self, name: str, *args: object) -> int:
        """args: values as whole numbers, options as floats or lists; answers the first result."""
        op, data = LIBRARY.ops[name], data_of(name)
        full = [*args, *[None] * (len(data.params) - len(args))]
        call = bind(data, [meta(self.values[a]) if isinstance(a, int) else a for a in full])
        slots = [-1] * len(data.slots)
        arrays = {}
        for p, a in zip(data.params, full):
            if isinstance(a, int):
                slots[p.slot] = a
                arrays[p.name] = self.values[a]
        made = numpy_runner.run(op, data, call, arrays)
        for slot in data.outputs:
            slots[slot] = len(self.values)
            self.values.append(made[data.slots[slot].name])
        self.steps.append((data, call, slots))
        return slots[data.outputs[0]]

    def joined(self, lasting: list[int], contractions: bool = True) -> list[Item]:
        items = []
        for n, (data, call, slots) in enumerate(self.steps):
            held = slots[:]
            for slot, bound in enumerate(call.slots):
                if data.slots[slot].role == "temp" and bound.fresh:
                    held[slot] = len(self.values)
                    self.values.append(np.empty(0, np.float32))
            work = work_of(n, data, 0, call, data.outputs, held)
            assert work is not None, data.name
            items.extend(item_of(n, one) for one in apart(work))
        return fused(items, lasting, contractions)

    def check(self, items: list[Item], lasting: list[int], device: Gpu | Wasm, tolerance: float) -> None:
        memory = {n: v.reshape(-1) for n, v in enumerate(self.values[: self.given])}
        for item in items:
            work = item.work
            assert work is not None
            made, rest = as_op(work), [] if isinstance(device, Wasm) else [RULES]
            storages = {s: memory[v] for s, v in enumerate(work.values) if v >= 0 and s not in work.wanted}
            out = device.run(made, 0, work.call, storages, work.wanted, *rest)
            for slot in work.wanted:
                memory[work.values[slot]] = out[slot].reshape(-1)
        for value in lasting:
            wanted = self.values[value].reshape(-1)
            np.testing.assert_allclose(memory[value], wanted, rtol=tolerance, atol=tolerance)


def chain(p: Steps) -> list[int]:
    x, y = p.give(12, 20), p.give(20)
    return [p("tanh", p("mul", p("relu", p("sub", p("mul", p("add", x, y), x), y)), p("sigmoid", x)))]


def rows(p: Steps) -> list[int]:
    x, y = p.give(9, 24), p.give(24)
    return [p("add", p("mul", p("softmax", p("add", p("mul", x, x), y), 1.0), x), y)]


def product(p: Steps) -> list[int]:
    x, w, b = p.give(33, 40), p.give(40, 24), p.give(24)
    return [p("relu", p("add", p("mm", p("relu", x), w), b))]


def kept(p: Steps) -> list[int]:
    x, y = p.give(6, 5), p.give(6, 5)
    between = p("add", x, y)
    return [between, p("mul", p("exp", between), x)]


def stretched(p: Steps) -> list[int]:
    x, y = p.give(7, 1), p.give(1, 11)
    return [p("add", p("mul", p("sin", x), y), x)]


def norm_and_product(p: Steps) -> list[int]:
    """One token: each sum of the product reduces the row, too."""
    x, g, b, w, c = p.give(1, 1, 40), p.give(40), p.give(40), p.give(24, 40), p.give(24)
    return [p("relu", p("linear", p("layer_norm", x, [40], g, b), w, c))]


def norm_and_large_product(p: Steps) -> list[int]:
    """Thirty tokens: the norm is stored."""
    x, g, b, w = p.give(30, 12), p.give(12), p.give(12), p.give(24, 12)
    return [p("linear", p("layer_norm", x, [12], g, b), w)]


def softmax_and_product(p: Steps) -> list[int]:
    x, v = p.give(3, 1, 17), p.give(3, 17, 5)
    return [p("bmm", p("softmax", x, 2.0), v)]


def attention(p: Steps) -> list[int]:
    q, k, v = p.give(2, 3, 1, 8), p.give(2, 3, 13, 8), p.give(2, 3, 13, 6)
    return [p("scaled_dot_product_attention", q, k, v)]


def attention_of_many(p: Steps) -> list[int]:
    q, k, v = p.give(2, 3, 7, 8), p.give(2, 3, 13, 8), p.give(2, 3, 13, 6)
    return [p("scaled_dot_product_attention", q, k, v)]


PROGRAMS = [
    (chain, 1, 1),
    (rows, 1, 1),
    (product, 1, 3),
    (kept, 1, 1),
    (stretched, 2, 2),
    (norm_and_product, 1, 3),
    (norm_and_large_product, 2, 2),
    (softmax_and_product, 1, 2),
    (attention, 2, 4),
    (attention_of_many, 3, 4),
]


@pytest.mark.parametrize("program,launches,beside_products", PROGRAMS, ids=lambda x: getattr(x, "__name__", ""))
def test_joined_ops_are_what_they_are_one_by_one(program, launches, beside_products):
    p = Steps()
    lasting = program(p)
    items = p.joined([*range(p.given), *lasting])
    assert len(items) == launches and len(p.joined([*range(p.given), *lasting], False)) == beside_products
    p.check(items, lasting, Wasm(), 2e-6)
    p.check(items, lasting, Gpu(), 2e-5)


def many_readers(p: Steps) -> list[int]:
    x, w = p.give(6, 5), p.give(4, 6, 5)
    e = p("cumsum", x, 0.0)
    y = p("sin", e)
    return [p("sum", y, [n]) for n in (0.0, 1.0)] + [p("mul", p("sub", w, y), w)]


def crowd(p: Steps) -> list[int]:
    sum_, *others = [p.give(6, 5) for _ in range(13)]
    for other in others:
        sum_ = p("add", sum_, other)
    return [sum_]


WHYS = [
    (chain, True, []),
    (product, True, []),
    (product, False, ["products take no formulas of others on the CPU"] * 2),
    (stretched, True, ["the second has 77 points, and the first stores 7"]),
    (norm_and_large_product, True, ["its rows would be reduced for each of the sums"]),
    (many_readers, True, ["what many threads of the first store"] * 2 + ["has 120 points, and the first stores 30"]),
    (crowd, True, ["as one they would bind"]),
]


@pytest.mark.parametrize("program,contractions,wanted", WHYS, ids=lambda x: getattr(x, "__name__", ""))
def test_why_steps_are_not_one_is_said(program, contractions, wanted):
    p = Steps()
    lasting = program(p)
    lasting += range(p.given)
    found = reasons(p.joined(lasting, contractions), lasting, contractions)
    assert len(found) == len(wanted)
    for reason, words in zip(found, wanted):
        assert words in reason.why, reason


def test_what_lies_between_is_rounded():
    """As single floats 16777217 is 16777216: in doubles alone the difference would be 1."""
    p = Steps()
    x = p.give(8)
    one = p.give(8)
    p.values[x], p.values[one] = np.full(8, 2.0**24, np.float32), np.full(8, 1, np.float32)
    out = p("sub", p("sub", p("add", x, one), x), one)
    (item,) = p.joined([x, one, out])
    np.testing.assert_array_equal(p.values[out], np.full(8, -1, np.float32))
    p.check([item], [out], Wasm(), 0)
    p.check([item], [out], Gpu(), 0)


def test_a_depth_is_divided_whatever_follows_the_sums():
    """A product of few sums and much depth in two launches, of which each binds what it needs and the memory between
    them, though one for all would have no room for that."""
    s, gpu = Steps(), Gpu()
    x, w = s.give(64, 4096), s.give(4096, 64)
    rest = [s.give(64) for _ in range(5)]
    out = s("mm", x, w)
    for n, other in enumerate(rest):
        out = s("mul" if n % 2 else "add", out, other)
    (item,) = s.joined([out])
    assert item.work is not None
    launches = plan(as_op(item.work), 0, item.work.call, item.work.wanted, gpu.facts, RULES)
    assert [len(x.slots) for x in launches] == [3, 7], [x.strategy for x in launches]
    s.check([item], [out], gpu, 1e-3)
