// The playgrounds' editor: CodeMirror with the site's colours.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { HighlightStyle, bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import {
  EditorView,
  drawSelection,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";

const COLOURS = HighlightStyle.define([
  { tag: [tags.keyword, tags.bool, tags.null, tags.typeName], color: "var(--key)" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: "var(--text)" },
  { tag: tags.comment, color: "var(--note)" },
  { tag: tags.number, color: "var(--number)" },
  { tag: [tags.function(tags.variableName), tags.function(tags.propertyName)], color: "var(--name)" },
  { tag: tags.definition(tags.variableName), fontWeight: "600" },
]);

/**
 * An editor within an element.  `language`: CodeMirror's extensions for it; `sources`: of completions; `run`: what
 * Ctrl-Enter does; `changed(text)`: called after each change.
 */
export function editor(parent, { text, label, language, sources = [], run, changed }) {
  const own = keymap.of([
    { key: "Mod-Enter", run: () => (run(), true) },
    // Tab indents; Escape, then Tab leaves the editor
    indentWithTab,
    ...closeBracketsKeymap,
    ...completionKeymap,
    ...historyKeymap,
    ...defaultKeymap,
  ]);
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        highlightActiveLineGutter(),
        highlightActiveLine(),
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        closeBrackets(),
        autocompletion({ override: sources }),
        lintGutter(),
        syntaxHighlighting(COLOURS),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ "aria-label": label }),
        EditorView.updateListener.of(({ docChanged, state }) => docChanged && changed?.(state.doc.toString())),
        own,
        indentUnit.of("  "),
        language,
      ],
    }),
  });
  view.scrollDOM.tabIndex = 0; // what can be scrolled can be reached by keys
  return {
    get text() {
      return view.state.doc.toString();
    },
    set text(all) {
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: all } });
    },
    /** Marks mistakes: `[{ from, to, message }]`, places counted in letters. */
    mark(mistakes) {
      const end = view.state.doc.length,
        within = (n) => Math.max(0, Math.min(n, end));
      view.dispatch(
        setDiagnostics(
          view.state,
          mistakes.map(({ from, to, message }) => ({ from: within(from), to: within(to), message, severity: "error" })),
        ),
      );
    },
    /** Where a line begins, counted from 1. */
    lineStart: (line) => view.state.doc.line(Math.max(1, Math.min(line, view.state.doc.lines))).from,
  };
}
