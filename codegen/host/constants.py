"""Options as constants in a kernel's text: strides, paddings and dilations of windows are few and small.

Division by a constant needs no test for 0 and, where it is 1, no division at all.  Only texts change here;
what is read and when stays as it was."""

from __future__ import annotations

from .model import Call, Code, Nest, Op, ReadCode, StepCode
from .names import safe_name
from .texts import bare, is_word

LARGEST = 64


def windowed(nest: Nest) -> bool:
    """Whether the nest sums over loops that arithmetic uses."""
    for loop in nest.rloops:
        if loop.named: return True
    return False


def constant_options(op: Op, nest: Nest, call: Call) -> dict[str, int]:
    """The words of a windowed nest that are small whole options, as kernels write them, with their values."""
    out: dict[str, int] = {}
    if not windowed(nest): return out
    for w in nest.words:
        if w.kind != "i" or w.value is not None or w.name not in call.env: continue
        for param in op.params:
            if param.kind != "ints" and param.kind != "int" or not numbered(w.name, param.name): continue
            value = call.env[w.name]
            if value >= 0 and value <= LARGEST: out[safe_name(w.name)] = int(value)
    return out


def numbered(name: str, stem: str) -> bool:
    """Whether a name is another one, or that with digits after it."""
    if not name.startswith(stem): return False
    for i in range(len(stem), len(name)):
        if name[i] < "0" or name[i] > "9": return False
    return True


def with_constants(code: Code, constants: dict[str, int]) -> Code:
    """The texts of a nest with `p.name` replaced."""
    accesses = [ReadCode([put_in(text, constants) for text in a.index], put_in(a.guard, constants), put_in(a.fallback, constants)) for a in code.accesses]
    steps = [StepCode(put_in(s.pred, constants), put_in(s.body, constants)) for s in code.steps]
    return Code(accesses, steps)


def put_in(text: str, constants: dict[str, int]) -> str:
    out = ""
    i = 0
    while i < len(text):
        if text[i:i + 2] != "p." or i > 0 and is_word(text[i - 1]):
            out += text[i]
            i += 1
            continue
        end = i + 2
        while end < len(text) and is_word(text[end]): end += 1
        name = text[i + 2:end]
        out += str(constants[name]) if name in constants else text[i:end]
        i = end
    return divided(divided(out, "remainder_whole("), "floor_divide_whole(")


def divided(text: str, function: str) -> str:
    """Calls of a division by a constant written out."""
    at = text.find(function)
    if at < 0: return text
    begin = at + len(function)
    depth = 0
    comma = -1
    end = begin
    while end < len(text) and (depth > 0 or text[end] != ")"):
        if text[end] == "(": depth += 1
        if text[end] == ")": depth -= 1
        if depth == 0 and text[end] == ",": comma = end
        end += 1
    dividend = divided(text[begin:comma], function)
    divisor = text[comma + 2:end]
    rest = divided(text[end + 1:], function)
    return text[:at] + quotient(dividend, divisor, function) + rest


def quotient(a: str, b: str, function: str) -> str:
    for i in range(len(b)):
        if b[i] < "0" or b[i] > "9": return f"{function}{a}, {b})"
    if b == "0": return f"{function}{a}, {b})"
    remainder = f"((({bare(a)}) - ({bare(a)}) / {b} * {b} + {b}) % {b})"     # `%` of what is negative is undefined in OpenGL
    if function == "remainder_whole(": return "0" if b == "1" else remainder
    return f"({bare(a)})" if b == "1" else f"((({bare(a)}) - {remainder}) / {b})"
