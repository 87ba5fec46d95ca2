"""Runs the code blocks of a Markdown page, and compares what they print with what the page says they print.

Blocks of one language and page are one program (JavaScript and TypeScript are one language), top to bottom, and share
their names.  `<!-- new program -->` begins another one.  What a reader need not see stands in a comment: `<!-- js`,
code, `-->`; `<!-- python` likewise.

What a block prints is said in a comment that begins with `->`; further lines of it are indented as far:

    console.log(torch.eye(2));
    // -> tensor([[1., 0.],
    //            [0., 1.]])

Everything printed since the last such comment must be that text, in which `…` stands for anything.  Programs keep the
page's line numbers."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

from buildtools.paths import ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
LANGUAGES = {
    "js": "js",
    "javascript": "js",
    "ts": "js",
    "typescript": "js",
    "python": "python",
    "py": "python",
    "op": "op",
    "html": "html",
}
MARK = {"js": "//", "python": "#"}


@dataclass
class Program:
    """The code of one language up to the end of the page or a `new program`, with blank lines where the page has other
    things."""

    page: Path
    language: str
    typed: bool = False
    lines: dict[int, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return "\n".join(self.lines.get(n, "") for n in range(1, max(self.lines, default=0) + 1)) + "\n"

    @property
    def checked(self) -> str:
        """The text with a call `said(line, wanted)` at the end of each comment that says what is printed."""
        mark, out, lines = re.escape(MARK[self.language]), dict(self.lines), self.lines
        for n in sorted(lines):
            found = re.match(rf"(.*?){mark} -> ?(.*)$", lines[n])
            if not found:
                continue
            code, wanted, last = found[1], [found[2]], n
            while more := re.match(rf"\s*{mark} {{4}}(.*)$", lines.get(last + 1, "")):
                wanted.append(more[1])
                last += 1
            out.update(dict.fromkeys(range(n, last + 1), ""))
            head, call, indent = (
                code.rstrip(),
                f"said({n}, {json.dumps(chr(10).join(wanted))})",
                re.match(r"\s*", code)[0],
            )
            out[n] = head
            out[last] = f"{head}; {call}" if head and last == n else indent + call
        return "\n".join(out.get(n, "") for n in range(1, max(out, default=0) + 1)) + "\n"


def programs(page: Path) -> list[Program]:
    """The programs of a page, in the order in which they begin; `.op` and HTML blocks are programs of their own
    each."""
    done: list[Program] = []
    now: dict[str, Program] = {}
    inside, indent, hidden, program = None, 0, False, None
    for n, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if inside is None:
            if re.match(r"\s*<!-- new program -->", line):
                now = {}
            opened = re.match(r"(\s*)(`{3,}|<!-- )(\w*)\s*$", line)
            if not opened:
                continue
            hidden = opened[2] == "<!-- "
            language = LANGUAGES.get(opened[3])
            inside, indent = (r"\s*-->\s*$" if hidden else rf"\s*{opened[2]}\s*$"), len(opened[1])
            program = None
            if language:
                program = now.get(language)
                if program is None or language not in MARK:
                    program = now[language] = Program(page, language)
                    done.append(program)
                if opened[3] in ("ts", "typescript"):
                    program.typed = True
        elif re.match(inside, line):
            inside = program = None
        elif program is not None:
            program.lines[n] = line[min(indent, len(line) - len(line.lstrip())) :]
    return done


def same(printed: str, wanted: str) -> bool:
    """Whether a text is what was wanted, up to spaces at ends of lines."""
    tidy = lambda text: "\n".join(line.rstrip() for line in text.strip("\n").splitlines())
    return re.fullmatch(".*?".join(map(re.escape, tidy(wanted).split("…"))), tidy(printed), re.DOTALL) is not None
