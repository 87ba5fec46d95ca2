"""A kernel with a raw body, as a function around its JavaScript."""

from __future__ import annotations

import re

from dsl.ir.steps import read_by, stored_by

from ..kernels.kernel import Kernel
from .bodies import add_body
from .names import Names
from .text import Text, open_kernel


def raw_function(kernel: Kernel, name: str) -> str:
    """The function `name`: tensors and numbers under the body's own names, as far as it speaks of them."""
    raw, t = kernel.raw, Text()
    if raw.body.tensors:
        return steps_function(kernel, name)
    used = set(re.findall(r"[A-Za-z_]\w*", raw.body.js))
    tensors = [*raw.inputs, *(n for n, _ in raw.outputs)]
    open_kernel(t, name, f"The body of {raw.body.op}.")
    for k, tensor in enumerate(tensors):
        if tensor in used:
            t.add(f"const {tensor} = args.arrays[{k}];")
    words = [n for n, _ in raw.words if n in used]
    if words:
        t.add(f"const {{ {', '.join(words)} }} = args.words;")
    t.add_all(raw.body.js.split("\n"))
    t.close()
    return str(t)


def steps_function(kernel: Kernel, name: str) -> str:
    """The same for a body of steps."""
    raw, t = kernel.raw, Text()
    body = raw.body
    steps = [s for x in body.launches for s in x.body]
    used = read_by(steps) | stored_by(steps)
    names = Names({"math", "routines", "whole", *(n for n, _ in raw.words), *used})
    open_kernel(t, name, f"The body of {body.op}.")
    for k, tensor in enumerate([*raw.inputs, *(n for n, _ in raw.outputs)]):
        if tensor in used:
            t.add(f"const {tensor} = args.arrays[{k}];")
    if raw.words:
        t.add(f"const {{ {', '.join(n for n, _ in raw.words)} }} = args.words;")
    add_body(t, body, names)
    t.close()
    return str(t)
