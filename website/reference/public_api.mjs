// The package's public values as TypeScript sees them: node public_api.mjs dist/index.d.ts prints JSON, a list of
//   name         `torch.nn.Linear`; names: others of the same thing
//   kind         function, class, value
//   told         what its comment says of parameters, by their names, those that no type names included
//   file, doc    where it is declared, and its comment; examples: code, with what it gives behind `  // `
//   of           of a class, where what it makes is declared
//   signatures   of its calls or its constructor: {params: [{name, type, optional, rest, doc}], result, doc, examples},
//                types in words
//   members      of a class: the same of methods and properties, those of its own
import path from "node:path";
import ts from "typescript";
import { wordsOf } from "./words.mjs";

const entry = path.resolve(process.argv[2]),
  root = path.dirname(entry);
const program = ts.createProgram([entry], {
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  target: ts.ScriptTarget.ES2022,
  lib: ["lib.es2022.d.ts", "lib.dom.d.ts"],
  strict: true,
  skipLibCheck: true,
  types: [],
});
const checker = program.getTypeChecker();
const said = wordsOf(checker);

const fileOf = (declaration) =>
  declaration ? path.relative(root, declaration.getSourceFile().fileName).split(path.sep).join("/") : "";
const docOf = (symbol) => ts.displayPartsToString(symbol?.getDocumentationComment(checker) ?? []);
const examplesOf = (tagged) =>
  (tagged?.getJsDocTags(checker) ?? [])
    .filter(({ name }) => name === "example")
    .map(({ text }) => ts.displayPartsToString(text));
/** What comments say of parameters, by their names: `@param dim which axis`. */
const toldOf = (tagged) =>
  Object.fromEntries(
    (tagged?.getJsDocTags(checker) ?? [])
      .filter(({ name, text }) => name === "param" && text)
      .map(({ text }) => /^(?:options\.)?(\w+)\s*(?:-\s*)?([\s\S]*)$/.exec(ts.displayPartsToString(text)))
      .filter(Boolean)
      .map(([, name, what]) => [name, what.replace(/\s+/g, " ")]),
  );
const HIDDEN = ts.ModifierFlags.Private | ts.ModifierFlags.Protected;
const isPublic = (symbol) =>
  !/^(_|#)|^__|@@/.test(symbol.name) &&
  symbol.name !== "prototype" &&
  !symbol.declarations?.some((one) => ts.getCombinedModifierFlags(one) & HIDDEN);

/** What of a type is said by name: the properties of an object of options, with their comments. */
function optionsIn(type) {
  const plain = checker.getNonNullableType(type);
  const object = plain.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection);
  if (!object || plain.getCallSignatures().length || checker.isArrayLikeType(plain)) return [];
  const isNamed = (one) => /Options$|^(__type|Partial|Omit|Pick)$/.test((one.aliasSymbol ?? one.symbol)?.name ?? "");
  if (!isNamed(plain) && !(plain.isIntersection() && plain.types.some(isNamed))) return [];
  return checker.getPropertiesOfType(plain).map((property) => ({
    name: property.name,
    type: said(checker.getNonNullableType(checker.getTypeOfSymbol(property))),
    optional: (property.flags & ts.SymbolFlags.Optional) !== 0,
    option: true,
    doc: docOf(property),
  }));
}

/** What one of the types that a value may have says by name. */
const byName = (type) => (type.isUnion() ? type.types.flatMap(optionsIn) : []);

/** The lists of arguments that a rest parameter stands for, those that name them and the longest first. */
function lists(type) {
  const tuples = (type.isUnion() ? type.types : [type]).filter((one) => checker.isTupleType(one)),
    named = (one) => Number(one.target.labeledElementDeclarations?.every(Boolean) ?? false),
    length = (one) => checker.getTypeArguments(one).length;
  return tuples.sort((a, b) => named(b) - named(a) || length(b) - length(a));
}

