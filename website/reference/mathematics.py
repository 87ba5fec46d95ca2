"""Formulas of the reference, rendered when the site is made: by KaTeX, as HTML and, for screen readers, MathML."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from markupsafe import Markup

from buildtools import node
from buildtools.paths import NODE_MODULES, ROOT
from buildtools.typescript import BuildError
from codegen.earlier import Earlier

SCRIPT = Path(__file__).with_name("mathematics.mjs")


def rendered(formulas: Iterable[str], earlier: Earlier) -> dict[str, Markup]:
    """The HTML of each formula.  earlier: what was rendered before.  Raises BuildError for one that is not LaTeX."""
    texts = sorted({f for f in formulas if f})
    tools = (NODE_MODULES / ".package-lock.json").read_text(encoding="utf-8")
    key = (SCRIPT.read_text(encoding="utf-8"), tools, *texts)
    return {text: Markup(html) for text, html in zip(texts, earlier.get(lambda: render(texts), "mathematics", *key))}


def render(texts: list[str]) -> list[str]:
    done = subprocess.run(
        [str(node.executable()), str(SCRIPT)],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        env=node.environment(),
        cwd=ROOT,
    )
    if done.returncode:
        raise BuildError(f"a formula cannot be rendered:\n{done.stderr}")
    made: list[str] = json.loads(done.stdout)
    return made


def assets(folder: Path) -> None:
    """KaTeX's styles and the fonts that they name, in the one format that every browser with WebGPU reads."""
    made = NODE_MODULES / "katex" / "dist"
    (folder / "fonts").mkdir(parents=True, exist_ok=True)
    styles = (made / "katex.min.css").read_text(encoding="utf-8")
    (folder / "katex.css").write_text(
        re.sub(r",url\([^)]*\.(?:woff|ttf)\) format\([^)]*\)", "", styles), encoding="utf-8"
    )
    for font in (made / "fonts").glob("*.woff2"):
        shutil.copyfile(font, folder / "fonts" / font.name)
