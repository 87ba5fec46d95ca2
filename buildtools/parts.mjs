// What bundles are made of: node parts.mjs DIST
//   {entries: {bundle: program}, parts: {part: [how its files begin]}, without: {name: [parts]}}
// Prints {bundle: {part: [bytes minified, bytes gzipped that it adds]}}, `all` among the parts, and by the names of
// `without` what is left where none of those parts is there.
//
// A bundle without blanks does not say which file its text is of.  So names and syntax are minified first, blanks file
// by file.  What a part adds is the bundle's size less that without it: what is alike in two parts counts for neither,
// and parts add up to less than the whole.
import { gzipSync } from "node:zlib";
import { build, transformSync } from "esbuild";

const [dist, asked] = process.argv.slice(2);
const { entries, parts, without } = JSON.parse(asked);
const packed = (texts) => gzipSync(texts.join(""), { level: 9 }).length;

/** The name of the part that a file of the package belongs to. */
function partOf(file) {
  let best = "",
    part = "other";
  for (const [name, starts] of Object.entries(parts))
    for (const start of starts) if (file.startsWith(start) && start.length > best.length) [best, part] = [start, name];
  return part;
}

const answers = {};
for (const [name, contents] of Object.entries(entries)) {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: dist },
    absWorkingDir: dist,
    bundle: true,
    format: "esm",
    write: false,
    external: ["webgpu"],
    minifyIdentifiers: true,
    minifySyntax: true,
    legalComments: "none",
    logLevel: "error",
  });
  const texts = outputFiles[0].text
    .split(/^\/\/ (?=\S+\.js$|<stdin>$)/m)
    .slice(1)
    .map((chunk) => {
      const end = chunk.indexOf("\n");
      return [partOf(chunk.slice(0, end)), transformSync(chunk.slice(end), { minifyWhitespace: true }).code];
    });
  const all = packed(texts.map(([, text]) => text)),
    found = { all: [texts.reduce((sum, [, text]) => sum + text.length, 0), all] };
  for (const part of new Set(texts.map(([own]) => own))) {
    const [inside, outside] = [true, false].map((own) => texts.filter(([p]) => (p === part) === own).map(([, t]) => t));
    found[part] = [inside.join("").length, all - packed(outside)];
  }
  for (const [label, left] of Object.entries(without)) {
    const rest = texts.filter(([p]) => !left.includes(p)).map(([, t]) => t);
    if (rest.length < texts.length) found[label] = [rest.join("").length, packed(rest)];
  }
  answers[name] = found;
}
console.log(JSON.stringify(answers));
