"""What the tour in docs/design.md shows of softmax: each text as the compiler makes it now."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

import workbench
from buildtools.paths import ROOT
from codegen.api.compiled import programs
from codegen.api.modules import ops_module
from codegen.api.notation import Writer
from codegen.kernels.kernel import Kernel
from codegen.planner.plan import plan
from workbench.function import Function, standard
from workbench.kernels import TYPICAL

PAGE = ROOT / "docs" / "design.md"
# `<!-- shows NAME -->` and the block of code behind it.
SHOWN = re.compile(r"(<!-- shows (\w+) -->\n+```\w*\n)(.*?)(?=```\n)", re.S)
ROWS, LENGTH = 64, 1000


def softmax() -> Function:
    found = workbench.op("softmax", on="numpy")
    assert found.data
    return found


def definition() -> str:
    op = softmax().op
    source = standard().sources[op.file]
    return source.text[op.tree.span[0] : op.tree.span[1]].rstrip()


def derived() -> str:
    """The gradient where the definition gives none."""
    lines = [line for line in definition().splitlines() if not re.match(r" +(as|module|grad|test) ", line)]
    found = workbench.op("\n".join(lines).replace("softmax", "underived", 1) + "\n", on="numpy")
    assert found.data
    return str(found.op.gradient)


def described(kernel: Kernel) -> str:
    """A kernel as the formulas of its steps."""
    reads = [f"r{n} = {a.tensor}[{', '.join(map(str, a.index))}]" for n, a in enumerate(kernel.accesses)]
    lines = [f"{kernel.shape}: for each {', '.join(map(str, kernel.loops))}; over {', '.join(map(str, kernel.rloops))}"]
    for step in kernel.steps:
        if step.kind == "reduce":
            lines.append(f"acc{step.result} = {step.red} {step.body}")
        else:
            lines.append(f"{reads[step.target].partition(' = ')[2]} = {step.body}")
    stored = {step.target for step in kernel.steps if step.kind == "store"}
    return "\n    ".join([lines[0], *(r for n, r in enumerate(reads) if n not in stored), *lines[1:]])


def wgsl() -> str:
    """The entry of the kernel of a call, without the functions that it calls."""
    f = softmax()
    call, _ = f.bind((np.zeros((ROWS, LENGTH), np.float32), -1), {}, "gpu")
    wanted = [n for n, slot in enumerate(f.data.slots) if slot.name == "out"]
    (launch,) = plan(f.data, 0, call, wanted, TYPICAL, f.rules)
    return launch.code[launch.code.index("@compute") :].rstrip()


def function() -> str:
    text = ops_module(softmax().op.file, [softmax().op])
    return text[text.index("export ") :].rstrip()


MADE: dict[str, Callable[[], str]] = {
    "definition": definition,
    "loops": lambda: str(softmax().op.forward),
    "gradient": lambda: str(softmax().op.gradient),
    "derived": derived,
    "second": lambda: str(softmax().op.gradient2),
    "kernels": lambda: "\n".join(described(n) for n in programs(softmax().op)[0][0]),
    "notation": lambda: Writer(softmax().data).programs().rstrip(),
    "wgsl": wgsl,
    "function": function,
    "meaning": lambda: repr(softmax().numpy([[1.0, 2.0, 3.0]], -1)),
}


def renewed(page: str) -> str:
    """The page with every text as it is made now."""
    return SHOWN.sub(lambda m: f"{m[1]}{MADE[m[2]]()}\n", page)
