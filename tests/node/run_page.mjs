// Runs a program of a documentation page: node run_page.mjs PROGRAM. `said(line, wanted)` in it, put there by
// tests/pages.py, says what was printed since the last one; the last line of this program's output is [[line, wanted,
// printed], ...] as JSON.
import { pathToFileURL } from "node:url";
import { format } from "node:util";

const said = [];
let printed = "";
const { log } = console;
console.log = (...words) => {
  printed += `${format(...words)}\n`;
};
globalThis.said = (line, wanted) => {
  said.push([line, wanted, printed]);
  printed = "";
};
await import(pathToFileURL(process.argv[2]));
log(`${printed}\n${JSON.stringify(said)}`);
process.exit(0); // Dawn keeps the process alive otherwise
