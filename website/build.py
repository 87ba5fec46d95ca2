"""Writes the whole site: `build.py docs`.

Beside the version that is written stand earlier ones: where the folder holds a site of another version, that one moves
into a folder of its own name, and the menu of versions on every page leads there."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from buildtools.package import everything_kept
from buildtools.paths import DIST, EARLIER, SITE
from buildtools.typescript import BuildError
from codegen.earlier import Earlier
from codegen.version import VERSION
from dsl.opdef import Library

from . import assets, benchmark, examples, guides, landing, recorded, reference, reports
from .playground import ops as op_playground
from .playground import pages as playground
from .shell import Shell

VERSIONS = "versions.json"  # beside the first page: {current: {name, path}, others: [...]}


def build(library: Library, dist: Path = DIST, site: Path = SITE, version: str = VERSION) -> Path:
    """Make the site from docs/, the definitions and the package `dist`; returns its folder.  Raises BuildError where a
    page links to nothing."""
    keep_earlier(site, version)
    shell = Shell(site, version, Earlier(EARLIER))
    try:
        with everything_kept():
            guides.write(shell)
            reports.write(shell)
            reference.write(shell, library, dist)
            landing.write(shell, library)
            examples.write(shell)
            recorded.write(shell)
            benchmark.write(shell)
            playground.write(shell, dist)
            op_playground.write(shell, library)
    except guides.MissingPage as error:
        raise BuildError(str(error)) from None
    assets.write(shell, dist)
    write_versions(shell)
    return site


def keep_earlier(site: Path, version: str) -> None:
    """Empty the folder but for the sites of other versions; one that stands in it itself moves below it."""
    known = json.loads((site / VERSIONS).read_text(encoding="utf-8")) if (site / VERSIONS).exists() else None
    names = {entry["path"].strip("/") for entry in known["others"]} if known else set()
    if known and known["current"]["name"] != version:
        kept = site / f"v{known['current']['name']}"
        shutil.rmtree(kept, ignore_errors=True)
        part = site.with_name(f"{site.name}.part")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        for entry in site.iterdir():
            if entry.name not in names:
                entry.rename(part / entry.name)
        part.rename(kept)
        names.add(kept.name)
    for entry in site.iterdir() if site.exists() else ():
        if entry.name not in names:
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    site.mkdir(parents=True, exist_ok=True)


def write_versions(shell: Shell) -> None:
    """The menu's data, in the site and in those of other versions."""
    folders = sorted((f.name for f in shell.folder.glob("v*") if (f / "index.html").exists()), reverse=True)
    names = {folder: folder.removeprefix("v") for folder in folders}
    shell.write_data(
        VERSIONS,
        {
            "current": {"name": shell.version, "path": ""},
            "others": [{"name": names[folder], "path": f"{folder}/"} for folder in folders],
        },
    )
    for folder in folders:
        others = [{"name": shell.version, "path": "../"}]
        others += [{"name": names[other], "path": f"../{other}/"} for other in folders if other != folder]
        shell.write_data(f"{folder}/{VERSIONS}", {"current": {"name": names[folder], "path": ""}, "others": others})
