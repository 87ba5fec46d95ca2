"""The tensors of a program while it is made: which there are, new ones, and what fits beside one; a step, run at once.

What PyTorch takes back with a TypeError no program holds; of what it refuses otherwise, some."""

from __future__ import annotations

import random

import numpy as np
import torch
from answers import Runner, dtype_name, raw

FLOATS = [0.5, -0.5, 1.5, 0.25, -1.25, 2.5, 0.75]
INTS = [0, 1, 2, -1, 3, -2]


class Values:
    def __init__(self, seed: int, device: str = "cpu") -> None:
        self.rng = random.Random(seed)
        self.device = device
        self.run = Runner()
        self.steps: list[dict] = []
        self.count = 0
        self.live: list[int] = []
        self.made: dict[int, int] = {}
        self.grads = self.rng.random() < 0.75
        self.exact = self.rng.random() < 0.5  # only halves and quarters, few transcendental functions

    # ---- values
    def shape(self, most: int = 64) -> list[int]:
        r = self.rng
        while True:
            rank = r.choices(range(7), [2, 4, 6, 4, 2, 1, 1])[0]
            s = [r.choices([0, 1, 2, 3, 4, 5, 8, 17], [0.5, 3, 5, 5, 4, 2, 1, 0.4])[0] for _ in range(rank)]
            if np.prod(s) <= most:
                return s

    def array(self, shape, dtype: str) -> np.ndarray:
        r = np.random.default_rng(self.rng.getrandbits(32))
        if dtype.startswith("float"):
            a = r.integers(-12, 13, shape) / 4 if self.exact or self.rng.random() < 0.5 else r.uniform(-2, 2, shape)
            if self.rng.random() < 0.04 and a.size:
                a = np.asarray(a, dtype=float).copy()
                a.flat[self.rng.randrange(a.size)] = self.rng.choice([np.nan, np.inf, -np.inf, -0.0])
            return np.asarray(a, dtype=dtype)
        if dtype == "bool":
            return np.asarray(r.integers(0, 2, shape), dtype=bool)
        return np.asarray(r.integers(0, 6, shape) if dtype == "uint8" else r.integers(-4, 5, shape), dtype=dtype)

    def const(self, shape=None, dtype=None, rg=None, array=None) -> int:
        if dtype is None:
            wide = [] if self.device == "webgpu" else ["float64"]
            dtype = self.rng.choices(
                ["float32", "int32", "int64", "bool", "uint8", "int8", *wide],
                [12, 2, 1.5, 1.5, 0.7, 0.7, *[1 for _ in wide]],
            )[0]
        shape = self.shape() if shape is None else shape
        a = self.array(shape, dtype) if array is None else np.asarray(array, dtype=dtype)
        t = torch.from_numpy(np.ascontiguousarray(a).reshape(shape).copy())
        if rg is None:
            rg = self.grads and t.is_floating_point() and self.rng.random() < 0.5
        w = raw(t)
        w["rg"] = bool(rg and t.is_floating_point())
        n = self.new()
        step = {"f": "const", "o": n, "w": w}
        self.run.run(step)
        self.steps.append(step)
        self.live.append(n)
        return n

    def new(self) -> int:
        self.count += 1
        return self.count - 1

    def t(self, n: int) -> torch.Tensor:
        return self.run.env[n]

    def pick(self, test=None) -> int | None:
        def passes(n):
            try:
                return test is None or test(self.t(n))
            except RuntimeError:  # a view of several whose base was changed in place
                return False

        c = [n for n in self.live if passes(n)]
        if not c:
            return None
        return self.rng.choice(c[-8:] if self.rng.random() < 0.7 else c)

    def float(self, test=None):
        return self.pick(lambda t: t.is_floating_point() and (test is None or test(t)))

    def scalar(self, t: torch.Tensor | None = None):
        return self.rng.choice(
            FLOATS
            if self.rng.random() < 0.5 and not (t is not None and not t.is_floating_point() and self.rng.random() < 0.6)
            else INTS
        )

    def dim(self, t: torch.Tensor) -> int:
        if t.dim() == 0:
            return self.rng.choice([0, -1])
        if self.rng.random() < 0.015:
            return t.dim() + self.rng.randrange(2)
        return self.rng.randrange(-t.dim(), t.dim())

    def dims(self, t: torch.Tensor) -> list[int]:
        if t.dim() == 0:
            return []
        k = self.rng.randint(1, t.dim())
        return [d - t.dim() if self.rng.random() < 0.3 else d for d in self.rng.sample(range(t.dim()), k)]

    def like(self, t: torch.Tensor, dtype=None, rg=None) -> int:
        """A tensor that broadcasts to t's shape."""
        s = [1 if self.rng.random() < 0.2 else n for n in t.shape]
        if s and self.rng.random() < 0.25:
            s = s[self.rng.randint(0, len(s)) :]
        return self.const(s, dtype or (dtype_name(t.dtype) if self.rng.random() < 0.8 else None), rg)

    def partner(self, t: torch.Tensor) -> int:
        def fits(u):
            try:
                return (
                    torch.broadcast_shapes(t.shape, u.shape) is not None
                    and np.prod(torch.broadcast_shapes(t.shape, u.shape)) < 600
                )
            except RuntimeError:
                return self.rng.random() < 0.01

        n = self.pick(fits) if self.rng.random() < 0.6 else None
        return self.like(t) if n is None else n

    def index_tensor(self, size: int, shape, negative=False) -> int:
        lo = -size if negative else 0
        return self.const(
            shape,
            "int64",
            False,
            np.array([self.rng.randrange(lo, size) if size else 0 for _ in range(int(np.prod(shape)))]).reshape(shape),
        )

    # ---- a step
    def do(self, f: str, a: list, k: dict | None = None, ng: bool = False) -> bool:
        step = {"f": f, "a": a, "k": k or {}}
        if ng:
            step["ng"] = 1
        before = {id(t): n for n, t in self.run.env.items()}
        try:
            with torch.set_grad_enabled(not ng):
                out = self.run.call(step)
        except (TypeError, ValueError, AttributeError) as error:
            if not isinstance(error, (ValueError,)):
                return False  # not a call that Python would take
            self.steps.append(step)
            return True
        except Exception:
            if self.rng.random() < 0.7 or f.endswith("backward") or f.endswith("grad"):
                self.steps.append(step)
                return True
            return False

        if self.device == "webgpu" and wide(out):
            return False

        def walk(x):
            if isinstance(x, torch.Tensor):
                if id(x) in before:
                    return {"t": before[id(x)]}
                n = self.new()
                self.run.env[n] = x
                if x.numel() <= 700 and x.dtype in (
                    torch.float32,
                    torch.float64,
                    torch.int32,
                    torch.int64,
                    torch.bool,
                    torch.uint8,
                    torch.int8,
                    torch.float16,
                ):
                    self.live.append(n)
                return {"t": n}
            if isinstance(x, (list, tuple)):
                return [walk(y) for y in x]
            return None

        step["o"] = walk(out)
        if step["o"] is None:
            del step["o"]
        self.steps.append(step)
        return True

    def T(self, n):
        return {"t": n}


def wide(x) -> bool:
    """Whether a tensor of float64, which a GPU does not have, is among the results: float_power answers one to any
    type."""
    if isinstance(x, (list, tuple)):
        return any(map(wide, x))
    return isinstance(x, torch.Tensor) and x.dtype == torch.float64


def fits(t, u):
    try:
        torch.broadcast_shapes(t.shape, u.shape)
        return True
    except RuntimeError:
        return False
