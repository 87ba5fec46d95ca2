// What the hand-written TypeScript has, read by TypeScript's own parser: node by_hand.mjs FOLDER... prints JSON.
//   exports   of each module the names of the values that it exports
//   methods   of tensors: the class, and what modules add to it by `declare module`, but for composite functions
//   ops       what modules import from ops/ and needed.ts, under the names of the ops
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";

const TENSOR = "runtime/tensor/tensor.ts";
const COMPOSITE = "runtime/composite/";

const sources = new Map();
for (const folder of process.argv.slice(2)) {
  for (const name of readdirSync(folder, { recursive: true })) {
    const file = path.posix.join(folder, name.split(path.sep).join("/"));
    if (!file.endsWith(".ts")) continue;
    sources.set(file, ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true));
  }
}

const target = (file, specifier) => path.posix.join(path.posix.dirname(file), specifier).replace(/\.js$/, ".ts");
const isExported = (node) => node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);

function exported(file) {
  const found = new Set();
  for (const node of sources.get(file)?.statements ?? []) {
    if (ts.isExportDeclaration(node) && !node.isTypeOnly) {
      if (!node.exportClause) for (const name of exported(target(file, node.moduleSpecifier.text))) found.add(name);
      else if (ts.isNamespaceExport(node.exportClause)) found.add(node.exportClause.name.text);
      else for (const { name, isTypeOnly } of node.exportClause.elements) if (!isTypeOnly) found.add(name.text);
    } else if (isExported(node)) {
      if (ts.isFunctionDeclaration(node) || ts.isClassDeclaration(node)) found.add(node.name.text);
      else if (ts.isVariableStatement(node))
        for (const { name } of node.declarationList.declarations) found.add(name.text);
    }
  }
  return found;
}

const callable = (member) =>
  ts.isMethodDeclaration(member) ||
  ts.isMethodSignature(member) ||
  ts.isGetAccessor(member) ||
  ts.isSetAccessor(member);
const membersOf = (node) =>
  node.members
    .filter((m) => callable(m) || ts.isPropertySignature(m))
    .flatMap((m) => (ts.isIdentifier(m.name) ? m.name.text : []));

/** The members that a module's `declare module` gives tensors, those of what they extend in that module included. */
function added(source) {
  const found = [];
  for (const node of source.statements) {
    if (!ts.isModuleDeclaration(node) || target(source.fileName, node.name.text) !== TENSOR) continue;
    for (const made of node.body.statements) {
      if (made.name.text !== "Tensor") continue;
      const bases = (made.heritageClauses ?? []).flatMap(({ types }) => types.map(({ expression }) => expression.text));
      const declared = source.statements.filter(({ name }) => name && bases.includes(name.text));
      for (const one of [made, ...declared]) found.push(...membersOf(one));
    }
  }
  return found;
}

const methods = new Set(
  sources
    .get(TENSOR)
    .statements.filter((n) => n.name?.text === "Tensor")
    .flatMap(membersOf),
);
const ops = new Set();
for (const [file, source] of sources) {
  if (file.startsWith("runtime/") && !file.startsWith(COMPOSITE)) for (const name of added(source)) methods.add(name);
  for (const node of source.statements) {
    if (!ts.isImportDeclaration(node)) continue;
    const from = target(file, node.moduleSpecifier.text),
      named = node.importClause?.namedBindings;
    if (!(from.startsWith("ops/") || from === "needed.ts") || !named || !ts.isNamedImports(named)) continue;
    for (const { name, propertyName } of named.elements) {
      const imported = (propertyName ?? name).text;
      if (imported.endsWith("Op")) ops.add(imported.slice(0, -2));
    }
  }
}
const exports = Object.fromEntries(
  [...sources.keys()].map((file) => [file.replace(/\.ts$/, ""), [...exported(file)].sort()]),
);
console.log(JSON.stringify({ exports, methods: [...methods].sort(), ops: [...ops].sort() }));
