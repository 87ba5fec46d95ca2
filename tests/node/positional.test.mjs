// Every export and method is given more arguments by position than it takes: it says so, and how many it takes; and so
// many it does take.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import ts from "typescript";
import * as torch from "../../dist/in-node/index.js";
import { everything, makersOf } from "./garbage/exports.mjs";

const SOURCES = new URL("../../runtime/", import.meta.url);

/** What takes any number: tensors, sizes, axes, modules, indices, the arguments of a function. */
const ANY_NUMBER = new RegExp(
  `^(${[
    "torch\\.(atleast_[123]d|block_diag|broadcast_(shapes|tensors|to)|cartesian_prod|einsum|meshgrid)",
    "torch\\.(Size|empty|ones|rand|randn|zeros|flip|permute|reshape|tile)",
    "torch\\.(expand|permute|view)_copy",
    "torch\\.testing\\.make_tensor",
    "torch\\.nn\\.utils\\.prune\\.PruningContainer",
    "torch\\.func\\.(linearize|vjp)",
    "torch\\.(chain_matmul|sym_sum|nn\\.(Identity|Sequential|utils\\.skip_init|attention\\.flex_attention\\.(and|or)_masks))",
    "torch\\.utils\\.(_pytree\\.tree_map|checkpoint\\.checkpoint|data\\.(Stack|Tensor)Dataset)",
    "Tensor(\\[2\\])?\\.(broadcast_to|expand|flip|index|new|new_(empty|ones|zeros)|permute|repeat|reshape|resize_|sum_to_size|tile|view)",
  ].join("|")})$`,
);
/** Methods of these names are bound by the lines of a later class. */
const LATER = new Set(["clone", "contiguous"]);
/** Classes to be extended, whose constructors take what `super(...)` hands on; a forward that is not there. */
const BASES =
  /^torch\.(Tensor|ComplexView|Generator|nn\.Module|autograd\.graph\.Node|utils\.data\.(Dataset|IterableDataset|Sampler))$|^(Module|Parameter)(List|Dict)\.forward$/;
/**
 * Questions that the runtime asks at each call, and functions that are handed to `filter` and `map`, which give more
 * than one argument.
 */
const ASKED =
  /^torch\.(autograd\.)?(is_(anomaly(_check_nan)?_enabled|debug_enabled|grad_enabled|inference_mode_enabled|tensor)|defaultDevice|gpuDevice|utils\.data\.default_convert)$/;

async function errorOf(call, args) {
  try {
    const answer = await call(args);
    if (typeof answer?.next === "function") await answer.next(); // a generator begins when it is asked
  } catch (error) {
    return error;
  }
  return null;
}

torch.setDefaultDevice("cpu");
const warn = console.warn;
console.warn = () => {};
const all = everything(torch, makersOf(torch, "cpu"));

test("more arguments than a function takes are refused, and those it takes are not", async () => {
  const wrong = [];
  for (const { name, call } of all) {
    if (ANY_NUMBER.test(name) || BASES.test(name) || ASKED.test(name)) continue;
    const most = 41,
      zeros = (n) => new Array(n).fill(0);
    // Some look at their tensors first.
    const given = [zeros(most), [torch.ones([2, 2]), ...zeros(most - 1)]];
    let limit = -1,
      said;
    for (const args of given) {
      const error = await errorOf(call, args),
        found = /^[\w.()]+: takes at most (\d+) positional arguments?, but got (\d+)$/.exec(error?.message);
      said = error ? `${error.name}: ${error.message}` : "answers";
      // a method may count its tensor
      if (found && error instanceof torch.TypeMismatchError) limit = Number(found[1]) - (found[2] - most);
      if (limit >= 0) break;
    }
    if (limit < 0) wrong.push(`${name}: ${said}`);
    else if (/takes at most/.test((await errorOf(call, zeros(limit)))?.message))
      wrong.push(`${name}: refuses ${limit}, too`);
  }
  console.warn = warn;
  assert.ok(all.length > 1700, `${all.length} exports`);
  assert.deepEqual(wrong, []);
});

