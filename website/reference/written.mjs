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
    } else if (ts.isPropertyAssignment(property)) found[property.name.getText()] = literal(property.initializer);
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

/**
 * What a function takes for those of its arguments that are left out: `const [dim = -1] = taken("name dim?", args)` says
 * it, or `dim ?? -1` later on.
 */
function defaultsIn(declared) {
  const found = {};
  const bound = new Map(); // the variable's name: the parameter's
  const visit = (node) => {
    if (ts.isVariableDeclaration(node) && ts.isArrayBindingPattern(node.name) && node.initializer) {
      let called = node.initializer;
      while (ts.isAsExpression(called) || ts.isParenthesizedExpression(called)) called = called.expression;
      const says = ts.isCallExpression(called) && called.expression.getText() === "taken" && called.arguments[0];
      const names =
        says &&
        LINE.exec(says.getText())?.[1]
          .trim()
          .split(" ")
          .filter((name) => name !== "*");
      for (const [i, element] of names ? node.name.elements.entries() : []) {
        const name = names[i]?.replace(/[?{}[\]]+$/, "");
        if (!name || !ts.isBindingElement(element)) continue;
        bound.set(element.name.getText(), name);
        if (element.initializer) found[name] = literal(element.initializer);
      }
    }
    if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken) {
      const name = bound.get(node.left.getText());
      if (name && !found[name]) found[name] = literal(node.right);
    }
    ts.forEachChild(node, visit);
  };
  visit(declared);
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

for (const name of readdirSync(folder, { recursive: true })) {
  const file = path.posix.join(folder, name.split(path.sep).join("/"));
  if (!/\.ts$/.test(file) || /\.d\.ts$/.test(file)) continue;
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true);
  const constants = new Map(),
    functions = new Map(),
    exported = [];
  for (const statement of source.statements) {
    const open = statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
    if (ts.isFunctionDeclaration(statement) && statement.name) {
      functions.set(statement.name.text, statement);
      if (open) exported.push([statement.name.text, statement]);
    }
    if (ts.isClassDeclaration(statement) && statement.name) functions.set(statement.name.text, statement);
    if (!ts.isVariableStatement(statement)) continue;
    for (const { name: own, initializer } of statement.declarationList.declarations) {
      const object = plainObject(initializer);
      if (object) constants.set(own.getText(), object);
      else if (initializer && open) exported.push([own.getText(), initializer]);
      else if (initializer) functions.set(own.getText(), initializer);
    }
  }
  const list = (defaults[file] = []);
  for (const [own, node] of exported) {
    const values = defaultsIn(node);
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
  if (!list.length) delete defaults[file];
  for (const [own, node] of exported) {
    const found = opsIn(node, functions);
    if (found.size) ops[own] = [...found].sort();
  }
}
process.stdout.write(JSON.stringify({ defaults, ops }));
