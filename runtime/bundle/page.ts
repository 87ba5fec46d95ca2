// What goes beside a bundled model's module: its typings, and a page that runs it.

import type { TensorSpec } from "./plan.js";

const ARRAYS: Readonly<Record<string, string>> = {
  float32: "Float32Array",
  float64: "Float64Array",
  int64: "BigInt64Array",
  int32: "Int32Array",
  int16: "Int16Array",
  int8: "Int8Array",
  uint8: "Uint8Array",
  bool: "Uint8Array",
};

const fields = (specs: readonly TensorSpec[], type: (spec: TensorSpec) => string): string =>
  specs
    .map(
      (spec) => `  /** [${spec.shape.join(", ")}] of ${spec.dtype} */\n  ${JSON.stringify(spec.name)}: ${type(spec)};`,
    )
    .join("\n");

export function typingsOf(name: string, inputs: readonly TensorSpec[], outputs: readonly TensorSpec[]): string {
  return `// ${name}, bundled by tensorloom.

/** The elements of each input, row by row. */
export interface Inputs {
${fields(inputs, ({ dtype }) => (dtype === "int64" ? "ArrayLike<number> | ArrayLike<bigint>" : "ArrayLike<number>"))}
}
export interface Outputs {
${fields(outputs, ({ dtype }) => ARRAYS[dtype]!)}
}
export interface LoadOptions {
  /** Without it WebGPU where there is one. */
  device?: "webgpu" | "cpu";
  /** The file of weights: its address, or its bytes.  Without it, \`weights.safetensors\` beside the module. */
  weights?: string | URL | ArrayBuffer | Uint8Array;
  /** A device of WebGPU's of the caller's own. */
  gpu?: unknown;
}
export interface Model {
  readonly device: "webgpu" | "cpu";
  run(inputs: Inputs | readonly (ArrayLike<number> | ArrayLike<bigint>)[]): Promise<Outputs>;
  dispose(): void;
}
export interface TensorSpec {
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly number[];
}
export declare const inputs: readonly TensorSpec[];
export declare const outputs: readonly TensorSpec[];
export declare function load(options?: LoadOptions): Promise<Model>;
`;
}

export const pageOf = (name: string): string => `<!doctype html>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width" />
<title>${name}</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 44rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
  button { font: inherit; padding: 0.3rem 1rem; }
  table { border-collapse: collapse; margin: 1rem 0; }
  td, th { padding: 0.1rem 1rem 0.1rem 0; text-align: left; font-variant-numeric: tabular-nums; }
</style>
<h1>${name}</h1>
<p id="about">Loading …</p>
<p>
  <select id="device"><option value="">any device</option><option>webgpu</option><option>cpu</option></select>
  <label id="picture" hidden>an image <input type="file" accept="image/*" /></label>
  <button id="run" disabled>Run</button>
</p>
<p id="said"></p>
<table id="table"></table>
<script type="module">
  import { inputs, load, outputs } from "./model.mjs";
  const $ = (id) => document.getElementById(id), show = ({ name, dtype, shape }) => \`\${name}: [\${shape.join(", ")}] of \${dtype}\`;
  const size = ({ shape }) => shape.reduce((n, d) => n * d, 1);
  let model = null, pixels = null;
  async function ready() {
    $("run").disabled = true;
    try {
      model?.dispose();
      model = null;
      model = await load($("device").value ? { device: $("device").value } : {});
      $("about").textContent = \`On \${model.device}. Takes \${inputs.map(show).join("; ")}. Gives \${outputs.map(show).join("; ")}.\`;
      $("run").disabled = false;
    } catch (error) {
      $("said").textContent = error.message;
    }
  }
  // a model of images takes one: its colours from 0 to 1, less the mean of ImageNet's, by their deviation
  const [first] = inputs, image = first?.shape.length === 4 && first.shape[1] === 3 && first.dtype === "float32";
  $("picture").hidden = !image;
  $("picture").querySelector("input").onchange = async ({ target }) => {
    const [, , height, width] = first.shape, canvas = new OffscreenCanvas(width, height), context = canvas.getContext("2d");
    context.drawImage(await createImageBitmap(target.files[0]), 0, 0, width, height);
    const { data } = context.getImageData(0, 0, width, height), mean = [0.485, 0.456, 0.406], deviation = [0.229, 0.224, 0.225];
    pixels = new Float32Array(size(first));
    for (let i = 0; i < pixels.length; i++) {
      const c = Math.floor(i / (height * width)) % 3;
      pixels[i] = (data[4 * (i % (height * width)) + c] / 255 - mean[c]) / deviation[c];
    }
  };
  $("run").onclick = async () => {
    // without an image: numbers between -1 and 1, whole ones are 0
    const given = inputs.map((spec) => Array.from({ length: size(spec) }, () => (spec.dtype.startsWith("float") ? Math.random() * 2 - 1 : 0)));
    if (pixels) given[0] = pixels;
    try {
      const start = performance.now(), answers = await model.run(given);
      $("said").textContent = \`\${(performance.now() - start).toFixed(1)} ms\`;
      $("table").replaceChildren(...outputs.flatMap(({ name, shape }) => {
        const values = Array.from(answers[name], Number), best = values.map((x, i) => [x, i]).sort(([a], [b]) => b - a).slice(0, 5);
        return [[name, shape.join(" × ")], ...best.map(([x, i]) => [\`at \${i}\`, x.toPrecision(5)])];
      }).map((cells) => {
        const row = document.createElement("tr");
        row.append(...cells.map((text) => Object.assign(document.createElement("td"), { textContent: text })));
        return row;
      }));
    } catch (error) {
      $("said").textContent = error.message;
    }
  };
  $("device").onchange = ready;
  await ready();
</script>
`;
