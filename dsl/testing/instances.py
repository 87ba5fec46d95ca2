"""Small random instances: an op's signature filled in with small sizes and options.

For property tests (gradients, kernels against the reference) and for counterexamples: a definition that
can read outside a tensor is shown an instance in which it does.  Instances are drawn in logical axes; matching
real arrays with a signature is `codegen/binding/bind.py`."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator
from itertools import product, zip_longest

import numpy as np

from ..ir.axes import axes, of_dim
from ..ir.builders import ZERO, is_binary, sym
from ..ir.dtypes import is_floating
from ..ir.expression import E, Symbol
from ..ir.program import Dim
from ..ir.rewriting import reads, symbols, transform
from ..opdef import MISSING, OpDef, Param, Presence, Require, TypeOf, symbol
from ..reference.sizes import constant, extents
from ..reference.statements import Collision, Outside
from ..text.syntax import X
from ..text.vocabulary import DTYPES, LISTS
from .instance import TYPES, Instance
from .meeting import meet


def instances(op: OpDef, count: int = 8, seed: int = 0, largest: int = 400, legal: bool = True) -> Iterator[Instance]:
    """Up to `count` instances in which every `require` holds and no array has more than `largest` elements;
    fewer if 40 times as many draws do not give them, none only if 400 times as many do not.  The same seed
    gives the same instances.  legal: only instances in which the forward program stays inside its tensors and reads
    none that is absent."""
    rng = random.Random(f"{seed} {op.name}")
    made = 0
    for draw in range(400 * count):
        if made == count or made and draw >= 40 * count:
            return
        w = Draw(op, rng).instance(largest)
        if w is None or legal and not w.legal():
            continue
        made += 1
        yield w


def outside(op: OpDef, count: int = 60) -> tuple[Outside | Collision, Instance] | None:
    """An access that leaves its tensor, or an element that gets two values, and an instance in which it does; None if
    none was found."""
    for w in instances(op, count, largest=200, legal=False):
        try:
            found = w.leaves()
        except KeyError:
            continue
        if found:
            return found[0], w
    return None


def unmet(op: OpDef, count: int = 60) -> list[Require]:
    """The requirements that draws did not meet, the most frequent first."""
    rng, found = random.Random(f"0 {op.name}"), Counter()
    for _ in range(40 * count):
        draw = Draw(op, rng)
        draw.instance(200)
        if draw.refused is not None:
            found[draw.refused] += 1
    return [r for r, _ in found.most_common()]


class Draw:
    """One attempt at an instance."""

    def __init__(self, op: OpDef, rng: random.Random):
        self.op, self.rng = op, rng
        self.requires = [r for r in op.requires if not r.warns]
        self.env: dict = {"inf": math.inf, "nan": math.nan, "seed0_": rng.randrange(1 << 32), "seed1_": 0, "call_": 0}
        self.packs: dict[str, tuple[int, ...]] = {}
        self.inputs = [t for t in op.tensors.values() if t.role == "input"]
        self.in_shapes = {n for t in self.inputs for a in axes(t) if a.extent is not None for n in symbols(a.extent)}
        self.ranges = {s.name: (number(s.low), number(s.high)) for s in op.samples if s.low is not None}
        self.refused: Require | None = None  # what the draw did not meet

    def instance(self, largest: int) -> Instance | None:
        op, env = self.op, self.env
        self.draw_packs()
        self.fit_packs()
        env |= {Presence + p.name: int(p.kind == "dims") for p in op.params if p.kind in ("dim", "dims") and p.optional}
        types = (
            TYPES | {"Bits": self.rng.choice(("int32", "uint8"))} if any(p.cls == "Bits" for p in op.params) else TYPES
        )
        env |= {
            TypeOf + p.name: DTYPES.index(types.get(p.cls, "float64"))
            for p in op.params
            if p.kind in ("tensor", "dtype")
        }
        waiting = [p for p in op.params if p.kind not in ("tensor", "dim", "dims") and not self.option(p)]
        for n in sorted(self.in_shapes - env.keys()):
            if n not in {name for name, _ in op.sizes}:
                env[n] = self.rng.randint(*map(int, self.ranges.get(n, (1, 5))))
        try:
            for p in waiting:
                self.default(p)
            self.measures()
            places = {d.option: env[d.option] for t in self.inputs for d in t.dims if d.kind == "chosen"}
            for t in self.spoken():
                env[Presence + t.name] = int(self.rng.random() < 0.6)
            for name, e in op.sizes:
                env[name] = constant(e, env)
            self.meet()
            if any(env[n] != at for n, at in places.items()):
                return None
            if self.refuse():
                return None
            shapes = {t.name: extents(t, env, self.packs) for t in self.inputs}
            results = [extents(t, env, self.packs) for t in op.tensors.values() if t.role != "input"]
            empty = any(
                n < 1 and not self.meant(a.extent)
                for t in op.tensors.values()
                for a in axes(t)
                if a.extent is not None
                for n in [int(constant(a.extent, env))]
            )
        except (KeyError, ZeroDivisionError, OverflowError, ValueError):
            return None
        if empty:
            return None
        if any(math.prod(s) > largest for s in [*shapes.values(), *results]):
            return None
        for t in self.inputs:
            if t.optional and Presence + t.name not in env:
                env[Presence + t.name] = int(self.rng.random() < 0.6)
        w = Instance(op, env, self.packs, self.arrays(shapes))
        order = list(range(len(self.packs.get("kept", ())) + len(self.packs.get("dropped", ()))))
        shapes = {n: w.physical(n, order).shape for n in w.views}
        for n, shape in shapes.items():
            env |= {f"size_{n}_0": [*shape, 1][0], f"size_{n}_last": [1, *shape][-1]}
        env |= {f"same_{a}_{b}": int(shapes[a] == shapes[b]) for a in shapes for b in shapes}
        env |= {f"stretched_{a}_{b}": stretched(shapes[a], shapes[b]) for a in shapes for b in shapes}
        return None if self.refuse() else w

    # --- Sizes and options ---

    def spoken(self) -> list:
        """The optional inputs of whose presence sizes and `require`s speak."""
        said = {n for e in (*(r.holds for r in self.requires), *(e for _, e in self.op.sizes)) for n in symbols(e)}
        return [t for t in self.inputs if t.optional and Presence + t.name in said]

    def meant(self, extent: E) -> bool:
        """Whether an axis of length 0 is what the definition wants, and not an accident."""
        wanted = [r.holds.parts() for r in self.requires if is_binary(r.holds, "==")]
        return extent == ZERO or any(extent in pair and ZERO in pair for pair in wanted)

    def refuse(self) -> bool:
        """Whether a `require` does not hold, which is noted."""
        self.refused = next((r for r in self.requires if not constant(r.holds, self.env)), None)
        return self.refused is not None

    def meet(self):
        """Sizes and whole options that a `require` speaks of."""
        free = self.in_shapes | {symbol(p.name) for p in self.op.params if p.kind == "int"}
        for r in self.requires:
            meet(r.holds, self.env, free, self.rng)

    def draw_packs(self):
        """Ranks 0 to 2 and lengths 1 to 4; a `dim` option drops one axis, `dims` one or two, `dims?` perhaps none."""
        kinds = {p.name: p.kind for p in self.op.params} | {name: "dim" for name, _ in self.op.sizes}
        perhaps = {p.name for p in self.op.params if p.kind == "dims" and p.optional}
        for t in self.op.tensors.values():
            for name, dim in [(a.pack, d) for d in t.dims for a in of_dim(d)]:
                if not name or name in self.packs:
                    continue
                low = 1 if name == "dropped" and dim.option not in perhaps else 0
                high = 1 if name == "dropped" and kinds.get(dim.option) == "dim" else 2
                self.packs[name] = tuple(self.rng.randint(1, 4) for _ in range(self.rng.randint(low, high)))

    def fit_packs(self):
        """Packs that a `require` wants to fit into others get no more axes, and no longer ones."""
        said = {n for r in self.requires for n in symbols(r.holds)}
        wanted = [(a, b) for a, b in product(sorted(self.packs), repeat=2) if f"fits_{a}_{b}" in said]
        for small, large in wanted:
            self.packs[large] = (*self.packs[large], *[self.rng.randint(1, 4) for _ in self.packs[small]])[
                : len(self.packs[small])
            ]
        for small, large in wanted:
            self.packs[small] = tuple(
                self.rng.randint(1, n) if n > 1 else n for n in map(min, self.packs[small], self.packs[large])
            )

    def option(self, p: Param) -> bool:
        """Draws a value; False if its default is taken, which may need sizes."""
        rng, env = self.rng, self.env
        if p.optional:
            env[Presence + p.name] = given = int(rng.random() < 0.6)
            if not given:
                return True
        elif p.has_default and rng.random() < 0.5 and p.default is not None:
            return False
        if p.kind == "dtype":
            env[Presence + p.name] = 0  # T is drawn with the tensors
            return True
        if p.kind in LISTS:
            if p.pack and p.rank < 0:
                self.packs.setdefault(p.pack, (rng.randint(1, 3),))
                return True
            some = [0, 1, 1, 2, 3] if p.rank <= 10 else [0, 0, 0, 1]  # many of them make small results, too
            numbers = [*some, *[MISSING] * p.optional] if p.kind == "ints" else [0.5, 1.0, 2.0]
            for j in range(p.rank):
                env[f"{p.name}{j}"] = rng.choice(numbers)
        else:
            env[symbol(p.name)] = self.value(p)
        return True

    def value(self, p: Param):
        rng = self.rng
        if p.name in self.ranges:
            return rng.randint(*map(int, self.ranges[p.name])) if p.kind == "int" else rng.uniform(*self.ranges[p.name])
        match p.kind:
            case "bool":
                return rng.randint(0, 1)
            case "choice":
                return rng.randrange(len(p.choices) or 1)
            case "int":
                return rng.randint(1, 3) if p.name in self.in_shapes else rng.choice([-1, 0, 1, 2, 3])
        return rng.choice([0.5, 1.0, 2.0])

    def default(self, p: Param):
        """The default of an option, component by component for a list."""
        if p.kind not in LISTS:
            self.env[symbol(p.name)] = number_of(constant(p.default, self.env))
            return
        for j in range(p.rank):
            one = transform(
                p.default,
                lambda n: sym(f"{n.name}{j}") if isinstance(n, Symbol) and f"{n.name}{j}" in self.env else None,
            )
            self.env[f"{p.name}{j}"] = constant(one, self.env)

    def measures(self):
        """`count_P` and `rank_P` of packs, `rank_x` of inputs, and the number of the axis that
        a `dim` option names, from the pattern that it stands in."""
        env = self.env
        for n, lengths in self.packs.items():
            env |= {f"count_{n}": math.prod(lengths), f"rank_{n}": len(lengths)}
        for n, a in self.packs.items():
            for m, b in self.packs.items():
                env[f"fits_{n}_{m}"] = int(len(a) == len(b) and all(x <= y for x, y in zip(a, b)))
        env["floating"] = int(self.floating())
        env |= {f"number_{t.name}": 0 for t in self.inputs}
        env |= {f"same_{a.name}_{b.name}": 1 for a in self.inputs for b in self.inputs}  # until there are arrays
        env |= {f"stretched_{a.name}_{b.name}": 0 for a in self.inputs for b in self.inputs}
        env |= {f"size_{t.name}_{axis}": 1 for t in self.inputs for axis in ("0", "last")}
        for t in self.inputs:
            place = 0
            for d in t.dims:
                if d.kind == "chosen" and env.setdefault(d.option, place) != place:
                    raise ValueError("one option, two axes")
                place += self.width(d)
            env[f"rank_{t.name}"] = place

    def floating(self) -> bool:
        """Whether the op's type T is a floating one: that of what is promoted to it, or of the default where nothing
        is."""
        given = [DTYPES[self.env[TypeOf + n]] for n in self.op.promoted if self.env.get(Presence + n, 1)]
        return self.op.promote == "float" or not given or any(is_floating(d) for d in given)

    def width(self, d: Dim) -> int:
        """How many physical axes an entry of a pattern has."""
        if d.kind == "domain":
            return sum(len(self.packs[n]) for n in (("kept", "dropped") if d.option else ("I",)))
        return len(self.packs[d.name]) if d.kind == "pack" else 1

    # --- Elements ---

    def arrays(self, shapes: dict[str, list[int]]) -> dict[str, np.ndarray]:
        rng = np.random.default_rng(self.rng.randrange(1 << 30))
        ranges = self.ranges
        classes = {p.name: p.cls for p in self.op.params}
        full: set[str] = set()  # packs that some tensor has at full length
        views = {}
        for t in self.inputs:
            if t.optional and not self.env[Presence + t.name]:
                continue
            shape = self.broadcast(t, shapes[t.name], full)
            kind = classes.get(t.name, "Float")
            if kind == "Bool" or t.dtype == "bool":
                views[t.name] = rng.random(shape) < 0.5
            elif kind in ("Int", "Bits") or t.dtype == "int":
                low, high = ranges.get(t.name, (0, self.bound(t.name)))
                views[t.name] = rng.integers(int(low), max(int(high), int(low) + 1), shape, self.integer_type(t.name))
            else:
                views[t.name] = rng.uniform(*ranges.get(t.name, (-2.0, 2.0)), shape)
            if t.name in definite(self.op):
                views[t.name] = positive(views[t.name], of_complex(self.op, t.name))
        return {n: np.asarray(a) for n, a in views.items()}

    def integer_type(self, name: str) -> type:
        """The type of an input of whole numbers."""
        return np.uint8 if self.env.get(TypeOf + name) == DTYPES.index("uint8") else np.int32

    def broadcast(self, t, shape: list[int], full: set[str]) -> tuple[int, ...]:
        """Some axes of a pack that may be broadcast get length 1, if an earlier tensor has them whole; none of a tensor
        that is changed."""
        out, at = list(shape), 0
        for a in axes(t):
            rank = len(self.packs[a.pack]) if a.pack else 1
            if a.pack and a.broadcast:
                if a.pack in full:
                    for j in range(at, at + rank):
                        if self.rng.random() < 0.3 and not t.mut:
                            out[j] = 1
                elif not t.optional:
                    full.add(a.pack)
            at += rank
        return tuple(out)

    def bound(self, name: str) -> int:
        """One more than the largest legal element of an integer tensor: the shortest axis that it indexes."""
        found = []
        for s in self.op.forward.stmts:
            accesses = [(self.op.forward.tensors[s.target], s.idx)]
            accesses += [(self.op.forward.tensors[r.tensor], r.index) for e in (s.body, s.pred) for r in reads(e)]
            for t, index in accesses:
                for e, a in zip(index, axes(t)):
                    if any(r.tensor == name for r in reads(e)):
                        found.append(int(constant(a.extent, self.env)))
        return min(found, default=3)


def definite(op: OpDef) -> set[str]:
    """The inputs that hold symmetric, or Hermitian, positive-definite matrices."""
    return {s.name for s in op.samples if s.low is None}


def of_complex(op: OpDef, name: str) -> bool:
    """Whether an input holds complex numbers, as pairs."""
    return op.tree is not None and any(p.name == name and p.type.complex for p in op.tree.params)


def positive(a: np.ndarray, pairs: bool) -> np.ndarray:
    """The definite matrices that square ones make; `pairs`: of complex numbers, with both parts on the last axis."""
    z = a[..., 0] + 1j * a[..., 1] if pairs else a
    made = z @ z.swapaxes(-1, -2).conj() + np.eye(z.shape[-1])
    return np.stack([made.real, made.imag], -1) if pairs else made


def number_of(v):
    return int(v) if isinstance(v, bool) else v


def number(e: X) -> float:
    """A number written in a `sample` clause."""
    match e.kind:
        case "num":
            return e.val
        case "neg":
            return -number(e.args[0])
        case "+":
            return number(e.args[0]) + number(e.args[1])
        case "-":
            return number(e.args[0]) - number(e.args[1])
        case "*":
            return number(e.args[0]) * number(e.args[1])
        case "/":
            return number(e.args[0]) / number(e.args[1])
    raise ValueError(f"no number: {e}")


def stretched(shape: tuple[int, ...], other: tuple[int, ...]) -> int:
    """What `stretched(a, b)` says of two shapes."""
    unlike = [n for n, m in zip_longest(shape, other[: len(shape)]) if n != m]
    return len(unlike) if all(n == 1 for n in unlike) and len(shape) <= len(other) else -1
