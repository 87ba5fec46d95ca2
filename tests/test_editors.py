"""What editors get: the layout of definitions, the language server, and the folder of an extension."""

import asyncio
import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

from buildtools.paths import ROOT
from dsl.text.layout import formatted
from dsl.text.parse import parse_text
from tensorloom.commands import cli

LAID_OUT = {
    "op f( x:Float )= x +1\n": "op f(x: Float) = x + 1\n",
    "op f(x:Float[ *B,N ],*,k :int=1)->Float[*B , N]\n    out[*b,n]=x[*b,n]*k\n": (
        "op f(x: Float[*B, N], *, k: int=1) -> Float[*B, N]\n    out[*b, n]=x[*b, n]*k\n"
    ),
    'op f(x: Float) = x\n    "A  text,with( spaces."   \n\n\n# said of g\nop g(x: Float) = f(x)\n\nor h(x: Int) = x\n': (
        'op f(x: Float) = x\n    "A  text,with( spaces."\n\n# said of g\nop g(x: Float) = f(x)\nor h(x: Int) = x\n'
    ),
    "op f(x: Float) = x   # why , so\n        + 1\n": "op f(x: Float) = x   # why , so\n        + 1\n",
    "op f(x: Float) = -x - -1 if x<0 else sum[ k ] x[ k ]\n": "op f(x: Float) = -x - -1 if x < 0 else sum[k] x[k]\n",
    "op broken(x: = 1 ,2\n": "op broken(x: = 1 ,2\n",
    "op pool{D}d(x: Num[*B, *X:D])\n    out = x\n": "op pool{D}d(x: Num[*B, *X:D])\n    out = x\n",
    "\n\n": "",
}


@pytest.mark.parametrize("text", LAID_OUT)
def test_layout(text):
    assert formatted(text) == LAID_OUT[text]
    assert formatted(LAID_OUT[text]) == LAID_OUT[text]


def test_layout_changes_no_meaning():
    """Definitions squeezed together, or drawn apart, are the same trees, and come out as they are written in ops/."""
    for file in sorted((ROOT / "ops").glob("*.op"))[::4]:
        text = file.read_text(encoding="utf-8")
        assert formatted(text) == text, file
        drawn = text.replace(", ", " ,  ").replace("(", "( ")
        assert parse_text(formatted(drawn))[0] == parse_text(drawn)[0]


def test_fmt(tmp_path):
    file = tmp_path / "a.op"
    file.write_text("op f(x:Float)=x\n")
    asked = CliRunner().invoke(cli, ["fmt", "--check", str(tmp_path)])
    assert asked.exit_code == 1 and "would change" in asked.output and file.read_text() == "op f(x:Float)=x\n"
    assert CliRunner().invoke(cli, ["fmt", str(tmp_path)]).exit_code == 0
    assert file.read_text() == "op f(x: Float)=x\n"
    assert CliRunner().invoke(cli, ["fmt", "--check", str(tmp_path)]).exit_code == 0


# --- The language server ---

TEXT = 'op f(x: Float, dim: dim) = softmaxx(x, dim)\n    "Ä."\n\nop g(x:Float) = relu(x) + twice(x)\n    "G."\n'


def test_a_language_server_answers(tmp_path):
    (tmp_path / "other.op").write_text('op twice(x: Float) = 2 * x\n    "Twice."\n')
    found = asyncio.run(conversation(tmp_path / "mine.op"))
    (mistake,) = found["mistakes"]
    assert mistake.code == "name" and "did you mean `softmax`?" in mistake.message
    assert (mistake.range.start.line, mistake.range.start.character, mistake.range.end.character) == (0, 27, 35)
    assert not found["mended"]
    assert "torch.nn.functional.relu" in found["relu"].contents.value
    assert "op twice(x: Float)" in found["twice"].contents.value
    assert found["definition"].uri.endswith("/other.op") and found["library"].uri.endswith("/ops/activation.op")
    kinds = {item.label: item.detail for item in found["completion"]}
    assert kinds["twice"] == "op of this project" and kinds["softmax"] == "op of the library"
    assert [s.name for s in found["symbols"]] == ["f", "g"]
    assert found["layout"][0].new_text == TEXT.replace("x:Float", "x: Float")


async def conversation(path: Path) -> dict:
    client, told = LanguageClient("test", "1"), asyncio.Queue()

    @client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    def published(params):
        told.put_nowait(params.diagnostics)

    await client.start_io(sys.executable, "-m", "tensorloom", "lsp")
    await client.initialize_async(lsp.InitializeParams(capabilities=lsp.ClientCapabilities()))
    client.initialized(lsp.InitializedParams())
    document = lsp.TextDocumentIdentifier(path.as_uri())
    client.text_document_did_open(
        lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(document.uri, "op", version=1, text=TEXT))
    )
    found = {"mistakes": await asyncio.wait_for(told.get(), 60)}
    at = lambda text: lsp.Position(3, TEXT.split("\n")[3].index(text) + 2)
    found["relu"] = await client.text_document_hover_async(lsp.HoverParams(document, at("relu")))
    found["twice"] = await client.text_document_hover_async(lsp.HoverParams(document, at("twice")))
    found["definition"] = await client.text_document_definition_async(lsp.DefinitionParams(document, at("twice")))
    found["library"] = await client.text_document_definition_async(lsp.DefinitionParams(document, at("relu")))
    found["completion"] = await client.text_document_completion_async(lsp.CompletionParams(document, at("relu")))
    found["symbols"] = await client.text_document_document_symbol_async(lsp.DocumentSymbolParams(document))
    options = lsp.FormattingOptions(tab_size=4, insert_spaces=True)
    found["layout"] = await client.text_document_formatting_async(lsp.DocumentFormattingParams(document, options))
    client.text_document_did_change(
        lsp.DidChangeTextDocumentParams(
            lsp.VersionedTextDocumentIdentifier(2, document.uri),
            [lsp.TextDocumentContentChangeWholeDocument(TEXT.replace("softmaxx", "softmax"))],
        )
    )
    found["mended"] = await asyncio.wait_for(told.get(), 60)
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()
    return found


def test_the_extension_is_whole():
    """Every file that its description names is there, and its grammar is that of the language."""
    folder = ROOT / "editors" / "vscode"
    described = json.loads((folder / "package.json").read_text())
    (language,), (grammar,) = described["contributes"]["languages"], described["contributes"]["grammars"]
    for file in (described["main"], language["configuration"], grammar["path"]):
        assert (folder / file).is_file(), file
    assert json.loads((folder / grammar["path"]).read_text())["scopeName"] == grammar["scopeName"]
    assert json.loads((folder / language["configuration"]).read_text())["comments"]["lineComment"] == "#"
