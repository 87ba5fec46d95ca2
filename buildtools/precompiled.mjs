// The compiler's archive as Pyodide starts it soonest: node precompiled.mjs SOURCES.zip RESULT.zip compiles its modules
// to bytecode with the Python of the installed Pyodide, and keeps the parser's table beside the grammar.  A Pyodide of
// another Python takes the sources, which stay in the archive.
import { readFileSync, writeFileSync } from "node:fs";
import { loadPyodide } from "pyodide";

const [sources, result] = process.argv.slice(2);
process.on("uncaughtException", ({ message }) => {
  console.log(message); // without the lines of Pyodide, which are long
  process.exit(1);
});
// The same sources give the same archive: sets are in one order.
const python = await loadPyodide({ env: { PYTHONHASHSEED: "0" } });
python.unpackArchive(new Uint8Array(readFileSync(sources)), "zip", { extractDir: "/made" });
python.runPython(`
import compileall, py_compile, sys, zipfile
from pathlib import Path

sys.path.insert(0, "/made")
sys.dont_write_bytecode = True
from dsl.text import parse

parse.cache_folder = lambda: Path("/")
parse.parser()
Path("/op.lark.cache").rename(parse.TABLE)
hashed = py_compile.PycInvalidationMode.UNCHECKED_HASH
assert compileall.compile_dir("/made", quiet=1, invalidation_mode=hashed, stripdir="/made")
with zipfile.ZipFile("/result.zip", "w", zipfile.ZIP_DEFLATED) as archive:
    for file in sorted(Path("/made").rglob("*")):
        if file.is_file():
            info = zipfile.ZipInfo(str(file.relative_to("/made")), (1980, 1, 1, 0, 0, 0))
            archive.writestr(info, file.read_bytes(), zipfile.ZIP_DEFLATED)
`);
writeFileSync(result, python.FS.readFile("/result.zip"));
