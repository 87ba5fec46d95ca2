"""Where the language's own files lie: in a checkout beside `dsl/`, in an installed compiler inside of `tensorloom/`.

Only names: nothing is read here, and only `cache` makes a folder."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]  # of a checkout, or the folder that packages are installed into
INSTALLED = (ROOT / "tensorloom" / "ops").is_dir()
DATA = ROOT / "tensorloom" if INSTALLED else ROOT
OPS = DATA / "ops"
GRAMMAR = DATA / "grammar" / "op.lark"


def cache() -> Path | None:
    """A folder for what can be made again; None where nothing can be written."""
    if INSTALLED:
        from platformdirs import user_cache_path

        folder = user_cache_path("tensorloom", appauthor=False)
    else:
        folder = ROOT / ".cache"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder
