// The language of definitions in the editor, by the words that the compiler knows (playground/language.json).
import { StreamLanguage } from "@codemirror/language";

/** CodeMirror's extension: rules are the regular expressions of the grammar of editors, tried in their order. */
export function opLanguage({ rules }) {
  const known = rules.map(([pattern, kind]) => [new RegExp(pattern, "y"), kind]);
  return StreamLanguage.define({
    name: "op",
    startState: () => ({ long: false, named: false }),
    token(stream, state) {
      const { string: line, pos } = stream;
      if (state.long || line.startsWith('"""', pos)) {
        const end = line.indexOf('"""', state.long ? pos : pos + 3);
        state.long = end < 0;
        stream.pos = end < 0 ? line.length : end + 3;
        return "string";
      }
      if (stream.eatSpace()) return null;
      if (state.named) {
        state.named = false;
        if (stream.match(/^[\w{}.]+/)) return "variableName.definition";
      }
      for (const [pattern, kind] of known) {
        pattern.lastIndex = pos;
        const found = pattern.exec(line);
        if (!found?.[0]) continue;
        stream.pos += found[0].length;
        state.named = kind === "item";
        return kind === "item" ? "keyword" : kind;
      }
      if (!stream.match(/^[A-Za-z_]\w*/)) stream.next();
      return null;
    },
    languageData: { commentTokens: { line: "#" } },
  });
}

/** A source of completions: functions, types, the library's ops, and what the text itself names. */
export function names({ completions }) {
  return (context) => {
    const word = context.matchBefore(/[A-Za-z_]\w*$/);
    if (!word || (!context.explicit && word.text.length < 2)) return null;
    const known = new Set(completions.map(({ label }) => label)),
      own = new Set(context.state.doc.toString().match(/[A-Za-z_]\w*/g));
    own.delete(word.text);
    const mine = [...own].filter((label) => !known.has(label)).map((label) => ({ label, type: "variable" }));
    return { from: word.from, options: [...mine, ...completions], validFor: /^\w*$/ };
  };
}
