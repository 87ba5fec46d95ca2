// What the site's generator (typedoc) is told in code: pages are called by their first heading, and `.op` code is
// coloured.
import { readFile } from "node:fs/promises";
import * as shiki from "@gerrit0/mini-shiki";
import { Application, CommentTag, Converter, ReflectionKind } from "typedoc";

const grammar = JSON.parse(await readFile(new URL("../../grammar/op.tmLanguage.json", import.meta.url), "utf8"));
const themes = { light: "github-light", dark: "github-dark" };
await shiki.loadBuiltinWasm();
const highlighter = await shiki.createShikiInternal({
  engine: await shiki.createOnigurumaEngine(),
  themes: Object.values(themes).map((name) => shiki.bundledThemes[name]),
  langs: [{ ...grammar, name: "op" }],
});

const escaped = (text) => text.replace(/[&<>]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[c]);

/** Spans with a colour for each theme, which style.css chooses from. */
function coloured(code) {
  const lines = shiki.codeToTokensWithThemes(highlighter, code, { themes, lang: "op" });
  return lines
    .map((line) =>
      line
        .map(
          ({ content, variants: { light, dark } }) =>
            `<span class="op" style="--light:${light.color};--dark:${dark.color}">${escaped(content)}</span>`,
        )
        .join(""),
    )
    .join("\n");
}

/** "index_write" is "Index write". */
const titled = (file) => file[0].toUpperCase() + file.slice(1).replaceAll("_", " ");

/** Puts a function under the file of ops/ that defines it, a constant of overloads under the file of its first. */
function categorize(context, reflection) {
  const symbol = context.getSymbolFromReflection(reflection),
    declared = symbol?.declarations?.[0];
  const texts = [
    declared?.getSourceFile().fileName,
    ...(reflection.signatures ?? []).map(
      (s) => context.getSymbolFromReflection(s)?.declarations?.[0]?.getSourceFile().fileName,
    ),
  ];
  const file = texts.map((text) => /\/ops\/(\w+)\.d\.ts$/.exec(text ?? "")?.[1]).find((name) => name);
  if (!file) return;
  for (const { comment } of [reflection, ...(reflection.signatures ?? [])]) {
    comment?.blockTags.push(new CommentTag("@category", [{ kind: "text", text: titled(file) }]));
  }
}

export function load(app) {
  app.converter.on(Converter.EVENT_CREATE_DOCUMENT, (_, page) => {
    const [first] = page.content,
      heading = first?.kind === "text" && /^\s*# (.+)\n/.exec(first.text);
    if (heading) page.name = heading[1] === "tensorloom" ? "The package on one page" : heading[1];
  });
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, (context) => {
    for (const entry of context.project.children) if (entry.name === "index") entry.name = "torch";
    for (const reflection of context.project.getReflectionsByKind(ReflectionKind.Function))
      categorize(context, reflection);
  });
  app.on(Application.EVENT_BOOTSTRAP_END, () =>
    app.options.setValue("markdownItLoader", (parser) => {
      const { highlight } = parser.options;
      parser.options.highlight = (code, language, attributes) =>
        language === "op"
          ? `<pre><code class="op">${coloured(code)}</code><button type="button">Copy</button></pre>\n`
          : highlight(code, language, attributes);
    }),
  );
}
