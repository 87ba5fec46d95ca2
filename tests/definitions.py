"""The definitions of ops/ with their gradients, read once for all tests of a run, and from what the build made of
them."""

import gc

from buildtools.paths import EARLIER
from codegen.earlier import Earlier
from workbench.library import load

# Ops of tensors without elements, also among their results: small random instances have some.
EMPTY = {"batch_norm_empty", "linalg_qr_r"}
LIBRARY = load(earlier=Earlier(EARLIER))
gc.collect()
gc.freeze()  # it stays: looks for garbage need not go through it
