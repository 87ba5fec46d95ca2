"""What decides about kernels: what nodes and declarations say, never how a name or a text is spelled; and numbers that
have a name with its reason beside it.  By the syntax trees of the compiler's sources, and by mypy's types of them."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from buildtools.paths import EARLIER, ROOT
from codegen.earlier import Earlier
from codegen.translator.inferred import Span, inferred, span
from codegen.translator.subset import STR, Type

WASM = ("wasm", "wasm/planning", "wasm/scalars", "wasm/tiles")
COMPILER = ("dsl/ir", "dsl/gradients", "dsl/lowering", "dsl/reference", "codegen/kernels", "codegen/data") + tuple(
    f"codegen/{name}" for name in ("binding", "planner", "planner/strategies", "fusion", "wgsl", *WASM)
)
# Where a text is read: doors, through which a notation comes in once, or names go out.  A file, or a function of one.
DOORS = {
    "codegen/kernels/loop_notation.py": "reads the loop programs that the package carries",
    "codegen/data/written.py": "reads the formulas that the package carries",
    "codegen/data/statements.py": "reads the steps of routines and bodies that the package carries",
    "codegen/data/functions.py routine_of": "names of routines in those formulas",
    "codegen/data/functions.py of_integers": "names of routines in those formulas",
    "codegen/data/errors.py decimal": "writes a number",
    "codegen/data/errors.py refused": "messages as definitions write them: which error they are",
    "codegen/data/errors.py warned": "messages as definitions write them: whether they only warn",
    "codegen/binding/binding.py filled": "fills the holes of a message",
    "codegen/binding/splits.py bind_factors": "shapes as definitions write them: factors are names or numbers",
    "codegen/kernels/verified.py Verifier.applied": "the kinds of operands, a letter each",
    "codegen/planner/printed.py literal": "writes a number",
    "codegen/wasm/scalars/functions.py": "reads the formulas of functions, tables of this file",
    "codegen/wasm/scalars/helpers.py": "reads the instructions of functions, tables of this file",
    "codegen/wasm/encoder.py named": "writes a name in letters",
    "codegen/wasm/instructions.py form": "reads a table of this file",
    "codegen/wgsl/bodies.py Writer.first": "lays out lines",
    "codegen/wgsl/prelude.py": "reads which functions the prelude has, and what each says it calls",
    "codegen/wgsl/names.py Names.of": "makes a name of a body's local for WGSL",
    "codegen/kernels/procedures.py BodyStatements.name": "makes a name of a body's local for the notation",
    "dsl/ir/program.py Fresh": "makes names",
    "dsl/ir/program.py Stmt.__repr__": "lays out a line",
    "dsl/ir/program.py is_made": "the rule of names: those that the compiler makes end in `_`, no other does",
    "dsl/gradients/reverse.py Reverse.names": "makes names of loops",
    "dsl/lowering/dims.py": "shapes as definitions write them: factors are names or numbers",
    "dsl/lowering/index_calls.py on_the_left": "the rule of names: sizes begin with a capital",
    "dsl/lowering/inline.py": "an axis as a definition writes it: a name or a number; a name that begins like no other",
    "dsl/lowering/renaming.py": "messages as definitions write them",
    "dsl/lowering/signature_ir.py": "messages as definitions write them",
    "dsl/lowering/lower.py Lowering.lowered": "fills the holes of names of a family of ops",
    "dsl/lowering/statements.py Statements.loop": "makes a name of a loop",
    "dsl/lowering/whole_tensors.py Whole.loops": "makes names of loops",
    "dsl/lowering/whole_tensors.py Whole.taken": "an axis as a definition writes it: a name or a number",
    "dsl/lowering/whole_tensors.py is_constant": "the rule of names: sizes begin with a capital",
    "dsl/lowering/statements.py Statements.is_size": "the rule of names: sizes begin with a capital",
    "dsl/reference/body_run.py Writer.show": "makes a name of a body's local for Python",
}
READING = (
    "startswith endswith find rfind replace removeprefix removesuffix partition rpartition split rsplit splitlines "
    "isdigit isidentifier isalpha isalnum isupper islower"
).split()
WRITING = ("encode", "format", "join")  # what may be asked of a text that mypy knows to be one
MEASURING = ("enumerate", "len", "list", "max", "min", "ord", "reversed", "set", "sorted", "tuple", "zip")
Types = dict[Span, Type]


def within(tree: ast.AST, name: str = "") -> Iterator[tuple[str, ast.AST]]:
    """Every node with the function or class that it stands in."""
    for child in ast.iter_child_nodes(tree):
        inner = name
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            inner = f"{name}.{child.name}".lstrip(".")
        yield inner, child
        yield from within(child, inner)


def reads_text(n: ast.AST) -> bool:
    """Whether a node asks how a text is spelled."""
    match n:
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in READING and not isinstance(n.func.value, ast.Constant)  # a table
        case ast.Attribute(value=ast.Name(id="re")):
            return True
        case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[ast.Constant(value=str()) | ast.JoinedStr()]):
            return True
    return False


def takes_apart(n: ast.AST, types: Types) -> bool:
    """Whether a node asks for letters of what mypy knows to be a text, or how long it is."""

    def is_text(e: ast.AST) -> bool:
        t = types.get(span(e))
        table = isinstance(e, ast.Constant) or isinstance(e, ast.Name) and e.id.isupper()
        return not table and (t == STR or t is not None and t[0] == "literal")

    match n:
        case ast.Subscript(value=e) | ast.For(iter=e) | ast.comprehension(iter=e):
            return is_text(e)
        case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[e]):
            return is_text(e)
        case ast.Call(func=ast.Attribute(value=e, attr=name)):
            return is_text(e) and name not in WRITING
        case ast.Call(func=ast.Name(id=name), args=args):
            compares = name in ("max", "min") and len(args) > 1
            return name in MEASURING and not compares and any(map(is_text, args))
    return False


def texts_read(source: str, types: Types) -> list[tuple[str, str]]:
    """The functions that read a text, and how."""
    nodes = within(ast.parse(source))
    return [(name, ast.unparse(n)) for name, n in nodes if reads_text(n) or takes_apart(n, types)]


def door(file: str, name: str) -> str | None:
    """The door that a function of a file is part of."""
    parts = name.split(".")
    names = [file, *(f"{file} {'.'.join(parts[: n + 1])}" for n in range(len(parts)))]
    return next((n for n in names if n in DOORS), None)


def sources() -> dict[str, str]:
    files = [f for folder in COMPILER for f in sorted((ROOT / folder).glob("*.py"))]
    return {f.relative_to(ROOT).as_posix(): f.read_text(encoding="utf-8") for f in files}


TYPED = """
def f(text: str, names: list[str], n: int) -> bool:
    for letter in text:
        n += len(text + letter) + len(names)
    return text[0] == names[0][1:] or n in [n] or text.count("a") > len([*names]) or "a" in text or max(text, "b") == ""
