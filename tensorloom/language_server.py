"""`tensorloom lsp`: mistakes, hovers, completion, definitions, symbols and layout of `.op` files in editors.

The protocol is pygls's; what is answered is asked of the compiler. A document is read together with the other files of
its folder, as they are on disk, and the library beside them; tests inside definitions are not run."""

from __future__ import annotations

import re
from pathlib import Path

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.workspace import TextDocument

from codegen.api.docs import family_text, param_docs
from codegen.version import VERSION
from dsl.catalogue import Catalogue, Item, hidden
from dsl.catalogue import items as items_of
from dsl.library import definition_files, lower
from dsl.opdef import OpDef
from dsl.text.diagnostics import Error
from dsl.text.home import home_of
from dsl.text.layout import formatted
from dsl.text.parse import parse_file, parse_source
from dsl.text.places import OPS
from dsl.text.show import signature
from dsl.text.source import Source
from dsl.text.syntax import Def, Op, Span
from dsl.text.vocabulary import FUNCTIONS, OPTION_TYPES, RESULT_TYPES

from .project import is_library

WORD = re.compile(r"[A-Za-z_]\w*")
NUMBERS = {"op": lsp.SymbolKind.Function, "def": lsp.SymbolKind.Method}
server = LanguageServer("tensorloom", VERSION)


class Reader:
    """What is known of a document: its mistakes, and where the names in it are defined."""

    def __init__(self) -> None:
        self.shelf: Catalogue | None = None  # the library's definitions

    @property
    def library(self) -> Catalogue:
        if self.shelf is None:
            self.shelf = Catalogue(definition_files(OPS))
        return self.shelf

    def mistakes(self, path: Path, text: str) -> list[Error]:
        """Of a file with this text, beside the others of its folder."""
        others = [f for f in definition_files(path.parent) if f.resolve() != path.resolve()]
        own = is_library([path])
        parsed = [parse_source(Source(str(path), text)), *map(parse_file, others)]
        shelf = Catalogue([] if own else definition_files(OPS))
        _, errors, _ = lower(parsed, [path.stem, *(f.stem for f in others)], shelf, home="" if own else HOME)
        errors += [] if own else hidden(parsed, shelf)
        return [e for e in errors if e.path == str(path)]

    def named(self, path: Path, text: str, name: str) -> tuple[Item, Path] | None:
        """The definition that a name means in a document: of its folder, else of the library."""
        sources = [(Source(str(path), text), path)]
        sources += [(Source(str(f), f.read_text(encoding="utf-8")), f) for f in others_of(path)]
        for source, file in sources:
            for item in items_of(source):
                if item.kind != "schedule" and name in item.names():
                    return item, file
        found = self.library.items.get(name)
        return (found, Path(found.source.path)) if found else None

    def names(self, path: Path, text: str) -> dict[str, str]:
        """Everything that a formula in a document may call, and what kind it is."""
        found = dict.fromkeys(FUNCTIONS, "function") | dict.fromkeys(self.library.trees, "op of the library")
        for source in (text, *(f.read_text(encoding="utf-8") for f in others_of(path))):
            for item in items_of(Source("", source)):
                found |= dict.fromkeys(item.names() if item.kind != "schedule" else (), f"{item.kind} of this project")
        return found


HOME = home_of("project")  # messages of an editor name no package
reader = Reader()


def others_of(path: Path) -> list[Path]:
    return [f for f in definition_files(path.parent) if f.resolve() != path.resolve()] if path.parent.is_dir() else []


# --- Places ----------------------------------------------------------------------------------------


def position(source: Source, offset: int) -> lsp.Position:
    """A place as the protocol counts it: in units of UTF-16."""
    line, column = source.place(min(offset, len(source.text)))
    return lsp.Position(line, len(source.line(line)[:column].encode("utf-16-le")) // 2)


def range_of(source: Source, span: Span) -> lsp.Range:
    return lsp.Range(position(source, span[0]), position(source, span[1]))


def word_at(document: TextDocument, at: lsp.Position) -> str:
    """The name at a place; families are found by the names of their members."""
    return document.word_at_position(at, re.compile(r"[A-Za-z_]\w*$"), re.compile(r"^\w*"))


def path_of(document: TextDocument) -> Path:
    return Path(document.path)


# --- What is asked ---------------------------------------------------------------------------------


@server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
@server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
@server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
def changed(
    ls: LanguageServer,
    params: lsp.DidOpenTextDocumentParams | lsp.DidChangeTextDocumentParams | lsp.DidSaveTextDocumentParams,
) -> None:
    document = ls.workspace.get_text_document(params.text_document.uri)
    source = Source(document.path, document.source)
    found = [diagnostic(source, e, document.uri) for e in reader.mistakes(path_of(document), document.source)]
    ls.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(document.uri, found, document.version))


