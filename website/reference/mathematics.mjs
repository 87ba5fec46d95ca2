// Renders LaTeX: a list of texts in JSON on standard input, a list of HTML (with MathML for those who hear it) on
// standard output.
import katex from "katex";

let text = "";
for await (const part of process.stdin) text += part;
const options = { displayMode: true, output: "htmlAndMathml", strict: "error", maxExpand: Number.POSITIVE_INFINITY };
process.stdout.write(JSON.stringify(JSON.parse(text).map((formula) => katex.renderToString(formula, options))));
