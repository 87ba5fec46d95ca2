"""The whole front end on a text, for tests."""

from codegen.data.errors import OpError
from dsl.ir.intrinsics import ROUTINES
from dsl.library import load_text
from dsl.testing.examples import check_tests
from dsl.testing.trials import check_reads
from dsl.text.diagnostics import Error
from dsl.text.source import Source
from workbench.function import Function


def checked(text: str, path: str = "text.op", trials: int = 60) -> tuple[list[Error], Source]:
    """All errors that the front end finds in a text; with `trials`, its tests are run and reads outside are
    looked for in so many small random instances."""
    known = dict(ROUTINES)
    try:
        return tried(text, path, trials)
    finally:  # functions with steps are known by name: a mutated one must not stay
        ROUTINES.clear()
        ROUTINES.update(known)


def tried(text: str, path: str, trials: int) -> tuple[list[Error], Source]:
    library, errors, (source,) = load_text(text, path)
    if trials:
        for op in list(library.ops.values()):
            found = check_reads(op, source, trials)
            errors += found
            if found:
                del library.ops[op.name]
        errors += [
            e
            for _, e in check_tests(
                library.ops.values(), lambda n: Function(library.ops[n], library).numpy, (OpError, IndexError)
            )
        ]
    return errors, source


def errors_of(text: str) -> list[Error]:
    return checked(text)[0]
