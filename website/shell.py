"""What all pages share: the templates, the bar, where a page lies, and the list of what the search finds.

Links on a page are relative, so that the site may stand in any folder, also beside other versions of itself."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

import jinja2
from markupsafe import Markup

from codegen.earlier import Earlier

from .highlight import highlighted
from .markdown import inline
from .navigation import PARTS

HERE = Path(__file__).parent


@dataclass
class Found:
    """What the search knows of a page or of a part of one.  names: further names of it; kind: what it is, in a word."""

    title: str
    path: str
    kind: str
    text: str = ""
    names: Sequence[str] = ()


@dataclass
class Shell:
    """Writes pages into a folder.  earlier: what was made before, by builds of the package too; pages: the paths of
    those that it has written."""

    folder: Path
    version: str
    earlier: Earlier = field(default_factory=lambda: Earlier(None))
    pages: list[str] = field(default_factory=list)
    found: list[Found] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.templates = jinja2.Environment(
            loader=jinja2.FileSystemLoader(HERE / "templates"),
            autoescape=True,
            trim_blocks=True,
            lstrip_blocks=True,
            undefined=jinja2.StrictUndefined,
        )
        self.templates.filters["code"] = lambda text, language: Markup(highlighted(text, language))
        self.templates.filters["inline"] = lambda text: Markup(inline(text))

    def write(self, path: str, template: str, *, title: str, about: str = "", **values: Any) -> None:
        """Write a page.  path: from the site's root, as `guides/start.html`; title: of the browser's tab; about: a
        sentence for search engines; values: what the template asks for besides.

        Templates get `root`, the way to the site's root (`../`), and `link(path)`, the relative link to a page."""
        root = "../" * path.count("/")
        here = posixpath.dirname(path)
        text = self.templates.get_template(template).render(
            root=root,
            path=path,
            part=part(path),
            parts=PARTS,
            title=title,
            about=about,
            version=self.version,
            link=lambda target: relative(target, here),
            **values,
        )
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        self.pages.append(path)

    def write_data(self, path: str, data: Any) -> None:
        """Write a file of JSON for the pages' scripts."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(data, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")


def part(path: str) -> str:
    """The path of the part that a page belongs to: its own, or the one of the nearest folder around it."""
    pages = [path, *(f"{folder}/index.html" for folder in PurePosixPath(path).parents)]
    return next((page for page in pages for p in PARTS if p.path == page), "")


@cache
def relative(target: str, folder: str) -> str:
    """The link to a page of the site from a page in `folder`."""
    page, mark, place = target.partition("#")
    return posixpath.relpath(page, folder or ".") + mark + place
