"""Functions as the bytes of a WebAssembly module (https://webassembly.github.io/spec/core/binary/modules.html).

A module imports one memory, `kernels.memory`, and functions of numbers, `kernels.NAME`; it exports its own functions by
their names.  Value types are "i32", "i64", "f32", "f64" and "v128"."""

from __future__ import annotations

from dataclasses import dataclass
from math import copysign

from .instructions import Instruction, form

TYPE_BYTES: dict[str, int] = {"i32": 0x7F, "i64": 0x7E, "f32": 0x7D, "f64": 0x7C, "v128": 0x7B}
NO_RESULT = 0x40  # the type of a block that leaves nothing
PAGES = 65536  # the most that a memory may have


@dataclass
class Function:
    """A function being written.  locals: the types of its variables, after those of its parameters; free: variables
    whose value nobody needs any more.  number: its place among a module's functions, imported ones first."""

    name: str
    parameters: list[str]
    results: list[str]
    locals: list[str]
    code: list[Instruction]
    free: list[int]
    number: int


def new_function(name: str, parameters: list[str], results: list[str], number: int) -> Function:
    return Function(name, parameters, results, [], [], [], number)


def emit(f: Function, name: str, *values: float) -> None:
    f.code.append(Instruction(name, list(values)))


def variable(f: Function, type_: str) -> int:
    """A new variable, or one that was released; its number."""
    for n in f.free:
        if f.locals[n - len(f.parameters)] == type_:
            f.free.remove(n)
            return n
    return new_variable(f, type_)


def new_variable(f: Function, type_: str) -> int:
    """A variable that nothing else has used."""
    f.locals.append(type_)
    return len(f.parameters) + len(f.locals) - 1


def release(f: Function, n: int) -> None:
    """A variable whose value nobody needs any more."""
    f.free.append(n)


def module_bytes(functions: list[Function], imported: list[Function], shared: bool) -> list[int]:
    """The bytes of a module.  imported: what it is given, which comes first in the numbering; shared: the memory is one
    that workers share."""
    types: list[list[int]] = []
    texts: list[str] = []
    numbers: list[int] = []
    for f in imported + functions:
        text = f"{','.join(f.parameters)}>{','.join(f.results)}"
        if text not in texts:
            texts.append(text)
            types.append([0x60, *value_types(f.parameters), *value_types(f.results)])
        numbers.append(texts.index(text))
    limits = [3, 0, *unsigned(PAGES)] if shared else [0, 0]
    imports = [[*named("kernels"), *named("memory"), 2, *limits]]
    for n in range(len(imported)):
        imports.append([*named("kernels"), *named(imported[n].name), 0, *unsigned(numbers[n])])
    exports = [[*named(f.name), 0, *unsigned(f.number)] for f in functions]
    own = [unsigned(n) for n in numbers[len(imported) :]]
    out = [0, 0x61, 0x73, 0x6D, 1, 0, 0, 0]
    out.extend(section(1, types))
    out.extend(section(2, imports))
    out.extend(section(3, own))
    out.extend(section(7, exports))
    out.extend(section(10, [body(f) for f in functions]))
    return out


def body(f: Function) -> list[int]:
    groups: list[list[int]] = []
    count = 0
    for n in range(len(f.locals)):
        count += 1
        if n + 1 == len(f.locals) or f.locals[n + 1] != f.locals[n]:
            groups.append([*unsigned(count), TYPE_BYTES[f.locals[n]]])
            count = 0
    out = vector(groups)
    for i in f.code:
        instruction(i, out)
    out.append(0x0B)
    return sized(out)


def instruction(i: Instruction, out: list[int]) -> None:
    how = form(i.name)
    if how.prefix != 0:
        out.append(how.prefix)
        out.extend(unsigned(how.number))
    else:
        out.append(how.number)
    match how.immediate:
        case "block":
            out.append(int(i.values[0]) if len(i.values) > 0 else NO_RESULT)
        case "integer":
            out.extend(signed(int(i.values[0])))
        case "f64":
            out.extend(double(i.values[0]))
        case "lane" | "lanes":
            out.extend([int(v) for v in i.values])
        case "index" | "memory" | "stored":
            for v in i.values:
                out.extend(unsigned(int(v)))


def value_types(types: list[str]) -> list[int]:
    return [len(types), *[TYPE_BYTES[t] for t in types]]


def section(number: int, items: list[list[int]]) -> list[int]:
    return [number, *sized(vector(items))]


def vector(items: list[list[int]]) -> list[int]:
    out = unsigned(len(items))
    for item in items:
        out.extend(item)
    return out


def sized(content: list[int]) -> list[int]:
    out = unsigned(len(content))
    out.extend(content)
    return out


LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz_"


def named(text: str) -> list[int]:
    """A name: small letters, digits and `_`."""
    out = [len(text)]
    for c in text:
        n = LETTERS.find(c)
        out.append(0x30 + n if n < 10 else 0x5F if n == 36 else 0x57 + n)
    return out


def unsigned(n: int) -> list[int]:
    """LEB128: seven bits a byte, the lowest first."""
    out: list[int] = []
    while n > 0x7F:
        out.append(n % 128 + 128)
        n = n // 128
    out.append(n)
    return out


def signed(n: int) -> list[int]:
    out: list[int] = []
    while n < -0x40 or n >= 0x40:
        out.append(n % 128 + 128)
        n = n // 128
    out.append(n % 128)
    return out


def double(x: float) -> list[int]:
    """The eight bytes of a number, the lowest first."""
    sign = 128 if copysign(1.0, x) < 0 else 0
    size = abs(x)
    if size != size:
        return [0, 0, 0, 0, 0, 0, 0xF8, 0x7F]
    if size * 0.5 == size and size > 0:
        return [0, 0, 0, 0, 0, 0, 0xF0, sign + 0x7F]
    exponent = 1023
    while size >= 2:
        size *= 0.5
        exponent += 1
    while size < 1 and exponent > 1:
        size *= 2.0
        exponent -= 1
    if size < 1:
        exponent = 0
    rest = (size - 1 if exponent > 0 else size) * 16
    top = int(rest)
    out = [exponent % 16 * 16 + top, sign + exponent // 16]
    for _ in range(6):
        rest = (rest - top) * 256
        top = int(rest)
        out.insert(0, top)
    return out
