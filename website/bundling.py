"""Scripts as the ES modules that pages load."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from buildtools import node
from buildtools.typescript import BuildError


def bundle(entries: Iterable[str | Path], folder: Path, *options: str) -> None:
    """Bundles `entries`, which share what they have in common, into `folder`; options: more of esbuild's.  Raises
    BuildError for whatever esbuild says."""
    done = node.run(
        [
            node.tool("esbuild"),
            *entries,
            "--bundle",
            "--splitting",
            "--format=esm",
            "--target=es2022",
            "--minify",
            "--external:node:*",
            f"--outdir={folder}",
            "--log-level=warning",
            *options,
        ]
    )
    if done.returncode or done.stdout.strip():
        raise BuildError(done.stdout.strip())
