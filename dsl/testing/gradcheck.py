"""Gradients against central differences in float64, on small random instances of an op."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from ..gradients.adjoint import differentiable, gradient, second
from ..ir.program import Program
from ..opdef import OpDef
from ..reference.interpreter import evaluate
from .instance import Instance
from .instances import definite, instances, of_complex

STEP = 1e-5
# The place that moves along with a place of an input, and the sign of its change.
Mirror = Callable[[tuple], tuple[tuple, int]]


@dataclass
class Checked:
    """places: elements compared.  wrong: what differs, in words."""

    places: int = 0
    wrong: list[str] = field(default_factory=list)


def check(
    op: OpDef,
    count: int = 5,
    seed: int = 0,
    largest: int = 200,
    twice: bool = False,
    tolerance: float = 2e-4,
    only: Callable[[Instance], bool] = lambda instance: True,
    counts: Callable[[Instance, str, tuple], bool] = lambda instance, name, at: True,
) -> Checked:
    """Compares the gradient program of an op (twice: of its gradient program) with central differences, in up
    to `count` instances, at up to four elements of each input.  Kinks and values that are not finite are left
    out, and so are instances that `only` refuses and elements (of an input, at a place) that `counts` refuses.  A
    matrix sampled as definite stays symmetric: its two triangles are moved together."""
    found, rng = Checked(), np.random.default_rng(seed)
    first = op.gradient or gradient(op)
    back = (op.gradient2 or second(op, first)) if twice else first
    if back is None:
        return found
    for instance in islice(filter(only, instances(op, 20 * count, seed, largest)), count):
        inputs = (
            {**instance.views, **{n: a for n, a in instance.run().items() if n in op.outputs}}
            if twice
            else dict(instance.views)
        )
        program = op.forward
        if twice:
            program = first
            for n in op.outputs:
                if inputs[n].dtype.kind == "f":
                    inputs["g_" + n] = rng.standard_normal(inputs[n].shape)
        outputs = program.outputs if twice else op.outputs
        values = evaluate(program, instance.env, instance.packs, inputs, outputs, instance.dtype)
        values = {n: a for n, a in values.items() if n in outputs}
        prefix = "gg_" if twice else "g_"
        weights = {n: rng.standard_normal(a.shape) for n, a in values.items() if a.dtype.kind == "f"}
        given = {prefix + (n[2:] if twice else n): w for n, w in weights.items()}
        got = evaluate(
            back, instance.env, instance.packs, {**inputs, **({} if twice else values), **given}, dtype=instance.dtype
        )
        params = {p.name for p in op.params}  # one that is changed in place is an output, too
        names = (
            [
                n
                for n in program.inputs
                if program.tensors[n].role == "cotangent" or (differentiable(op, n) if n in params else n in op.outputs)
            ]
            if twice
            else None
        )
        compare(found, program, instance, inputs, weights, got, "dd_" if twice else "d_", tolerance, rng, names, counts)
    return found


def compare(
    found: Checked,
    program: Program,
    instance: Instance,
    inputs: dict,
    weights: dict,
    got: dict,
    prefix: str,
    tolerance: float,
    rng: np.random.Generator,
    names: list[str] | None,
    counts: Callable[[Instance, str, tuple], bool],
):
    """names: inputs whose gradient is zero if `got` has none; otherwise only what `got` has is looked at."""
    for n in names if names is not None else [d[len(prefix) :] for d in got]:
        if n not in inputs or inputs[n].dtype.kind != "f":
            continue
        a = got.get(prefix + n, np.zeros(inputs[n].shape))
        if a.shape != inputs[n].shape:
            found.wrong.append(f"{prefix}{n} has shape {a.shape}, {n} has {inputs[n].shape}")
            continue
        mirrored = mirror_of(instance.op, n)
        for at, slope in difference(program, instance.env, instance.packs, inputs, n, weights, rng, mirrored=mirrored):
            if not np.isfinite(slope) or not counts(instance, n, at):
                continue
            found.places += 1
            also, sign = mirrored(at) if mirrored else (at, 1)
            derived = a[at] if (also, sign) == (at, 1) else a[at] + sign * a[also]
            if not abs(derived - slope) <= tolerance * (0.1 + abs(slope)):
                place = f"{prefix}{n}{[int(i) for i in at]}"
                found.wrong.append(f"{place} is {derived:.6g}, but the slope is {slope:.6g} in {instance.env}")


def mirror_of(op: OpDef, name: str) -> Mirror | None:
    """Of an input that holds definite matrices: the place across the diagonal from a place, and the sign of what is
    there, as imaginary parts have another one; on the diagonal they are none."""
    if name not in definite(op):
        return None
    if of_complex(op, name):
        return lambda at: ((*at[:-3], at[-2], at[-3], at[-1]), -1 if at[-1] else 1)
    return lambda at: ((*at[:-2], at[-1], at[-2]), 1)


def difference(
    program: Program,
    env: dict,
    packs: dict,
    views: dict,
    name: str,
    weights: dict[str, np.ndarray],
    rng: np.random.Generator,
    places: int = 4,
    step: float = STEP,
    mirrored: Mirror | None = None,
) -> list[tuple[tuple, float]]:
    """Central differences of the sum of a program's outputs, times `weights`, by elements of one input:
    [(place, slope)], NaN where the program has a kink.  mirrored: the element across the diagonal moves along."""
    x = views[name].copy()
    views = {**views, name: x}

    def value() -> float:
        out = evaluate(program, env, packs, views, list(weights), np.float64)
        return sum(float((w * out[n]).sum()) for n, w in weights.items())

    found = []
    for flat in rng.permutation(x.size)[:places]:
        at = np.unravel_index(flat, x.shape)
        old, here, values = x[at], value(), []
        also, sign = mirrored(at) if mirrored else (at, 1)
        for by in (step, -step):
            x[at], x[also] = old + by, sign * (old + by)
            values.append(value())
        x[at], x[also] = old, sign * old
        up, down = (values[0] - here) / step, (here - values[1]) / step
        found.append((at, (up + down) / 2 if abs(up - down) < 1e-2 * (1 + abs(up + down)) else np.nan))
    return found