"""


def types_of(files: dict[str, Path]) -> dict[str, Types]:
    """What mypy knows of the expressions of these files."""
    modules = {name.removesuffix(".py").removesuffix("/__init__").replace("/", "."): f for name, f in files.items()}
    found = inferred(modules, [ROOT])
    return {name: found[module].types for name, module in zip(files, modules, strict=True)}


@pytest.fixture(scope="module")
def types(tmp_path_factory) -> dict[str, Types]:
    """Of the sources, and of TYPED."""
    typed = tmp_path_factory.mktemp("typed") / "typed.py"
    typed.write_text(TYPED, encoding="utf-8")
    files = {name: ROOT / name for name in sources()} | {typed.name: typed}
    return Earlier(EARLIER).get(lambda: types_of(files), "types", *sources().values(), TYPED)


def test_no_pass_reads_a_text(types):
    read = [(file, *x) for file, source in sources().items() for x in texts_read(source, types[file])]
    assert len(sources()) > 120 and len(read) > 100
    assert [x for x in read if door(*x[:2]) is None] == []
    assert DOORS.keys() - {door(*x[:2]) for x in read} == set(), "no text is read there any more"


def test_reading_a_text_is_found(types):
    source = """
class A:
    def f(self, name):
        return name.startswith("has_") or re.match("x", name) or "max" in name or name in ("a", "b") or name in "ab"
