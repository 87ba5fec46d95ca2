// What the compiler and the run say of a definition, as elements of the op playground's page.
import { Output, element } from "./output.mjs";

const by = (id) => document.getElementById(id);
const WAYS = {
  derived: "derived from the formula",
  given: "given by the definition",
  "given and derived": "partly given by the definition",
  none: "none",
};

/** `text` with what stands in backquotes as code. */
function inline(text) {
  return text.split("`").map((part, n) => (n % 2 ? element("code", { textContent: part }) : part));
}
const block = (text) => element("pre", { tabIndex: 0 }, element("code", { textContent: text }));

/** Fills an element with formulas in LaTeX; with a text where there is none that people would read. */
async function mathematics(parent, formulas, text = "") {
  const { default: katex } = await import("katex");
  const made = formulas.filter(Boolean).map((formula) => {
    const at = element("div", { className: "formula", tabIndex: 0 });
    katex.render(formula, at, { displayMode: true, output: "htmlAndMathml", throwOnError: false, maxExpand: Infinity });
    return at;
  });
  parent.replaceChildren(...(made.length || !text ? made : [block(text)]));
}

export class OpView {
  /** changed: called when an input was; chosen: when another op of the text is to be shown. */
  constructor({ changed, chosen }) {
    this.changed = changed;
    this.inputs = null; // what the visitor wrote, null before they did
    this.fields = "";
    this.tests = [];
    by("op").addEventListener("change", () => {
      this.inputs = null;
      chosen();
    });
    by("inputs").addEventListener("input", () => {
      this.inputs = Object.fromEntries(new FormData(by("inputs")));
      this.changed();
    });
    by("inputs").addEventListener("submit", (event) => {
      event.preventDefault();
      chosen();
    });
    by("as-module").addEventListener("toggle", ({ target }) => {
      if (target.open) chosen();
    });
  }

  /** What is asked of the compiler besides the text. */
  request() {
    return { inputs: this.inputs, name: by("op").value, module: by("as-module").open };
  }

  show({ errors, ops = [], op, module, tests = [] }) {
    by("mistakes").replaceChildren(...errors.map(mistake));
    if (!op) {
      // While there are mistakes, what became of the text before them stays.
      if (!errors.length) by("found").hidden = true;
      else if (!by("found").hidden)
        by("mistakes").append(element("p", { className: "hint", textContent: "Below is what the text gave before." }));
      return;
    }
    by("found").hidden = false;
    by("which").hidden = ops.length < 2;
    by("op").replaceChildren(...ops.map((name) => new Option(name, name, false, name === op.name)));
    by("signature").textContent = op.signature;
    by("doc").replaceChildren(...inline(op.doc));
    mathematics(by("formula"), [op.formula, op.sizes], op.loops);
    by("derived").textContent = WAYS[op.derived];
    mathematics(by("gradient"), [op.gradient], op.program);
    this.showInputs(op);
    this.showKernels(op);
    by("loops").replaceChildren(
      block(op.loops),
      ...(op.program ? [element("h2", { textContent: "Its gradient" }), block(op.program)] : []),
    );
    by("module").replaceChildren(...(module ? [block(module)] : []));
    this.tests = tests;
    by("passed").textContent = tests.length ? "running" : "the definition has none";
    by("passed").className = "";
    by("tests").replaceChildren();
  }

  /** The form stays as it is while the op's parameters do, so that one can go on typing into it. */
  showInputs({ name, parameters }) {
    const fields = JSON.stringify([name, parameters.map((p) => p.name)]);
    if (fields !== this.fields) {
      this.fields = fields;
      const rows = parameters.flatMap(({ name, what, default: usual }) => [
        element("label", { htmlFor: `input-${name}`, textContent: name, title: what }),
        element("input", { id: `input-${name}`, name, placeholder: usual || what, spellcheck: false }),
      ]);
      by("inputs").replaceChildren(...rows);
    }
    for (const { name, text } of parameters) {
      const field = by(`input-${name}`);
      if (document.activeElement !== field && field.value !== text) field.value = text;
    }
  }

  showKernels({ kernels, problem }) {
    for (const kind of ["wgsl", "wasm"]) {
      const count = kernels.reduce((sum, part) => sum + part[kind].length, 0);
      by(`count-${kind}`).textContent = problem ? "no call" : `${count} kernel${count === 1 ? "" : "s"}`;
      const parts = kernels.flatMap((part) => [
        element("h2", { textContent: part[kind].length ? part.title : `${part.title}: none` }),
        ...part[kind].map(block),
      ]);
      by(kind).replaceChildren(...parts);
    }
  }

  showTests(results) {
    const count = (holds) => results.filter((r) => r.holds === holds).length,
      [right, wrong] = [count(true), count(false)];
    if (results.length) by("passed").textContent = wrong ? `${wrong} of ${results.length} fail` : `${right} hold`;
    by("passed").className = wrong ? "failed" : "";
    const kinds = new Map([
      [true, "right"],
      [false, "wrong"],
      [null, "left"],
    ]);
    const rows = results.map(({ holds, said }, i) => {
      const { line, text } = this.tests[i];
      return element("li", { className: kinds.get(holds) }, said ? `line ${line}: ${text} — ${said}` : text);
    });
    by("tests").replaceChildren(...rows);
  }

  showRun({ failed, given = [], results = [], gradients = [] }) {
    if (failed) return by("ran").replaceChildren(element("p", { className: "failed", textContent: failed }));
    const random = given.filter(({ name }) => !by(`input-${name}`)?.value.includes("["));
    const sections = [
      [random, (name) => `Given ${name}`],
      [results, (name) => name],
      [gradients, (name) => `Gradient of the sum by ${name}`],
    ];
    by("ran").replaceChildren();
    for (const [found, title] of sections)
      for (const { name, parts } of found) {
        const place = element("div", {});
        by("ran").append(element("h2", { textContent: title(name) }), place);
        new Output(place).add({ parts });
      }
  }
}

function mistake({ line, message, label, help }) {
  const said = [
    element("p", { className: "where", textContent: `line ${line}` }),
    element("p", {}, ...inline(message)),
  ];
  if (label) said.push(element("p", {}, ...inline(label)));
  for (const text of help) said.push(element("p", { className: "where" }, ...inline(text)));
  return element("div", { className: "mistake" }, ...said);
}