function parameters(signature) {
  const found = [];
  for (const symbol of signature.getParameters()) {
    const declaration = symbol.valueDeclaration,
      type = checker.getTypeOfSymbol(symbol),
      rest = declaration !== undefined && ts.isParameter(declaration) && declaration.dotDotDotToken !== undefined;
    const [tuple, ...others] = rest ? lists(type) : [];
    if (tuple) {
      const { labeledElementDeclarations = [], elementFlags = [] } = tuple.target;
      for (const [n, element] of checker.getTypeArguments(tuple).entries()) {
        // By place in a list, or by name.
        const options = element.isUnion() ? byName(element) : optionsIn(element);
        if (options.length) found.push(...options.filter(({ name }) => !found.some((one) => one.name === name)));
        else
          found.push({
            name: labeledElementDeclarations[n]?.name.getText() ?? symbol.name,
            type: said(checker.getNonNullableType(element)),
            optional: (elementFlags[n] & ts.ElementFlags.Optional) !== 0,
            rest: (elementFlags[n] & ts.ElementFlags.Rest) !== 0,
            doc: "",
          });
      }
      // What the others say by name.
      for (const one of others.flatMap((list) => checker.getTypeArguments(list)).flatMap(optionsIn)) {
        const same = found.find(({ name }) => name === one.name);
        if (same) same.doc ||= one.doc;
        else found.push(one);
      }
      continue;
    }
    if (rest) {
      // An object of options may stand among what it takes.
      const [element] = checker.isArrayType(type) ? checker.getTypeArguments(type) : [];
      for (const one of element ? byName(element) : [])
        if (!found.some(({ name }) => name === one.name)) found.push(one);
    }
    const options = optionsIn(type);
    if (options.length) {
      for (const one of options) {
        const same = found.find(({ name }) => name === one.name);
        if (same) same.doc ||= one.doc;
        else found.push(one);
      }
      continue;
    }
    const [element] = rest && checker.isArrayType(type) ? checker.getTypeArguments(type) : [],
      optional = declaration !== undefined && ts.isParameter(declaration) && checker.isOptionalParameter(declaration);
    found.push({
      name: symbol.name,
      type: said(element ?? (optional ? checker.getNonNullableType(type) : type)),
      optional,
      rest,
      // Beside what is given by place may stand an object that names it, with a comment.
      doc: docOf(symbol) || (byName(type).find(({ name }) => name === symbol.name)?.doc ?? ""),
    });
  }
  return found;
}

function signatureOf(signature) {
  return {
    params: parameters(signature),
    result: said(signature.getReturnType()),
    doc: ts.displayPartsToString(signature.getDocumentationComment(checker)),
    examples: examplesOf(signature),
  };
}

function member(symbol) {
  const type = checker.getTypeOfSymbol(symbol),
    calls = checker.getNonNullableType(type).getCallSignatures();
  return {
    name: symbol.name,
    kind: calls.length ? "method" : "property",
    file: fileOf(symbol.declarations?.[0]),
    doc: docOf(symbol),
    type: calls.length ? "" : said(type),
    examples: examplesOf(symbol),
    told: toldOf(symbol),
    signatures: calls.map(signatureOf),
  };
}

function described(name, symbol) {
  const declaration = symbol.valueDeclaration ?? symbol.declarations?.[0],
    type = checker.getTypeOfSymbol(symbol);
  const makers = type.getConstructSignatures(),
    calls = type.getCallSignatures();
  const made = {
    name,
    names: [],
    file: fileOf(declaration),
    doc: docOf(symbol),
    members: [],
    examples: examplesOf(symbol),
    told: toldOf(symbol),
  };
  if (!makers.length)
    return {
      ...made,
      kind: calls.length ? "function" : "value",
      type: said(type),
      signatures: calls.map(signatureOf),
    };
  const instance = makers[0].getReturnType(),
    own = instance.symbol;
  const ofItsOwn = own?.name.startsWith(name.split(".").at(-1)),
    ofItself = ofItsOwn ? docOf(own) : "";
  const all = name === "torch.Tensor" || name === "torch.nn.Module" || name === "torch.optim.Optimizer";
  return {
    ...made,
    kind: "class",
    doc: made.doc || ofItself,
    of: fileOf(own?.declarations?.[0]),
    base: (instance.getBaseTypes?.() ?? []).map((base) => base.symbol?.name ?? "")[0] ?? "",
    signatures: makers.map(signatureOf),
    members: checker
      .getPropertiesOfType(instance)
      .filter((one) => isPublic(one) && (all || (ofItsOwn && one.parent === own)))
      .map(member),
  };
}

/** Whether it is only a type that several classes share. */
const isBase = (exported, symbol) =>
  exported.declarations?.some(ts.isTypeOnlyImportOrExportDeclaration) &&
  symbol.declarations?.some((one) => ts.getCombinedModifierFlags(one) & ts.ModifierFlags.Abstract);

const found = new Map();
/** Everything that a module exports, under a prefix, and what is in the namespaces among it. */
function collect(module, prefix) {
  for (const exported of checker.getExportsOfModule(module)) {
    const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported,
      name = `${prefix}.${exported.name}`;
    if (!(symbol.flags & ts.SymbolFlags.Value) || isBase(exported, symbol)) continue;
    if (symbol.flags & ts.SymbolFlags.ValueModule && !(symbol.flags & ts.SymbolFlags.Variable)) {
      collect(symbol, name);
      continue;
    }
    const known = found.get(symbol);
    if (known) known.names.push(name);
    else found.set(symbol, described(name, symbol));
  }
}
collect(checker.getSymbolAtLocation(program.getSourceFile(entry)), "torch");
process.stdout.write(JSON.stringify([...found.values()]));
