"""Markdown pages as HTML: headings with anchors, coloured code, links between pages of the site."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from .highlight import highlighted


@dataclass
class Heading:
    """level: 2 or 3; anchor: its id on the page."""

    level: int
    title: str
    anchor: str


@dataclass
class Page:
    """A rendered page.  title: its first heading, which is not in `html`; text: what the search reads of each heading's
    section, by anchor (`""`: before the first)."""

    title: str
    html: str
    headings: list[Heading] = field(default_factory=list)
    text: dict[str, str] = field(default_factory=dict)


def anchor(title: str) -> str:
    """As GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def plain(tokens: Sequence[Token]) -> str:
    """What a reader reads of inline tokens."""
    return "".join(t.content or " " * (t.type == "softbreak") for t in tokens)


def rendered(text: str, link: Callable[[str], str]) -> Page:
    """A page of Markdown.  link: what the target of a link is on the site; raises KeyError where there is none."""
    parser = MarkdownIt("commonmark", {"html": True}).enable("table")
    parser.add_render_rule("fence", fence)
    parser.add_render_rule("code_block", fence)  # an indented one
    parser.add_render_rule("table_open", lambda *_: '<div class="table" tabindex="0"><table>\n')
    parser.add_render_rule("table_close", lambda *_: "</table></div>\n")
    tokens = parser.parse(re.sub(r"<!--.*?-->\n?", "", text, flags=re.DOTALL))
    page, section = Page("", ""), ""
    kept: list[Token] = []
    skipping = False
    for n, token in enumerate(tokens):
        for child in token.children or ():
            if child.type == "link_open":
                child.attrs["href"] = link(str(child.attrs["href"]))
        if token.type == "heading_open":
            title = plain(tokens[n + 1].children or ())
            if token.tag == "h1" and not page.title:
                page.title, skipping = title, True
                continue
            section = anchor(title)
            page.headings.append(Heading(int(token.tag[1]), title, section))
            token.attrs["id"] = section
        if skipping:
            skipping = token.type != "heading_close"
            continue
        if token.type == "inline":
            page.text[section] = page.text.get(section, "") + " " + plain(token.children or ())
        kept.append(token)
    page.html = parser.renderer.render(kept, parser.options, {})
    return page


@cache
def inline(text: str) -> str:
    """Markdown of a sentence or two, as comments have it, without a paragraph around it."""
    return str(MarkdownIt("commonmark", {"html": False}).renderInline(text))


def fence(self: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Mapping[str, Any]) -> str:
    language = tokens[index].info.split(" ")[0] or "text"
    return code_block(tokens[index].content, language)


def code_block(code: str, language: str) -> str:
    """A block of code with its language; a script adds the button that copies it."""
    return (
        f'<div class="code" data-language="{escape(language)}"><pre tabindex="0"><code>{highlighted(code, language)}'
        "</code></pre></div>\n"
    )


def resolved(target: str, folder: str) -> tuple[str, str]:
    """A link of a page in `folder` of the repository: the path in the repository and the place on that page."""
    path, mark, place = target.partition("#")
    return posixpath.normpath(posixpath.join(folder, path)), mark + place
