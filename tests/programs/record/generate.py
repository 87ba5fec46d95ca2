"""Random programs of tensor operations, made by running them in PyTorch.

`program(seed)`: 10 to 40 steps over small tensors of any rank from 0 to 6, among them empty ones, views that do not lie
in order, all types, changes in place, assignments by index, gradients of first and second order, and now and then calls
that PyTorch refuses.
"""

from __future__ import annotations

from changes import Changes
from elements import Elements
from gradients import Gradients
from layers import Layers
from matrices import Matrices
from others import Others
from places import Places
from views import Views


class Generator(Elements, Views, Places, Changes, Matrices, Layers, Others, Gradients):
    def next(self) -> bool:
        r = self.rng
        kinds = [
            self.unary,
            self.functional,
            self.binary,
            self.reduce,
            self.scan,
            self.view,
            self.view,
            self.getitem,
            self.join,
            self.gather,
            self.scatter,
            self.inplace,
            self.inplace,
            self.setitem,
            self.setitem,
            self.matmul,
            self.convert,
            self.where,
            self.shaping,
            self.loss,
            self.layer,
            self.sorting,
            self.create,
            self.special,
        ]
        if self.grads:
            kinds += [self.track, self.grad, self.untracked]
        return r.choice(kinds)()


def program(seed: int, device: str = "cpu") -> dict:
    g = Generator(seed, device)
    for _ in range(g.rng.randint(1, 3)):
        g.const(dtype="float32" if g.rng.random() < 0.7 else None)
    wanted = g.rng.randint(10, 40)
    tries = 0
    made = 0
    while made < wanted and tries < 400 and len(g.live) < 90:
        tries += 1
        try:
            before = len(g.steps)
            if g.next() and len(g.steps) > before:
                made += 1
        except (IndexError, ZeroDivisionError, OverflowError, RuntimeError):
            pass
    g.finish()
    return {"id": f"fuzz-{seed}", "steps": g.steps}
