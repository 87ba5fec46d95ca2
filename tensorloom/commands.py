"""The command `tensorloom`: what an author of ops runs.  Each command imports what it needs, so that help is quick."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from codegen.version import VERSION

FOLDER = click.Path(path_type=Path)
DEFINITIONS = click.argument("paths", nargs=-1, type=FOLDER, metavar="[FOLDER]...")
SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class Failed(click.ClickException):
    """What was asked for cannot be done; the text says why, and stands alone."""

    def show(self, file=None) -> None:  # type: ignore[no-untyped-def]
        click.echo(self.message, err=True)


@click.group(context_settings=SETTINGS, epilog="The language is one page: docs/language.md of the source.")
@click.version_option(VERSION, prog_name="tensorloom")
def cli() -> None:
    """Compiles ops that you define for the package tensorloom.

    An op is a formula in a file ending in .op. From it come a typed function, its gradient, and kernels for WebGPU and
    the CPU:

    \b
        op swish(x: Float, b: real = 1) = x * sigmoid(b * x)
            "A smooth relu."
            test swish([0.0]) == [0]

    \b
        tensorloom build ops/ --out src/ops      and in JavaScript:  import { swish } from "./ops/index.js"

    Where no FOLDER is given, it is ops/."""


def folders(paths: tuple[Path, ...]) -> list[Path]:
    return list(paths) or [Path("ops")]


@cli.command()
@DEFINITIONS
@click.option("--out", type=FOLDER, required=True, help="The folder that the modules are written into.")
@click.option(
    "--language",
    type=click.Choice(["auto", "ts", "js"]),
    default="auto",
    show_default=True,
    help="TypeScript, or JavaScript with its types beside it; auto: TypeScript beside a tsconfig.json.",
)
@click.option("--name", default="", help="What messages call the project; by default as its package.json does.")
def build(paths: tuple[Path, ...], out: Path, language: str, name: str) -> None:
    """Compiles definitions into modules of your package.

    They import the runtime from the package tensorloom, on which yours depends, and hold a typed function for each op,
    its documentation and its data. Their tests are run first. What changed is written, and what an earlier build wrote
    and no definition makes any more is removed."""
    from .build import build as compile_into

    with failures():
        built = compile_into(folders(paths), out, language, name)
    for kind, files in (("wrote", built.written), ("removed", built.removed)):
        for file in files:
            click.echo(f"{kind} {file}")
    count = len([op for op in built.definitions.library.ops.values() if op.aliases])
    changed = "" if built.written or built.removed else ": nothing changed"
    click.echo(f"{count} op{'s' * (count != 1)} in {out}{changed}")
    if built.note:
        click.echo(built.note, err=True)


@cli.command()
@DEFINITIONS
@click.option("--json", "as_json", is_flag=True, help="For editors: a list of mistakes.")
@click.option("--quick", is_flag=True, help="Do not run tests, nor look for reads outside a tensor.")
def check(paths: tuple[Path, ...], as_json: bool, quick: bool) -> None:
    """Shows the mistakes in definitions, and runs their tests."""
    from dsl.text.diagnostics import render, to_json

    from .project import files_of, load, name_of

    with failures():
        found = files_of(folders(paths))
        definitions, errors = load(found, name_of(found[0].parent), instances=0 if quick else 10, tests=not quick)
    if as_json:
        click.echo(to_json(errors, definitions.sources))
    elif errors:
        click.echo(render(errors, definitions.sources))
    else:
        click.echo(f"no errors in {len(found)} file{'s' * (len(found) != 1)}")
    sys.exit(1 if errors else 0)


@cli.command()
@DEFINITIONS
@click.option("-k", "wanted", default="", metavar="TEXT", help="Only ops whose names hold this text.")
@click.option("--instances", default=4, show_default=True, help="Random cases of each op.")
def test(paths: tuple[Path, ...], wanted: str, instances: int) -> None:
    """Tries definitions out: tests, gradients, kernels against numpy.

    Gradients are compared with central differences, and the kernels for the CPU (by wasmtime) and the GPU (by wgpu),
    where those are installed, with the meaning of the definition in numpy: pip install tensorloom[devices]."""
    from dsl.text.diagnostics import render

    from .project import files_of, load, name_of

    with failures():
        found = files_of(folders(paths))
        definitions, errors = load(found, name_of(found[0].parent), instances=0, tests=False)
    if errors:
        raise Failed(render(errors, definitions.sources))
    ops = [op.name for op in definitions.library.ops.values() if wanted in op.name and not op.tree.question]
    if not ops:
        raise Failed(f"no op has '{wanted}' in its name; there are {', '.join(definitions.library.ops) or 'none'}")
    reports = []
    for name in ops:
        reports.append(definitions.function(name).check(instances))
        click.echo(str(reports[-1]))
    wrong = sum(not r for r in reports)
    click.echo(f"{len(reports)} op{'s' * (len(reports) != 1)}, {wrong or 'nothing'} wrong")
    sys.exit(1 if wrong else 0)


@cli.command()
@DEFINITIONS
@click.option("--out", type=FOLDER, required=True, help="The folder that the modules are written into.")
@click.option("--language", type=click.Choice(["auto", "ts", "js"]), default="auto", help="As of build.")
@click.option("--name", default="", help="As of build.")
def watch(paths: tuple[Path, ...], out: Path, language: str, name: str) -> None:
    """Builds now, and whenever a definition changes."""
    from watchfiles import watch as changes

    from .build import build as compile_into
    from .project import ProjectError

    def attempt() -> None:
        try:
            built = compile_into(folders(paths), out, language, name)
        except ProjectError as e:
            click.echo(str(e), err=True)
        else:
            click.echo(f"built {len(built.written)} files, {built.note or 'all is well'}")

    for path in folders(paths):
        if not path.exists():
            raise Failed(f"{path}: there is no such folder")
    attempt()
    click.echo(f"watching {', '.join(map(str, folders(paths)))} (Ctrl-C ends)")
    for _ in changes(*folders(paths), watch_filter=lambda _, file: file.endswith(".op"), raise_interrupt=False):
        attempt()


@cli.command()
@click.argument("name")
@click.argument("arguments", nargs=-1, metavar="[ARGUMENT=VALUE]...")
@click.option("--ops", "paths", type=FOLDER, multiple=True, help="Folders of definitions beside the library's.")
def explain(name: str, arguments: tuple[str, ...], paths: tuple[Path, ...]) -> None:
    """Shows what becomes of an op: its gradient, and its kernels in a call.

    NAME is an op of the library or of --ops (ops/, if there is one). The call has the arguments that follow, where a
    tensor is said by its shape:

    \b
        tensorloom explain softmax input=64x1000 dim=1
        tensorloom explain conv2d input=1x3x224x224 weight=64x3x7x7 stride=2,2
        tensorloom explain embedding weight=1000x64 input=8x16:int64

    Without any, it is a small one."""
    from codegen.data.errors import OpError
    from dsl.text.diagnostics import DefinitionError, render
    from workbench.call_text import given
    from workbench.explain import page
    from workbench.function import find, standard

    from .project import files_of, load, name_of

    own = list(paths) or [p for p in [Path("ops")] if [*p.glob("*.op")]]
    with failures(OpError):
        library, op = None, None
        if own:
            found = files_of(own)
            definitions, errors = load(found, name_of(found[0].parent), instances=0, tests=False)
            if name in definitions.library.ops:
                library, op = definitions.everything, definitions.library.ops[name]
            elif errors and name not in standard().called:
                raise DefinitionError(render(errors, definitions.sources))
        if op is None or library is None:
            library, op = standard().library, find(name, standard())
        click.echo(page(op, library, given(op, arguments)))


@cli.command()
@click.argument("kind", required=False)
def error(kind: str | None) -> None:
    """Says what a kind of mistake means, the word in error[...]."""
    from dsl.text.diagnostics import CODES, did_you_mean
    from dsl.text.explain import page

    if kind is None:
        click.echo("The kinds of errors are: " + " ".join(CODES))
    elif kind in CODES:
        click.echo(page(kind), nl=False)
    else:
        raise Failed(f"no kind of error is called `{kind}`; {did_you_mean(kind, CODES) or 'see tensorloom error'}")


@cli.command()
@DEFINITIONS
@click.option("--check", "only", is_flag=True, help="Change nothing; say which files would change, and fail then.")
def fmt(paths: tuple[Path, ...], only: bool) -> None:
    """Lays definitions out: spaces in lines, blank lines between definitions.

    Line breaks and comments stay. What cannot be read stays as it is."""
    from dsl.text.layout import formatted

    from .project import files_of

    with failures():
        files = files_of(folders(paths), modules=False)
    changed = []
    for file in files:
        text = file.read_text(encoding="utf-8")
        if (made := formatted(text)) != text:
            changed.append(file)
            if not only:
                file.write_text(made, encoding="utf-8")
    for file in changed:
        click.echo(f"{'would change' if only else 'laid out'} {file}")
    sys.exit(1 if only and changed else 0)


@cli.command()
def lsp() -> None:
    """Serves an editor: mistakes, hovers, completion and layout of .op files, by the language server protocol.

    The editor starts it and speaks to it over standard input and output. It needs pip install tensorloom[editor]."""
    try:
        from .language_server import serve
    except ImportError:
        raise Failed("the language server needs pygls: pip install tensorloom[editor]") from None
    serve()


class failures:
    """Errors of these kinds end the command with their texts."""

    def __init__(self, *kinds: type[Exception]):
        from dsl.text.diagnostics import DefinitionError

        from .project import ProjectError

        self.kinds = (ProjectError, DefinitionError, *kinds)

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, e: BaseException | None, trace: object) -> None:
        if isinstance(e, self.kinds):
            raise Failed(str(e)) from None


def main() -> None:
    cli(prog_name="tensorloom")
