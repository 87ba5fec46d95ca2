// The reader or writer of ONNX's protobuf messages, made by pbf of the standard's own schema:
// node onnx_messages.mjs SCHEMA read|write
// Prints one module without imports that exports readModel and readTensor, or writeModel.
import { readFileSync } from "node:fs";
import { build } from "esbuild";
import { compileRaw } from "pbf/compile";
import parse from "protocol-buffers-schema";

const [schema, way] = process.argv.slice(2),
  reads = way === "read";
// the parser knows no empty statements, and no ranges that are kept free
const text = readFileSync(schema, "utf8")
  .replace(/^( *\});/gm, "$1")
  .replace(/^ *reserved .*;$/gm, "");
const code = compileRaw(parse(text), reads ? { noWrite: true } : { noRead: true });
const contents = reads
  ? `${code}
import { PbfReader } from "pbf";
export const readModel = (bytes) => readModelProto(new PbfReader(bytes));
export const readTensor = (bytes) => readTensorProto(new PbfReader(bytes));`
  : `${code}
import { PbfWriter } from "pbf";
export const writeModel = (model) => {
  const writer = new PbfWriter();
  writeModelProto(model, writer);
  return writer.finish();
};`;
// what is exported stays
const entry = contents.replace(/^export (const|function) (?!readModel |readTensor |writeModel )/gm, "$1 ");
const licence = readFileSync(new URL("../node_modules/pbf/LICENSE", import.meta.url), "utf8").trim();
const { outputFiles } = await build({
  stdin: { contents: entry, resolveDir: import.meta.dirname ?? process.cwd(), loader: "js" },
  bundle: true,
  write: false,
  format: "esm",
  target: "es2022",
  legalComments: "none",
});
// the names of files: bundles of the package have their own
const module = outputFiles[0].text.replace(/^\/\/ (?:\S+\.js|<stdin>)\n/gm, "").replace(/^var /gm, "const ");
console.log(`// @ts-nocheck
// ${reads ? "Reads" : "Writes"} ONNX's messages.  Made by pbf of onnx-ml.proto when the package is built.
/*! pbf\n${licence.replace(/^/gm, " * ")}\n */\n${module}`);
