"""The documentation as a website, .build/site: the pages of docs/ and a reference made from the package's typings
(typedoc).

What the site looks like and which pages it has: docs/site/.  That the pages' code runs is tests/test_documents.py's
business."""

from __future__ import annotations

import json
from pathlib import Path

from . import node
from .paths import BUILD, DIST, ROOT
from .typescript import BuildError

SITE = BUILD / "site"


def build(dist: Path = DIST, site: Path = SITE) -> Path:
    """Make the site from docs/ and the typings in `dist`; returns its folder.  Raises BuildError where a page links to
    nothing."""
    options = {"module": "nodenext", "target": "es2022", "lib": ["es2022", "dom"], "strict": True}
    config = site.with_name(f"{site.name}.tsconfig.json")
    config.parent.mkdir(parents=True, exist_ok=True)
    settings = {"files": [str(dist / "index.d.ts")], "compilerOptions": {**options, "skipLibCheck": True, "types": []}}
    config.write_text(json.dumps(settings))
    done = node.run(
        [
            node.tool("typedoc"),
            "--options",
            ROOT / "docs" / "site" / "typedoc.json",
            "--entryPoints",
            dist / "index.d.ts",
            "--tsconfig",
            config,
            "--out",
            site,
        ]
    )
    if done.returncode or "[warning]" in done.stdout:
        raise BuildError(done.stdout.strip())
    return site
