"""The documentation as a website, .build/site: the pages of docs/ and a reference made from the package's typings
(typedoc).

What the site looks like and which pages it has: docs/site/.  That the pages' code runs is tests/test_documents.py's
business."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

from . import node
from .package import BuildError
from .paths import BUILD, DIST, ROOT

SITE = BUILD / "site"


def build(dist: Path = DIST, site: Path = SITE) -> Path:
    """Make the site from docs/ and the typings in `dist`; returns its folder.  Raises BuildError where a page links to
    nothing."""
    types = site.with_name(f"{site.name}-types")
    shutil.rmtree(types, ignore_errors=True)
    for file in dist.rglob("*.d.ts"):
        copy = types / file.relative_to(dist)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(_as_functions(file.read_text(encoding="utf-8")), encoding="utf-8")
    (types / "package.json").write_text('{"type": "module"}')
    (types / "tsconfig.json").write_text(
        json.dumps(
            {
                "files": ["index.d.ts"],
                "compilerOptions": {
                    "module": "nodenext",
                    "target": "es2022",
                    "lib": ["es2022", "dom"],
                    "strict": True,
                    "skipLibCheck": True,
                    "types": [],
                },
            }
        )
    )
    done = node.run(
        [
            node.tool("typedoc"),
            "--options",
            ROOT / "docs" / "site" / "typedoc.json",
            "--entryPoints",
            types / "index.d.ts",
            "--tsconfig",
            types / "tsconfig.json",
            "--out",
            site,
        ]
    )
    if done.returncode or "[warning]" in done.stdout:
        raise BuildError(done.stdout.strip())
    return site


def _as_functions(text: str) -> str:
    """Overloaded ops are constants in the typings; typedoc shows those so tagged as the functions that they are."""
    return re.sub(r" \*/(?=\nexport declare const \w+: typeof )", " @function */", text)
