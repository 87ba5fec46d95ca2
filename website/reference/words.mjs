// A type of TypeScript in words, for people who read what a parameter takes: "list of numbers", "promise of tensor".
// What has none stands as code: names of the platform (`Blob`) and of public classes (`LRScheduler`).
import ts from "typescript";

// Types that are better said than spelled out, by their names.
const NAMED = {
  DType: "type",
  DTypeName: "type",
  Size: "whole number, or one for each axis",
  Rate: "number, or a tensor of one element",
  Betas: "pair of numbers",
  TensorData: "numbers, nested as the shape is",
  Nested: "numbers, nested as the shape is",
  IndexSpec: "number, slice, tensor, null or `...`",
  RandomSource: "generator",
  AnyOptimizer: "optimizer",
  Tree: "tensor, or tensors in lists and objects",
  TensorOrNumber: "tensor or number",
};
const DEEP = 4;

// Classes of which one is said by a word.
const WORDS = /^(Tensor|Module|Optimizer|Device|Generator|Distribution|Constraint|Transform|Parameter|Buffer)$/;

/** A list of what is said so. */
function listOf(words) {
  if (words.startsWith("list of ")) return `list of lists of ${words.slice("list of ".length)}`;
  if (words === "anything") return "list";
  if (words === "object" || words.endsWith(" by name")) return "list of objects";
  if (words.includes(" or ") || words.includes(",")) return `list, each ${words}`;
  return `list of ${words.endsWith("s") || words.endsWith("`") || words === "text" ? words : `${words}s`}`;
}

/** What stands by name in an object. */
function byName(words) {
  if (words === "anything") return "object";
  const many = listOf(words);
  return many.startsWith("list of ") ? `${many.slice("list of ".length)} by name` : `by name: ${words}`;
}

export function wordsOf(checker) {
  const isOptions = (type) =>
    /Options?$|^__type$|^__object$/.test((type.aliasSymbol ?? type.symbol)?.name ?? "") ||
    (type.isIntersection() && type.types.some(isOptions));

  function literal(type) {
    if (type.isStringLiteral()) return `\`"${type.value}"\``;
    if (type.isNumberLiteral()) return String(type.value);
    return "";
  }

  function union(types, depth) {
    const given = types.filter((one) => !(one.flags & (ts.TypeFlags.Null | ts.TypeFlags.Undefined))),
      values = given.filter((one) => !(isOptions(one) && given.length > 1)), // what may be said by name, too
      texts = values.filter((one) => one.isStringLiteral());
    if (texts.some(({ value }) => value === "float32")) return "type";
    const booleans = values.filter((one) => one.flags & ts.TypeFlags.BooleanLiteral),
      others = values.filter((one) => !texts.includes(one) && !(booleans.length > 1 && booleans.includes(one)));
    const found = new Set(others.map((one) => said(one, depth + 1)));
    if (booleans.length > 1) found.add("true or false");
    if (texts.length) found.add(`${texts.length > 1 ? "one of " : ""}${texts.map(literal).join(", ")}`);
    if (found.has("anything")) return "anything";
    if (found.has("list of numbers")) found.delete("typed array");
    if (found.has("device")) found.delete("text"); // its name
    const all = [...found].filter(Boolean);
    return all.length > 1 ? `${all.slice(0, -1).join(", ")} or ${all.at(-1)}` : (all[0] ?? "");
  }

  function object(type, depth) {
    const name = type.symbol?.name ?? "",
      inner = (n) => said((type.aliasTypeArguments ?? checker.getTypeArguments(type))[n], depth + 1);
    const short = name.replace(/Class$/, "");
    if (WORDS.test(short)) return short.toLowerCase();
    if (checker.isTupleType(type)) {
      const names = (type.target.labeledElementDeclarations ?? []).map((one) => one?.name.getText()),
        parts = checker.getTypeArguments(type).map((one, n) => {
          const what = said(one, depth + 1);
          return names[n] ? `\`${names[n]}\` (${what})` : what;
        });
      return parts.length ? `list of ${parts.join(", ")}` : "empty list";
    }
    if (checker.isArrayType(type) || /^(Iterable|AsyncIterable|ReadonlySet|Set|Iterator)$/.test(name))
      return listOf(inner(0));
    if (name === "Promise") return `promise of ${inner(0)}`;
    if (/^(Readonly)?Map$/.test(name)) return byName(inner(1));
    if (/^(Float|Int|Uint|BigInt|BigUint)\d+(Clamped)?Array$/.test(name)) return "typed array";
    if (type.getCallSignatures().length) return "function";
    if (type.getConstructSignatures().length) return "class";
    const index = checker.getIndexInfoOfType(type, ts.IndexKind.String);
    if (index) return byName(said(index.type, depth + 1));
    const declared = type.symbol?.declarations?.[0];
    if (name !== short) return `\`${short}\``;
    if (
      declared &&
      (ts.isClassDeclaration(declared) ||
        (declared.getSourceFile().fileName.includes("/typescript/lib/") && !name.startsWith("__")))
    )
      return `\`${short}\``;
    const properties = checker
      .getPropertiesOfType(type)
      .map((one) => one.name)
      .filter((one) => !one.startsWith("__"));
    return properties.length && properties.length < 6 ? `object of \`${properties.join("`, `")}\`` : "object";
  }

  function said(type, depth = 0) {
    if (!type || depth > DEEP) return "anything";
    const alias = type.aliasSymbol?.name ?? type.symbol?.name;
    if (NAMED[alias]) return NAMED[alias];
    const { flags } = type;
    if (flags & ts.TypeFlags.TypeParameter || flags & ts.TypeFlags.Instantiable) {
      const bound = checker.getBaseConstraintOfType(type);
      return bound && bound !== type ? said(bound, depth + 1) : "anything";
    }
    if (flags & ts.TypeFlags.BooleanLike && !type.isUnion()) return type.intrinsicName;
    if (flags & ts.TypeFlags.Boolean) return "true or false";
    if (type.isUnion()) return union(type.types, depth);
    if (literal(type)) return literal(type);
    if (flags & ts.TypeFlags.StringLike) return "text";
    if (flags & ts.TypeFlags.NumberLike) return "number";
    if (flags & ts.TypeFlags.BigIntLike) return "whole number";
    if (flags & ts.TypeFlags.VoidLike) return "nothing";
    if (flags & ts.TypeFlags.Null) return "null";
    if (flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)) {
      if (type.isIntersection()) {
        const named = type.types.find((one) => one.symbol && !isOptions(one)) ?? type.types[0];
        return said(named, depth + 1);
      }
      return object(type, depth);
    }
    return "anything";
  }
  return said;
}
