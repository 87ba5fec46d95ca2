"""Functions as the bytes of a WebAssembly module (https://webassembly.github.io/spec/core/binary/modules.html).

A module imports one memory, `kernels.memory`, and functions of numbers, `kernels.NAME`; it exports its own functions by
their names.  Value types are "i32", "i64", "f32", "f64" and "v128"."""

from __future__ import annotations

from dataclasses import dataclass
from struct import pack

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
    limits = [3, 0] if shared else [0, 0]
    if shared:
        unsigned(PAGES, limits)
    imports = [[*named("kernels"), *named("memory"), 2, *limits]]
    for n in range(len(imported)):
        imports.append([*named("kernels"), *named(imported[n].name), 0])
        unsigned(numbers[n], imports[n + 1])
    exports: list[list[int]] = []
    own: list[list[int]] = []
    for n in range(len(functions)):
        exports.append([*named(functions[n].name), 0])
        unsigned(functions[n].number, exports[n])
        own.append([])
        unsigned(numbers[len(imported) + n], own[n])
    out = [0, 0x61, 0x73, 0x6D, 1, 0, 0, 0]
    section(1, types, out)
    section(2, imports, out)
    section(3, own, out)
    section(7, exports, out)
    section(10, [body(f) for f in functions], out)
    return out


def body(f: Function) -> list[int]:
    groups: list[list[int]] = []
    count = 0
    for n in range(len(f.locals)):
        count += 1
        if n + 1 == len(f.locals) or f.locals[n + 1] != f.locals[n]:
            group: list[int] = []
            unsigned(count, group)
            group.append(TYPE_BYTES[f.locals[n]])
            groups.append(group)
            count = 0
    content = vector(groups)
    for i in f.code:
        instruction(i, content)
    content.append(0x0B)
    out: list[int] = []
    sized(content, out)
    return out


def instruction(i: Instruction, out: list[int]) -> None:
    how = form(i.name)
    if how.prefix != 0:
        out.append(how.prefix)
        unsigned(how.number, out)
    else:
        out.append(how.number)
    match how.immediate:
        case "index" | "memory" | "stored":
            for v in i.values:
                unsigned(int(v), out)
        case "block":
            out.append(int(i.values[0]) if len(i.values) > 0 else NO_RESULT)
        case "integer":
            signed(int(i.values[0]), out)
        case "f64":
            double(i.values[0], out)
        case "lane" | "lanes":
            out.extend([int(v) for v in i.values])


def value_types(types: list[str]) -> list[int]:
    return [len(types), *[TYPE_BYTES[t] for t in types]]


def section(number: int, items: list[list[int]], out: list[int]) -> None:
    out.append(number)
    sized(vector(items), out)


def vector(items: list[list[int]]) -> list[int]:
    out: list[int] = []
    unsigned(len(items), out)
    for item in items:
        out.extend(item)
    return out


def sized(content: list[int], out: list[int]) -> None:
    unsigned(len(content), out)
    out.extend(content)


LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz_"


def named(text: str) -> list[int]:
    """A name: small letters, digits and `_`."""
    out = [len(text)]
    for c in text:
        n = LETTERS.find(c)
        out.append(0x30 + n if n < 10 else 0x5F if n == 36 else 0x57 + n)
    return out


def unsigned(n: int, out: list[int]) -> None:
    """LEB128: seven bits a byte, the lowest first."""
    rest = n
    while rest > 0x7F:
        out.append(rest % 128 + 128)
        rest = rest // 128
    out.append(rest)


def signed(n: int, out: list[int]) -> None:
    rest = n
    while rest < -0x40 or rest >= 0x40:
        out.append(rest % 128 + 128)
        rest = rest // 128
    out.append(rest % 128)


def double(x: float, out: list[int]) -> None:
    """The eight bytes of a number, the lowest first; engines disagree on those of what is not one."""
    if x == x:
        out.extend(pack("<d", x))
    else:
        out.extend([0, 0, 0, 0, 0, 0, 0xF8, 0x7F])
