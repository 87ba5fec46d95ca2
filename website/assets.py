"""What pages load: styles as one file, scripts bundled with the libraries that they use, the package, the search's
index."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

from buildtools import node
from buildtools.paths import NODE_MODULES, ROOT
from buildtools.typescript import BuildError

from .bundling import bundle
from .playground import compiler
from .shell import HERE, Shell

# In the order in which they stand in one file: those of example pages, too, and further ones.
FRAME = ("base", "shell")
STYLES = (*FRAME, "code", "prose", "landing", "reference", "reports", "measures", "playground")
COLOURS = ROOT / "examples" / "shared" / "colours.css"
# Scripts that pages load, as modules: all but theme.mjs, which runs before anything is painted.
SCRIPTS = (
    "shell",
    "landing",
    "filter",
    "names",
    "examples",
    "recorded",
    "benchmark",
    "playground",
    "playground_worker",
    "op_playground",
    "op_compiler_worker",
    "op_run_worker",
)
TEXT = 160  # letters of a page that the search shows


def write(shell: Shell, dist: Path) -> None:
    """All of it, into assets/.  dist: the built package.  Raises BuildError."""
    folder = shell.folder / "assets"
    folder.mkdir(parents=True, exist_ok=True)
    uplot = NODE_MODULES / "uplot" / "dist" / "uPlot.min.css"
    for name, before, styles in (("frame", (), FRAME), ("site", (uplot,), STYLES)):
        files = [*before, COLOURS, *(HERE / "styles" / f"{style}.css" for style in styles)]
        text = "\n".join(file.read_text(encoding="utf-8") for file in files)
        (folder / f"{name}.css").write_text(minified(text, "css"), encoding="utf-8")
    shutil.copyfile(HERE / "scripts" / "theme.js", folder / "theme.js")
    shutil.copyfile(HERE / "icon.svg", folder / "icon.svg")
    shutil.copyfile(dist / "torch.module.js", folder / "torch.js")
    compiler.write(folder, dist)
    scripts(folder)
    search_index(shell)


def scripts(folder: Path) -> None:
    bundle(
        [HERE / "scripts" / f"{name}.mjs" for name in SCRIPTS],
        folder,
        "--external:./torch.js",
        "--external:./playground-package/*",
        "--external:./pyodide/*",
        # What only Node has: the checker's files come from the page, and it loads no package by itself there.
        f"--alias:node:fs={HERE / 'scripts' / 'recorded_files.mjs'}",
        "--chunk-names=[name]-[hash]",
        '--tsconfig-raw={"compilerOptions": {"alwaysStrict": true}}',
    )


def minified(text: str, kind: str) -> str:
    done = subprocess.run(
        [str(node.development()), str(node.tool("esbuild")), f"--loader={kind}", "--minify"],
        input=text,
        capture_output=True,
        text=True,
        env=node.environment(),
        cwd=ROOT,
    )
    if done.returncode:
        raise BuildError(done.stderr.strip())
    return done.stdout


def search_index(shell: Shell) -> None:
    """assets/search.json, of all that the pages gave to `shell.found`."""
    documents = [
        {
            "title": found.title,
            "path": found.path,
            "kind": found.kind,
            "names": " ".join(found.names),
            "words": found.text,
            "text": shortened(found.text),
        }
        for found in shell.found
    ]
    done = subprocess.run(
        [str(node.executable()), str(HERE / "scripts" / "search_index.mjs")],
        input=json.dumps(documents),
        capture_output=True,
        text=True,
        env=node.environment(),
        cwd=ROOT,
    )
    if done.returncode:
        raise BuildError(done.stderr.strip())
    (shell.folder / "assets" / "search.json").write_text(done.stdout, encoding="utf-8")


def shortened(text: str) -> str:
    """The beginning of a text, for a line below a result."""
    words = re.sub(r"\s+", " ", text).strip()
    return words if len(words) <= TEXT else words[:TEXT].rsplit(" ", 1)[0] + " …"
