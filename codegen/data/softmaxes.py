"""How formulas write a softmax: exponentials of scores less the largest one, divided by their sum.

`safe_softmax` has zeros where every score is minus infinity: it takes 0 for the largest there, and divides by 1 where
the sum is 0.  Such choices are *safe*."""

from __future__ import annotations

from .nodes import Binary, Constant, Element, Local, Node, Result, Select, Unary, Uniform, same


def subtrahend(largest: Node, safe: bool) -> Node:
    """What is taken off the scores of a row."""
    if not safe:
        return largest
    return Select(Binary("==", largest, Unary("-", Uniform("inf"))), Constant("f", 0.0), largest)


def divisor(total: Node, safe: bool) -> Node:
    """What the exponentials of a row are divided by."""
    if not safe:
        return total
    return Select(Binary("==", total, Constant("f", 0.0)), Constant("f", 1.0), total)


def unsafe(e: Node) -> Node:
    """A row's number itself, in a choice that may be safe."""
    match e:
        case Select(no=Result() | Element() | Local() as number):
            return number
        case _:
            return e


def is_subtrahend(e: Node) -> bool:
    """Whether a formula is the number of a row, as it is or safe."""
    number = unsafe(e)
    return number is e or same(e, subtrahend(number, True))
