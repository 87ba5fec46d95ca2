"""The guides: docs/*.md as pages, the decisions below the tour of the design, and what changed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from buildtools.paths import ROOT

from .markdown import Page, rendered, resolved
from .navigation import GUIDES, REPORTS, TITLES, decisions, source
from .shell import Found, Shell, relative

# Pages of the repository that stand on the site elsewhere than docs/*.md do.
ELSEWHERE = {
    "CONTRIBUTING.md": "guides/contributing.html",
    "CHANGELOG.md": "guides/changes.html",
    "README.md": "index.html",
    "bench/README.md": "reports/speed.html",
}


class MissingPage(Exception):
    """A page links to one that is not on the site."""


def place(path: str) -> str:
    """Where a file of the repository stands on the site.  Raises MissingPage."""
    if path in ELSEWHERE:
        return ELSEWHERE[path]
    file = Path(path)
    if path.startswith("docs/") and file.suffix == ".md" and (ROOT / path).exists():
        folder = "reports" if file.stem in REPORTS else "/".join(("guides", *file.parts[1:-1]))
        return f"{folder}/{file.stem}.html"
    raise MissingPage(path)


def page(file: Path, at: str) -> Page:
    """A Markdown file of the repository as a page that stands at `at` on the site."""
    folder = file.parent.relative_to(ROOT).as_posix()

    def link(target: str) -> str:
        if ":" in target or target.startswith("#"):
            return target
        path, mark = resolved(target, folder)
        try:
            return relative(place(path) + mark, at.rpartition("/")[0])
        except MissingPage:
            raise MissingPage(f"{file.relative_to(ROOT)} links to {target}, which is not on the site") from None

    return rendered(file.read_text(encoding="utf-8"), link)


def write(shell: Shell) -> None:
    """All guides, their index and what the search knows of them.  Raises MissingPage."""
    made = {name: page(source(name), f"guides/{name}.html") for names in GUIDES.values() for name in names}
    made.update({name: replace(made[name], title=title) for name, title in TITLES.items()})
    sides = {group: [(f"guides/{name}.html", made[name].title) for name in names] for group, names in GUIDES.items()}
    order = [entry for entries in sides.values() for entry in entries]
    for n, (path, _) in enumerate(order):
        article(shell, path, made[Path(path).stem], sides, before=order[n - 1 : n], after=order[n + 1 : n + 2])
    for file in decisions():
        path = f"guides/decisions/{file.stem}.html"
        article(shell, path, page(file, path), sides, within=("guides/design.html", made["design"].title))
    changes = page(ROOT / "CHANGELOG.md", "guides/changes.html")
    article(shell, "guides/changes.html", changes, sides)
    abouts = {path: first_sentence(made[Path(path).stem]) for path, _ in order}
    shell.write(
        "guides/index.html",
        "guides.html.j2",
        title="Guides",
        about="tensorloom, page by page: tensors, autograd, modules, training, models from PyTorch.",
        sides=sides,
        abouts=abouts,
    )


def article(
    shell: Shell,
    path: str,
    made: Page,
    sides: dict[str, list[tuple[str, str]]],
    *,
    before: list[tuple[str, str]] | None = None,
    after: list[tuple[str, str]] | None = None,
    within: tuple[str, str] | None = None,
) -> None:
    shell.write(
        path,
        "guide.html.j2",
        title=made.title,
        about=first_sentence(made),
        page=made,
        sides=sides,
        before=before or [],
        after=after or [],
        within=within,
    )
    if path == "guides/changes.html":  # has words of everything
        return
    shell.found.append(Found(made.title, path, "guide", made.text.get("", "")))
    for heading in made.headings:
        text = made.text.get(heading.anchor, "")
        shell.found.append(Found(f"{heading.title} · {made.title}", f"{path}#{heading.anchor}", "guide", text))


def first_sentence(made: Page) -> str:
    """What stands under a page's title, up to its first full stop."""
    text = " ".join(made.text.get("", "").split())
    head, stop, _ = text.partition(". ")
    return (head + stop.strip()).rstrip(":").strip()
