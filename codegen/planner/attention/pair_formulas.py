"""Formulas of an attention's kernels, rewritten: without branches, and without what says that float32 is rounded."""

from __future__ import annotations

from ...data.model import Code, Kernel, Step, StepCode
from ...data.nodes import Apply, Binary, Node, Rounded, mapped

# A branch waits for each of a thread's pairs by itself.  Here exponentials are of a score less the largest one, and
# quotients of such by their sum, so that the edges of both functions are out of reach.
BRANCHLESS = {"exp_of": "exp_below", "divide": "ratio"}

# How far a score may be above what is subtracted from it: exponentials up to that, and sums of as many as memory holds,
# are far from infinite, and their digits are the same.
ROOM = "32.0"


def branchless(name: str) -> str:
    return BRANCHLESS[name] if name in BRANCHLESS else name


def straight(e: Node, exponential: str) -> Node:
    """A formula of pairs without branches; exponential: the function of its weights."""
    match e:
        case Apply(name=name, operands=operands):
            first = operands[0]
            of_weights = name == exponential or isinstance(first, Apply) and first.name == exponential
            return Apply(branchless(name) if of_weights else name, [straight(x, exponential) for x in operands])
        case Binary(operator="&&", left=left, right=right):
            return Binary("&", straight(left, exponential), straight(right, exponential))
        case Binary(operator="||", left=left, right=right):
            return Binary("|", straight(left, exponential), straight(right, exponential))
        case _:
            return mapped(e, lambda x: straight(x, exponential))


def unrounded(kernel: Kernel) -> Kernel:
    """A kernel of float32 as fusion left it, without what says that its numbers are rounded as float32: they are."""
    code = kernel.floating
    if code is None:
        return kernel
    steps = [StepCode(step.pred, exact(step.body)) for step in code.steps]
    return with_steps(kernel, kernel.steps, Code(code.accesses, steps))


def with_steps(kernel: Kernel, steps: list[Step], code: Code | None) -> Kernel:
    """A kernel that does something else in the same loops."""
    return Kernel(
        kernel.shape,
        kernel.when,
        kernel.loops,
        kernel.rloops,
        kernel.spread,
        kernel.accesses,
        steps,
        kernel.left,
        code,
        kernel.integral,
        kernel.uniforms,
        kernel.constants,
        kernel.reverse,
        kernel.makes,
        kernel.number,
        kernel.raw,
    )


def exact(e: Node) -> Node:
    match e:
        case Rounded(operand=operand):
            return exact(operand)
        case _:
            return mapped(e, exact)
