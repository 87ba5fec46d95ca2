"""Which tests run which places of the package, as V8 counts them in every Node that a test starts.

A plugin of pytest (`-p buildtools.mutation.executed`): each test's counts go to the folder that the variable PLACES
names, one file a process.  What runs in a browser, or in the package as one file, is not counted, and what Node's
entries share only where these lead to the modules (`in_modules`)."""

from __future__ import annotations

import filecmp
import hashlib
import json
import os
import re
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from .. import package

PLACES = "TENSORLOOM_PLACES"
COUNTS = "NODE_V8_COVERAGE"
Spans = list[tuple[int, int]]  # of characters that ran, in order
_written = set[str]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    folder = tempfile.mkdtemp()
    os.environ[COUNTS] = folder
    try:
        return (yield)
    finally:
        del os.environ[COUNTS]
        note(item.nodeid, Path(folder), Path(os.environ[PLACES]), item.config.rootpath / "dist")
        shutil.rmtree(folder, ignore_errors=True)


def note(test: str, counts: Path, places: Path, dist: Path) -> None:
    """Add what a test ran of a package to this process's file: of each module the name of its spans, and each spans
    once."""
    found: dict[str, bytearray] = {}
    for file in counts.glob("*.json"):
        try:
            scripts = json.loads(file.read_text())["result"]
        except (ValueError, KeyError):  # of a process that was killed
            continue
        for script in scripts:
            folder, _, module = script["url"].rpartition("/dist/")
            if folder and same(Path(unquote(urlsplit(script["url"]).path)), dist / module):
                ran = painted(script["functions"])
                found[module] = merged(found[module], ran) if module in found else ran
    if not found:
        return
    with (places / f"{os.getpid()}.jsonl").open("a") as out:
        names = {}
        for module, ran in found.items():
            spans = [(m.start(), m.end()) for m in re.finditer(b"\x01+", ran)]
            text = json.dumps(spans)
            names[module] = name = hashlib.sha256(text.encode()).hexdigest()[:16]
            if name not in _written:
                _written.add(name)
                print(json.dumps({"name": name, "spans": spans}), file=out)
        print(json.dumps({"test": test, "modules": names}), file=out)


def in_modules(dist: Path) -> None:
    """Has Node's entries of a package lead to its modules."""
    if not (dist / package.NODE).exists():
        return
    shutil.rmtree(dist / package.NODE)
    for entry in package.ENTRIES:
        file = dist / package.NODE / f"{entry}.js"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f'export * from "{"../" * (entry.count("/") + 1)}{entry}.js";\n')


def same(file: Path, module: Path) -> bool:
    """Whether that file is this module: a test may build another package, with modules of the same names."""
    return file.exists() and module.exists() and filecmp.cmp(file, module)


def painted(functions: list[dict[str, Any]]) -> bytearray:
    """1 for each character of a module that ran: the innermost count decides."""
    ranges = [r for f in functions for r in f["ranges"]]
    ranges.sort(key=lambda r: (r["startOffset"], -r["endOffset"]))
    ran = bytearray(max((r["endOffset"] for r in ranges), default=0))
    for r in ranges:
        length = r["endOffset"] - r["startOffset"]
        ran[r["startOffset"] : r["endOffset"]] = (b"\x01" if r["count"] else b"\x00") * length
    return ran


def merged(a: bytearray, b: bytearray) -> bytearray:
    return bytearray(x | y for x, y in zip(a, b, strict=True))


def read(places: Path) -> dict[str, dict[str, Spans]]:
    """Of each module of the package, the spans that each test ran."""
    spans: dict[str, Spans] = {}
    tests: list[dict[str, Any]] = []
    for file in sorted(places.glob("*.jsonl")):
        for line in map(json.loads, file.read_text().splitlines()):
            if "name" in line:
                spans[line["name"]] = line["spans"]
            else:
                tests.append(line)
    found: dict[str, dict[str, Spans]] = defaultdict(dict)
    for line in tests:
        for module, name in line["modules"].items():
            found[module][line["test"]] = spans[name]
    return found


def running(places: dict[str, dict[str, Spans]], changes: dict[str, int]) -> set[str]:
    """The tests that run any of these places: modules, and a character in each."""
    return {
        test
        for module, at in changes.items()
        for test, spans in places.get(module, {}).items()
        if any(start <= at < end for start, end in spans)
    }


def changes(before: Path, after: Path) -> dict[str, int]:
    """Of each module that differs in two packages, the first character that does."""
    found = {}
    for file in before.rglob("*.js"):
        module = file.relative_to(before).as_posix()
        other = after / module
        if (
            "/" not in module
            or module.startswith(f"{package.NODE}/")
            or not other.exists()
            or filecmp.cmp(file, other, shallow=False)
        ):
            continue
        a, b = file.read_text(), other.read_text()
        found[module] = next((n for n, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    return found