test("null and undefined are no arguments too many, and a function of the program's own takes what it likes", () => {
  assert.deepEqual(torch.ones([2, 3]).t(undefined).shape, [3, 2]);
  class Own extends torch.nn.Linear {
    constructor(size, name, kind) {
      super(size, size);
      this.given = [name, kind];
    }
    forward(x, ...others) {
      return [super.forward(x), ...others];
    }
  }
  assert.equal(new Own(2, "a", "b")(torch.ones([1, 2]), 1, 2, 3).length, 4);
  assert.throws(
    () => new torch.nn.Linear(2, 2)(torch.ones([1, 2]), 1),
    /^TypeMismatchError: Linear: takes at most 1 positional argument, but got 2$/,
  );
  assert.throws(
    () => torch.ones([2]).numel(1),
    /^TypeMismatchError: numel: takes at most 0 positional arguments, but got 1$/,
  );
});

test("the lines that classes' arguments are bound by say what their methods take", () => {
  const files = readdirSync(SOURCES, { recursive: true })
    .filter((file) => file.endsWith(".ts"))
    .map((file) =>
      ts.createSourceFile(file, readFileSync(new URL(file, SOURCES), "utf8"), ts.ScriptTarget.Latest, true),
    );
  const classes = new Map(),
    limited = [],
    wrong = [];
  const visit = (node) => {
    if (ts.isClassDeclaration(node) && node.name)
      classes.set(`${node.getSourceFile().fileName} ${node.name.text}`, node);
    if (
      ts.isCallExpression(node) &&
      ["callable", "limited"].includes(node.expression.getText()) &&
      ts.isIdentifier(node.arguments[0]) &&
      node.arguments.length > 1
    )
      limited.push(node);
    ts.forEachChild(node, visit);
  };
  for (const file of files) visit(file);
  let count = 0;
  for (const {
    arguments: [target, , given],
    expression,
  } of limited) {
    const name = target.text,
      file = target.getSourceFile().fileName,
      found = classes.get(`${file} ${name}`) ?? [...classes].find(([place]) => place.endsWith(` ${name}`))?.[1]; // imported
    if (!found) continue; // a function called `callable`, the body of `callable` itself
    count++;
    const text = given
        ? given
            .getText()
            .match(/"[^"]*"/g)
            .map((part) => part.slice(1, -1))
            .join("")
        : "",
      lines = new Map(text.split(", ").map((line) => [line.split(" ")[0], line]));
    for (const member of found.members) {
      if (!member.body || !(ts.isMethodDeclaration(member) || ts.isConstructorDeclaration(member))) continue;
      const method = ts.isConstructorDeclaration(member) ? "constructor" : member.name.getText(),
        line = lines.get(method);
      if (method.startsWith("[") || line?.endsWith(" !")) continue;
      const own = member.parameters.filter((p) => p.name.getText() !== "this");
      // A constructor without a line binds its own.
      if (method === "constructor" && (expression.text === "limited" || !line)) continue;
      const [head, tail] = (line ?? method).split(" | "),
        words = head
          .split(" ")
          .slice(1)
          .filter((word) => word !== "*");
      const same =
        own.length === words.length + (tail ? 1 : 0) &&
        own.every(
          (p, i) =>
            i === words.length ||
            (!!p.dotDotDotToken === words[i].startsWith("*") &&
              (p.dotDotDotToken || !!(p.questionToken || p.initializer) === words[i].endsWith("?"))),
        );
      if (!same && !LATER.has(method))
        wrong.push(`${file}: ${name}.${method}(${own.map((p) => p.name.getText())}): ${line}`);
    }
  }
  assert.ok(count > 50, `${count} classes`);
  assert.deepEqual(wrong, []);
});
