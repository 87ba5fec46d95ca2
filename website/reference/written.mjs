// What the hand-written TypeScript says beside its types: node written.mjs runtime prints JSON,
//   defaults   by file, lists of {name, values}: what a constructor or a function takes where nothing is given, as
//              text; name is "" where one text makes several classes
//   ops        by exported name, the ops of which it is made
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";

const [folder] = process.argv.slice(2);
const defaults = {},
  ops = {};

/** The value of a literal as text; "" for what is none, as of an argument that must be given. */
function literal(node) {
  if (ts.isAsExpression(node) || ts.isParenthesizedExpression(node)) return literal(node.expression);
  if (ts.isCallExpression(node) && node.expression.getText() === "size")
    return node.arguments[0] ? literal(node.arguments[0]) : "";
  if (ts.isCallExpression(node) && node.expression.getText() === "layers")
    return node.arguments[0] ? literal(node.arguments[0]) : "";
  if (ts.isCallExpression(node) && node.expression.getText() === "none") return "null";
  if (ts.isBinaryExpression(node)) return [node.left, node.right].every(literal) ? node.getText() : "";
  const plain =
    ts.isLiteralExpression(node) ||
    ts.isPrefixUnaryExpression(node) ||
    ts.isArrayLiteralExpression(node) ||
    [ts.SyntaxKind.TrueKeyword, ts.SyntaxKind.FalseKeyword, ts.SyntaxKind.NullKeyword].includes(node.kind);
  return plain || node.getText() === "Infinity" ? node.getText() : "";
}

/** The properties of an object, those of objects that are spread into it included. */
function valuesOf(object, constants) {
  const found = {};
  for (const property of object.properties) {
    if (ts.isSpreadAssignment(property)) {
      const known = constants.get(property.expression.getText());
      if (known) Object.assign(found, valuesOf(known, constants));
    } else if (ts.isPropertyAssignment(property) && !ts.isArrowFunction(property.initializer))
      found[property.name.getText()] = literal(property.initializer);
  }
  return found;
}

const plainObject = (node) => {
  let made = node;
  while (made && (ts.isAsExpression(made) || ts.isSatisfiesExpression(made))) made = made.expression;
  return made && ts.isObjectLiteralExpression(made) ? made : null;
};

/** A function's own name and parameters, of the line of text that says them: `diff input n? dim? | others`. */
const LINE = /^`?"?(?:\$\{\w+\}|[\w.]+) ([^"`|]*)/;

/** The names of the parameters, where a value is what `taken` makes of its arguments. */
function takenBy(value) {
  let called = value;
  while (ts.isAsExpression(called) || ts.isParenthesizedExpression(called)) called = called.expression;
  const says = ts.isCallExpression(called) && called.expression.getText() === "taken" && called.arguments[0];
  const names = says && LINE.exec(says.getText())?.[1].trim().split(" ");
  return names ? names.filter((name) => name !== "*").map((name) => name.replace(/[?{}[\]]+$/, "")) : [];
}

/** An element of a pattern as [the variable's name, its default's node]. */
function elementOf(node) {
  if (ts.isBindingElement(node)) return [node.name.getText(), node.initializer];
  if (ts.isBinaryExpression(node)) return [node.left.getText(), node.right];
  return [node.getText(), undefined];
}

/**
 * What a function or a constructor takes for those of its arguments that are left out: `const [dim = -1] = taken("name
 * dim?", args)` says it, `const { dim = -1 } = given`, `(dim = -1) =>`, or `dim ?? -1` later on.
 */
function defaultsIn(declared, functions) {
  const found = {};
  const bound = new Map(); // the variable's name: the parameter's
  const take = (elements, names) => {
    for (const [i, element] of elements.entries()) {
      if (!names[i] || ts.isOmittedExpression(element)) continue;
      const [variable, usual] = elementOf(element);
      bound.set(variable, names[i]);
      if (usual) found[names[i]] = literal(usual);
    }
  };
  // Of `fft = oneAxis("fft", kind)` the function that makes it says them, of `kl_div = operator(line, (input, n) => …)` the
  // one that is given.
  const made = ts.isCallExpression(declared) ? declared : null,
    maker = made && functions.get(made.expression.getText());
  for (const one of made ? made.arguments.filter(ts.isArrowFunction) : [declared])
    for (const { name, initializer } of one.parameters ?? []) {
      bound.set(name.getText(), name.getText());
      if (initializer) found[name.getText()] = literal(initializer);
    }
  const visit = (node) => {
    if (ts.isVariableDeclaration(node) && ts.isArrayBindingPattern(node.name) && node.initializer)
      take(node.name.elements, takenBy(node.initializer));
    if (
      ts.isVariableDeclaration(node) &&
      ts.isObjectBindingPattern(node.name) &&
      ["given", "options"].includes(node.initializer?.getText())
    )
      take(
        node.name.elements,
        node.name.elements.map((one) => (one.propertyName ?? one.name).getText()),
      );
    const isSet = ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.EqualsToken;
    if (isSet && ts.isArrayLiteralExpression(node.left)) take(node.left.elements, takenBy(node.right));
    if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken) {
      const name = bound.get(node.left.getText());
      if (name && !found[name]) found[name] = literal(node.right);
    }
    ts.forEachChild(node, visit);
  };
  visit(declared);
  if (maker) visit(maker);
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value));
}