def diagnostic(source: Source, e: Error, uri: str) -> lsp.Diagnostic:
    said = "\n".join([e.message + (f": {e.label}" if e.label else ""), *e.help])
    notes = [
        lsp.DiagnosticRelatedInformation(lsp.Location(uri, range_of(source, span)), text) for span, text in e.notes
    ]
    return lsp.Diagnostic(
        range_of(source, e.span),
        said,
        severity=lsp.DiagnosticSeverity.Error,
        code=e.code,
        source="tensorloom",
        related_information=notes or None,
    )


@server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
def layout(ls: LanguageServer, params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit]:
    document = ls.workspace.get_text_document(params.text_document.uri)
    made = formatted(document.source)
    if made == document.source:
        return []
    whole = lsp.Range(lsp.Position(0, 0), lsp.Position(len(document.lines) + 1, 0))
    return [lsp.TextEdit(whole, made)]


@server.feature(lsp.TEXT_DOCUMENT_HOVER)
def hover(ls: LanguageServer, params: lsp.HoverParams) -> lsp.Hover | None:
    document = ls.workspace.get_text_document(params.text_document.uri)
    name = word_at(document, params.position)
    found = reader.named(path_of(document), document.source, name)
    if found is None:
        return None
    item, file = found
    return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, described(item, file, name)))


def described(item: Item, file: Path, name: str) -> str:
    """What an editor shows of a definition: its head, its text, its parameters."""
    tree = next((t for t in item.trees if isinstance(t, (Op, Def))), None)
    if not isinstance(tree, Op):
        return f"```op\n{item.text.rstrip()}\n```" + (f"\n\n{tree.doc}" if isinstance(tree, Def) and tree.doc else "")
    text = f"```op\n{signature(tree)}\n```\n\n{tree.doc}"
    if file.parent.resolve() == OPS:
        op: OpDef = reader.library.ops[name]
        rows = "\n".join(f"- `{n}`: {said}" for n, said in param_docs(op).items())
        return f"{text}\n\n{rows}\n\n{family_text(op, ', '.join(f'`{a}`' for a in op.aliases))}"
    return text


@server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
def definition(ls: LanguageServer, params: lsp.DefinitionParams) -> lsp.Location | None:
    document = ls.workspace.get_text_document(params.text_document.uri)
    found = reader.named(path_of(document), document.source, word_at(document, params.position))
    if found is None:
        return None
    item, file = found
    head = item.spans[0][0]
    return lsp.Location(file.resolve().as_uri(), range_of(item.source, (head, head)))


@server.feature(lsp.TEXT_DOCUMENT_COMPLETION)
def completion(ls: LanguageServer, params: lsp.CompletionParams) -> list[lsp.CompletionItem]:
    document = ls.workspace.get_text_document(params.text_document.uri)
    found = reader.names(path_of(document), document.source)
    own = dict.fromkeys(WORD.findall(document.source))
    kinds = lsp.CompletionItemKind
    return [
        *(lsp.CompletionItem(n, kind=kinds.Function, detail=kind) for n, kind in found.items()),
        *(lsp.CompletionItem(n, kind=kinds.Class, detail="type") for n in (*RESULT_TYPES, *OPTION_TYPES)),
        *(lsp.CompletionItem(n, kind=kinds.Variable) for n in own if n not in found),
    ]


@server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
def symbols(ls: LanguageServer, params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
    document = ls.workspace.get_text_document(params.text_document.uri)
    source = Source(document.path, document.source)
    return [
        lsp.DocumentSymbol(name, NUMBERS[item.kind], range_of(source, item.spans[0]), range_of(source, item.spans[0]))
        for item in items_of(source)
        if item.kind in NUMBERS
        for name in item.names()
    ]


def serve() -> None:
    """Speaks the protocol over standard input and output until the editor ends."""
    server.start_io()
