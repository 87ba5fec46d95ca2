// What the editor completes: the package's names, as its typings have them (playground/names.json).

const SHORT = { nn: "torch.nn", F: "torch.nn.functional", optim: "torch.optim" };

/** A source of completions.  Behind a name that is no namespace the methods of tensors are offered. */
export function packageNames(names) {
  const globals = ["torch", ...Object.keys(SHORT), "plot", "show", "console"].map((label) => ({
    label,
    type: "variable",
  }));
  return (context) => {
    const path = context.matchBefore(/[\w$.)\]]*\.\w*$/);
    if (!path) {
      const word = context.matchBefore(/\w+$/);
      return word && (context.explicit || word.text.length > 1) ? { from: word.from, options: globals } : null;
    }
    const at = path.text.lastIndexOf("."),
      before = path.text.slice(0, at),
      [first, ...rest] = before.split("."),
      space = [SHORT[first] ?? first, ...rest].join("."),
      options = names[space] ?? (first === "console" || first === "Math" ? [] : names.Tensor);
    return { from: path.from + at + 1, options, validFor: /^\w*$/ };
  };
}