"""
    assert [n for n, _ in texts_read(source, {})] == ["A.f"] * 3
    wanted = {"for letter in text:", "len(text + letter)", "text[0]", "names[0][1:]", "text.count('a')", "'a' in text"}
    assert {how.split("\n")[0] for _, how in texts_read(TYPED, types["typed.py"])} == wanted


# --- Numbers ---------------------------------------------------------------------------------------

LARGE = 4  # numbers up to it are counts of things that are there: lanes of a vector, axes, operands
DECIDING = (
    "codegen/planner",
    "codegen/planner/strategies",
    "codegen/fusion",
    "codegen/kernels",
    "codegen/wasm/planning",
)


def deciding() -> list[Path]:
    paths = [ROOT / name for name in DECIDING]
    return [f for p in paths for f in (sorted(p.glob("*.py")) if p.is_dir() else [p])]


def is_large(n: ast.AST) -> bool:
    return isinstance(n, ast.Constant) and isinstance(n.value, int | float) and abs(n.value) > LARGE


def bare_numbers(source: str) -> list[str]:
    """Comparisons with a number, the least or greatest of one, that has no name."""
    found = []
    for n in ast.walk(ast.parse(source)):
        match n:
            case ast.Compare() | ast.Call(func=ast.Name(id="min" | "max")):
                if any(map(is_large, ast.walk(n))):
                    found.append(ast.unparse(n))
    return found


def unreasoned(source: str) -> list[str]:
    """Named numbers of a file without a comment beside or above."""
    lines, found = source.splitlines(), []
    for n in ast.parse(source).body:
        if not isinstance(n, ast.Assign | ast.AnnAssign) or n.value is None:
            continue
        target = n.targets[0] if isinstance(n, ast.Assign) else n.target
        if not re.fullmatch("[A-Z_0-9]+", ast.unparse(target).replace(", ", "")):
            continue
        values = n.value.elts if isinstance(n.value, ast.Tuple) else [n.value]
        if not all(any(map(is_large, ast.walk(v))) and not list(strings(v)) for v in values):
            continue
        above = n.lineno - 2
        while above >= 0 and re.match(r"[A-Z_0-9, ]+(: \w+)? = ", lines[above]):
            above -= 1
        if "  # " not in lines[n.lineno - 1] and not lines[above].startswith("# "):
            found.append(ast.unparse(target))
    return found


def strings(n: ast.AST) -> Iterator[ast.AST]:
    return (x for x in ast.walk(n) if isinstance(x, ast.Constant) and isinstance(x.value, str))


def test_numbers_that_decide_have_names():
    files = deciding()
    assert len(files) > 50
    assert [(f.name, x) for f in files for x in bare_numbers(f.read_text(encoding="utf-8"))] == []


def test_named_numbers_have_reasons():
    found = [(f.name, x) for f in deciding() for x in unreasoned(f.read_text(encoding="utf-8"))]
    assert found == []


def test_bare_numbers_and_missing_reasons_are_found():
    assert bare_numbers("if rows >= 64 and n > 2 and max(k, 7): pass") == ["rows >= 64", "max(k, 7)"]
    assert unreasoned("A = 64\nB = 5  # of a hand\nC = 2\n# Limits\nD, E = 8, 9\nF = 10\n\nG = 11\n") == ["A", "G"]
