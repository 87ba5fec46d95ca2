"""The definitions of ops/ with their gradients, read once for all tests of a run, and from what the build made of
them."""

import gc
from functools import cache

from buildtools.paths import EARLIER
from codegen.api import compiled
from codegen.data.model import Op
from codegen.earlier import Earlier
from dsl.gradients.adjoint import complete
from dsl.opdef import OpDef
from dsl.testing.instance import Instance
from dsl.testing.instances import instances
from workbench.library import load

# Ops of tensors without elements, also among their results: small random instances have some.
EMPTY = {"batch_norm_empty", "linalg_qr_r"}
KEPT = Earlier(EARLIER)
LIBRARY = load(earlier=KEPT)
gc.collect()
gc.freeze()  # it stays: looks for garbage need not go through it


@cache
def data_of(name: str) -> Op:
    """What host code and kernels know of an op, from the build if it has made it; not to be changed."""
    return compiled.data_of(complete(LIBRARY.ops[name]), KEPT)


def drawn(op: OpDef, count: int, seed: int, largest: int = 150) -> list[tuple[int, Instance]]:
    """Numbered random instances of an op (dsl/testing/instances.py): larger ones than asked for, or those of another
    seed, where there are none else.  There is one at least."""
    for n in range(4):
        if found := [*enumerate(instances(op, count, seed + n, max(largest, 400 * n)))]:
            return found
    raise AssertionError(f"no small random instance of {op.name} is legal")


@cache
def packaged(name: str) -> Op:
    """The same as the package has it."""
    return compiled.packaged(LIBRARY.ops[name], data_of(name))
