"""The page of tests: PyTorch's recorded answers (tests/oracle), which the reader's own browser and GPU replay.

The answers are the ones that the tests compare with, and so is the checker (tests/oracle/checker, bundled by
scripts/recorded.mjs); here they are only copied beside the page."""

from __future__ import annotations

import json
import shutil

from buildtools import conformance
from buildtools.paths import ROOT

from .shell import Found, Shell

PATH = "tests/index.html"
ABOUT = "PyTorch's recorded answers, replayed on your own GPU in this page."


def write(shell: Shell) -> None:
    folder = shell.folder / "tests" / "recorded"
    folder.mkdir(parents=True, exist_ok=True)
    tiers = json.loads((conformance.ORACLE / "checker" / "tiers.json").read_text(encoding="utf-8"))["ops"]
    names = json.loads((ROOT / "tests" / "recorded" / "names.json").read_text(encoding="utf-8"))
    found = []
    for file in sorted(conformance.corpus().glob("*.json")):
        tier, category = tiers.get(file.stem, (3, "unknown"))
        if tier == 0 or not file.with_suffix(".safetensors").exists():
            continue
        found.append({"name": file.stem, "tier": tier, "category": category})
        for part in (file, file.with_suffix(".safetensors")):
            shutil.copyfile(part, folder / part.name)
    shell.write_data("tests/recorded/index.json", {"version": shell.version, "torch": names["torch"], "ops": found})
    counts = {tier: sum(op["tier"] == tier for op in found) for tier in (1, 2, 3)}
    shell.write(
        PATH, "tests.html.j2", title="Tests", about=ABOUT, counts=counts, total=len(found), torch=names["torch"]
    )
    shell.found.append(Found("Tests in your browser", PATH, "page", ABOUT))
