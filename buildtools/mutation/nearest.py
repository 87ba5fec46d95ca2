"""Which tests are the likeliest to notice a mutation, so that they run first: those that speak of what it changes, and
those that see most of its folder.  Only an order of search: what none of these notices meets all other tests, too."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from ..paths import ROOT
from .mutations import Mutation

ORACLE = ["oracle::*cpu", "oracle::*cpu]"]
CHECKS = ["node::test_checks*-cpu]"]


def files(names: str) -> list[str]:
    return [f"{name}::*" for name in names.split()]


# Beginning of a source's path -> patterns of tests (adjoint::test_x[case] in tests/test_adjoint.py), all of which run.
SEE_MOST = {
    "ops/": ["requirements::*", "documents::test_every_example*", *files("defaults"), *ORACLE, *CHECKS],
    "dsl/": files(
        "lower reference adjoint derive parse broken tidy names routines saving diagnostics translate instances "
        "explain examples requirements same_kernels raw definitions api"
    )
    + ORACLE,
    "workbench/": files("api bound raw definitions wgsl explain diagnostics") + ORACLE,
    "codegen/": files("translate same_kernels lower typescript strategies") + ["host::test_[!p]*", *ORACLE],
    "codegen/wgsl/": files("windows bounds_checks overflow raw definitions distributions") + ["oracle::test_tier_1*"],
    "codegen/fusion/": files("fusion") + ["node::*launches*", "node::*compile*"],
    "codegen/wasm/": files("wasm_plans wasm_functions wasm_contractions wasm_rows wasm"),
    "codegen/planner/": files("windows bounds_checks overflow raw definitions elementwise") + ["oracle::test_tier_1*"],
    "runtime/": ["typescript::*", "seeds::*node[[]*", "documents::test_every_example*", *ORACLE, *CHECKS],
    "runtime/devices/webgpu/": ["node::test_checks*-webgpu]"],
    "compat/": ["typescript::*", *CHECKS],
}
MOST = 60  # seconds for tests that speak of what changes
RUNNING = 120  # seconds for tests that run what changes, after those of its types
TYPES = "tests/test_typescript.py::"
PLAIN = re.compile(r"[\w.-]+( [\w.-]+)*")
DEFINES = {
    ".ts": re.compile(r"^(?:export |default |async |abstract )*(?:function\*?|class|const|let) (\w+)", re.M),
    ".py": re.compile(r"^ *(?:async )?(?:def|class) (\w+)", re.M),
    ".wgsl": re.compile(r"^fn (\w+)", re.M),
    ".op": re.compile(r"^(?:op|def|module) (\w+)", re.M),
}


def first(mutation: Mutation, seconds: dict[str, float], failed: Iterable[str] = ()) -> list[str]:
    """The likeliest tests, the quickest first.  seconds: of every test that passed without a mutation, by its address
    for pytest.  failed: those that did not."""
    patterns = [p for begin, several in SEE_MOST.items() if mutation.file.startswith(begin) for p in several]
    short = {t: t.removeprefix("tests/test_").replace(".py", "") for t in seconds}
    found, spent = {t for t in seconds if any(fnmatchcase(short[t], p) for p in patterns)}, 0.0
    words = subjects(mutation)
    for test in sorted((t for t in seconds if t not in found and speaks_of(t, words)), key=seconds.__getitem__):
        spent += seconds[test]
        if spent > MOST:
            break
        found.add(test)
    return addresses(sorted(found, key=seconds.__getitem__), failed)


def subjects(mutation: Mutation) -> frozenset[str]:
    """What a mutation changes, as tests may call it: the definition round it; in ops/ also those that call that one,
    and their names in torch."""
    file = Path(mutation.file)
    source = (ROOT / file).read_text()
    starts = list(DEFINES[file.suffix].finditer(source))
    round_it = [m for m in starts if m.start() <= mutation.start]
    names = {round_it[-1][1]} if round_it else set()
    if file.suffix != ".op":
        return frozenset(names | ({file.stem} if file.suffix == ".py" else set()))
    bodies = {m[1]: source[m.start() : n.start() if n else None] for m, n in zip(starts, [*starts[1:], None])}
    while more := {
        name for name, body in bodies.items() if name not in names and any(re.search(rf"\b{n}\(", body) for n in names)
    }:
        names |= more
    paths = [path for name in names for path in re.findall(r"\btorch[\w.]+", bodies.get(name, ""))]
    return frozenset(names | {path.rpartition(".")[2] for path in paths})


def speaks_of(test: str, names: frozenset[str]) -> bool:
    """Whether a test is about one of these names: by its own case, or in the file that says what it does."""
    file, _, case = test.partition("::")
    parameters = case.partition("[")[2].rstrip("]")
    return parameters in names or any(words(read) & names for read in read_by(file, parameters))


@cache
def read_by(file: str, parameters: str) -> list[Path]:
    """Where a test says what it does: the files that its case is named after; none where it is one case of many."""
    if not parameters:
        return [ROOT / file]
    stem = re.sub("-(cpu|webgpu)$", "", parameters)
    there = [f for folder in ("checks", "node") for f in (ROOT / "tests" / folder).glob("*.mjs")]
    return [f for f in there if f.name.split(".")[0] == stem]


@cache
def words(file: Path) -> frozenset[str]:
    return frozenset(re.findall(r"\w{3,}", file.read_text()))


def addresses(tests: Iterable[str], failed: Iterable[str] = ()) -> list[str]:
    """As pytest takes them.  A case whose parameters are no plain words stands for all cases of its test, if none of
    them is one that failed without a mutation."""
    broken, found = {test.partition("[")[0] for test in failed}, dict[str, None]()
    for test in tests:
        function, _, parameters = test.partition("[")
        if not parameters or PLAIN.fullmatch(parameters[:-1]):
            found[test] = None
        elif function not in broken:
            found[function] = None
    return list(found)
