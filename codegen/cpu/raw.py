"""A nest with a raw body, as a function around its JavaScript."""

from __future__ import annotations

import re

from codegen.nests import Nest

from .text import Text, open_kernel


def raw_function(nest: Nest, name: str) -> str:
    """The function `name`: tensors and numbers under the body's own names, as far as it speaks of them."""
    raw, t = nest.raw, Text()
    used = set(re.findall(r"[A-Za-z_]\w*", raw.body.js))
    tensors = [*raw.inputs, *(n for n, _ in raw.outputs)]
    open_kernel(t, name, f"The body of {raw.body.op}.")
    for k, tensor in enumerate(tensors):
        if tensor in used:
            t.add(f"const {tensor} = nest.arrays[{k}];")
    words = [n for n, _ in raw.words if n in used]
    if words:
        t.add(f"const {{ {', '.join(words)} }} = nest.words;")
    t.add_all(raw.body.js.split("\n"))
    t.close()
    return str(t)
