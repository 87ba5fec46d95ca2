// What esbuild says of JavaScript, and Dawn of WGSL: `node bodies.mjs FILE`, where FILE holds {"js": [text], "wgsl":
// [text]} as JSON. Prints, after the word `bodies`, a list of messages for each text: {line, column, length, text},
// counted from 0; line -1: of no place. `"wgsl": null` where there is no GPU.

import { readFileSync } from "node:fs";

const { js, wgsl } = JSON.parse(readFileSync(process.argv[2], "utf8"));

async function javascript(texts) {
  if (!texts.length) return [];
  const { transform } = await import("esbuild");
  const one = async (text) => {
    try {
      await transform(text, { loader: "js", format: "esm", target: "es2022", logLevel: "silent" });
      return [];
    } catch (e) {
      return e.errors.map(({ text, location }) => ({
        line: location ? location.line - 1 : -1,
        column: location?.column ?? 0,
        length: location?.length ?? 1,
        text,
      }));
    }
  };
  return Promise.all(texts.map(one));
}

async function shaders(texts) {
  if (!texts.length) return [];
  const { create, globals } = await import("webgpu");
  Object.assign(globalThis, globals);
  const adapter = await create([])
    .requestAdapter()
    .catch(() => null);
  if (!adapter) return null;
  const device = await adapter.requestDevice({
    requiredFeatures: ["shader-f16"].filter((f) => adapter.features.has(f)),
  });
  const one = async (code) => {
    device.pushErrorScope("validation");
    const module = device.createShaderModule({ code }),
      { messages } = await module.getCompilationInfo();
    await device.popErrorScope();
    const wrong = messages
      .filter(({ type }) => type === "error")
      .map(({ lineNum, linePos, length, message }) => ({
        line: lineNum - 1,
        column: linePos - 1,
        length,
        text: message,
      }));
    if (wrong.length) return wrong;
    device.pushErrorScope("validation");
    device.createComputePipeline({ layout: "auto", compute: { module, entryPoint: "main" } });
    const refused = await device.popErrorScope();
    return refused ? [{ line: -1, column: 0, length: 1, text: refused.message.split("\n")[0] }] : [];
  };
  const found = [];
  for (const text of texts) found.push(await one(text));
  return found;
}

console.log("bodies" + JSON.stringify({ js: await javascript(js), wgsl: await shaders(wgsl) }));
process.exit(0);