/** Every identifier of an op below a node, and in the functions of the file that it calls. */
function opsIn(node, functions, seen = new Set()) {
  const found = new Set();
  const visit = (one) => {
    if (ts.isIdentifier(one)) {
      if (/\w+Op$/.test(one.text)) found.add(one.text.slice(0, -2));
      const called = functions.get(one.text);
      if (called && !seen.has(called)) {
        seen.add(called);
        for (const name of opsIn(called, functions, seen)) found.add(name);
      }
    }
    ts.forEachChild(one, visit);
  };
  visit(node);
  return found;
}

const isExported = (statement) => statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
const sources = readdirSync(folder, { recursive: true })
  .map((name) => path.posix.join(folder, name.split(path.sep).join("/")))
  .filter((file) => /\.ts$/.test(file) && !/\.d\.ts$/.test(file))
  .map((file) => ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true));
/** Objects that files share, by the names under which they are exported. */
const shared = new Map();
for (const statement of sources.flatMap(({ statements }) => [...statements]))
  for (const { name, initializer } of statement.declarationList?.declarations ?? [])
    if (isExported(statement) && plainObject(initializer)) shared.set(name.getText(), plainObject(initializer));

for (const source of sources) {
  const file = source.fileName;
  const constants = new Map(shared),
    functions = new Map(),
    exported = [],
    makers = [];
  for (const statement of source.statements) {
    const open = isExported(statement);
    if (ts.isFunctionDeclaration(statement) && statement.name) {
      functions.set(statement.name.text, statement);
      if (open) exported.push([statement.name.text, statement]);
    }
    if (ts.isClassDeclaration(statement) && statement.name) {
      functions.set(statement.name.text, statement);
      const maker = statement.members.find((one) => ts.isConstructorDeclaration(one) && one.body);
      if (maker) makers.push([statement.name.text.replace(/Class$/, ""), maker]);
    }
    if (!ts.isVariableStatement(statement)) continue;
    for (const { name: own, initializer } of statement.declarationList.declarations) {
      const object = plainObject(initializer);
      if (object) constants.set(own.getText(), object);
      else if (initializer && open) exported.push([own.getText(), initializer]);
      else if (initializer) functions.set(own.getText(), initializer);
    }
  }
  const list = (defaults[file] = []);
  for (const [own, node] of [...exported, ...makers]) {
    const values = defaultsIn(node, functions);
    if (Object.keys(values).length) list.push({ name: own, values });
  }
  const visit = (node) => {
    if (ts.isCallExpression(node)) {
      const at = node.arguments.findIndex((one) => plainObject(one) || constants.has(one.getText()));
      const object = at > 0 ? (plainObject(node.arguments[at]) ?? constants.get(node.arguments[at].getText())) : null;
      const [first] = node.arguments;
      if (object && (ts.isStringLiteral(first) || node.expression.getText() === "construct"))
        list.push({
          name: ts.isStringLiteral(first) ? first.text.split(" ")[0] : "",
          values: valuesOf(object, constants),
        });
    }
    if (ts.isObjectLiteralExpression(node)) {
      const of = (key) => node.properties.find((one) => ts.isPropertyAssignment(one) && one.name.getText() === key);
      const [named, usual] = [of("name"), of("defaults")];
      const object = usual && (plainObject(usual.initializer) ?? constants.get(usual.initializer.getText()));
      if (named && object && ts.isStringLiteral(named.initializer))
        list.push({ name: named.initializer.text, values: valuesOf(object, constants) });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  defaults[file] = list.filter(({ values }) => Object.keys(values).length);
  if (!defaults[file].length) delete defaults[file];
  for (const [own, node] of exported) {
    const found = opsIn(node, functions);
    if (found.size) ops[own] = [...found].sort();
  }
}
process.stdout.write(JSON.stringify({ defaults, ops }));
