"""One legal call of an op, with its sizes, options and arrays: what the reference evaluates."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

import numpy as np

from ..ir.axes import of_dim
from ..opdef import MISSING, OpDef, Presence, symbol
from ..reference.interpreter import evaluate
from ..reference.statements import Collision, Outside
from ..text.vocabulary import LISTS

TYPES = {"Bool": "bool", "Int": "int32", "Bits": "int32"}  # of a class of tensors; the others are floating


@dataclass
class Instance:
    """One legal call: what `reference.evaluate` takes."""

    op: OpDef
    env: dict
    packs: dict[str, tuple[int, ...]]
    views: dict[str, np.ndarray]

    @property
    def dtype(self) -> type:
        """The op's type T here: float64, or int32 where all that is promoted to it are whole numbers, uint8 where all
        are bytes."""
        if self.env["floating"]:
            return np.float64
        if self.op.promote == "sum":
            return np.int32
        return (
            np.uint8 if all(self.views[n].dtype == np.uint8 for n in self.op.promoted if n in self.views) else np.int32
        )

    def run(self, program=None, **more) -> dict[str, np.ndarray]:
        """The outputs of the op's forward program, or of another one, here."""
        return evaluate(program or self.op.forward, self.env, self.packs, {**self.views, **more}, dtype=self.dtype)

    def arguments(self, seed: int = 0) -> list:
        """What a caller passes for each parameter: arrays in their own shapes (where a `dim` option drops axes,
        at places drawn from `seed`), numbers, lists, texts, None."""
        rng = random.Random(seed)
        whole = len(self.packs.get("kept", ())) + len(self.packs.get("dropped", ()))
        places = self.places(whole) or sorted(rng.sample(range(whole), len(self.packs.get("dropped", ()))))
        order = [i for i in range(whole) if i not in places] + places
        out: list = []
        for p in self.op.params:
            symbols_ = [f"{p.name}{j}" for j in range(max(p.rank, 0))]
            if (p.optional and not self.env[Presence + p.name]) or (p.kind == "choice" and not p.choices):
                out.append(None)
            elif p.kind == "tensor":
                out.append(self.physical(p.name, order))
            elif p.kind in LISTS:
                out.append(
                    list(self.packs[p.pack])
                    if p.rank < 0
                    else [None if self.env[n] == MISSING else self.env[n] for n in symbols_]
                )
            elif p.kind == "choice":
                out.append(p.choices[self.env[symbol(p.name)]])
            elif p.kind in ("dim", "dims") and symbol(p.name) not in self.env:
                out.append(places if p.kind == "dims" else places[0])
            elif p.kind == "bool":
                out.append(bool(self.env[symbol(p.name)]))
            else:
                out.append(self.env[symbol(p.name)])
        return out

    def places(self, whole: int) -> list[int]:
        """The axis of `whole` ones that a `where` size names, if one does."""
        names = {d.option for t in self.op.tensors.values() for d in t.dims if d.kind == "domain"}
        return [int(self.env[name]) % whole for name, _ in self.op.sizes if name in names]

    def physical(self, name: str, order: list[int]) -> np.ndarray:
        """An input in its own shape: split axes as one, kept and dropped axes at their places."""
        a, at, shape = self.views[name], 0, []
        for d in self.op.tensors[name].dims:
            if d.kind == "domain" and d.option:
                a = np.array(a.transpose(np.argsort(order)), order="C")
                return a
            width = sum(len(self.packs[x.pack]) if x.pack else 1 for x in of_dim(d))
            part = a.shape[at : at + width]
            shape += part if d.kind in ("pack", "domain") else [math.prod(part)]
            at += width
        return a.reshape(shape)

    def leaves(self) -> list[Outside | Collision]:
        """The accesses of the forward program that leave their tensor, and an element that gets two values."""
        audit: list[Outside | Collision] = []
        evaluate(self.op.forward, self.env, self.packs, self.views, dtype=self.dtype, audit=audit)
        return audit

    def legal(self) -> bool:
        try:
            return not self.leaves()
        except KeyError as error:
            (name,) = error.args
            if name in self.op.tensors or name.rstrip("0123456789") in {symbol(p.name) for p in self.op.params}:
                return False  # what is absent
            raise  # a mistake of the compiler
