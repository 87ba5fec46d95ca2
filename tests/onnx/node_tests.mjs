// ONNX's own tests of single operators: node node_tests.mjs FOLDER cpu|webgpu [NAMES]
// FOLDER holds what write_node_tests.py wrote; NAMES: a pattern.  Prints {name: failure or null} as JSON.
import { readFileSync } from "node:fs";

const [folder, device, pattern = ""] = process.argv.slice(2);
const torch = await import("../../dist/index.js"),
  { readTensor } = await import("../../dist/runtime/onnx/model-proto.js"),
  { read, stored } = await import("../../dist/runtime/onnx/tensors.js"),
  { destination } = await import("../../dist/runtime/files/destination.js");
if (device === "webgpu" && !(await torch.initWebGPUAsync())) throw new Error("no WebGPU in Node");
torch.set_slow_warnings(false);
const here = destination({ device: "cpu" }, "test");

/** A value of a test: tensors as they are kept here. */
async function valueOf(value) {
  if (value === null) return null;
  if (Array.isArray(value)) return Promise.all(value.map(valueOf));
  if (value.strings) throw new Error("text is no tensor");
  if (value.map) throw new Error("there are no maps here");
  const proto = readTensor(Uint8Array.from(Buffer.from(value.tensor, "base64")));
  return read(stored(proto, "the test", "a value"), here, "the test", null);
}

/** On a GPU every floating type is float32. */
function placed(x) {
  if (Array.isArray(x)) return x.map(placed);
  if (!(x instanceof torch.Tensor) || device === "cpu") return x;
  return (x.is_floating_point() ? x.to("float32") : x).to(device);
}

async function compare(got, wanted, { rtol, atol }, place) {
  if (wanted === null) return got === null ? null : `${place} is there`;
  if (Array.isArray(wanted)) {
    if (!Array.isArray(got) || got.length !== wanted.length) return `${place} has not ${wanted.length} parts`;
    for (const [i, part] of wanted.entries()) {
      const wrong = await compare(got[i], part, { rtol, atol }, `${place}[${i}]`);
      if (wrong) return wrong;
    }
    return null;
  }
  if (!(got instanceof torch.Tensor)) return `${place} is no tensor`;
  if (String(got.shape) !== String(wanted.shape)) return `${place} has the shape [${got.shape}], not [${wanted.shape}]`;
  const type = device !== "cpu" && wanted.is_floating_point() ? "float32" : wanted.dtype;
  if (got.dtype !== type) return `${place} is of ${got.dtype}, not ${type}`;
  const [a, b] = [await got.detach().cpu(), wanted].map((x) => x.contiguous());
  const [x, y] = [await a.data(), await b.data()];
  const coarse = { float16: 2e-3, bfloat16: 2e-2 }[wanted.dtype] ?? 0,
    near = device === "cpu" ? 1 : 10,
    // what would be zero but for rounding is as far from it as the largest element's rounding
    scale = y.reduce((most, v) => (Number.isFinite(Number(v)) ? Math.max(most, Math.abs(Number(v))) : most), 0);
  for (let i = 0; i < y.length; i++) {
    const [p, q] = [Number(x[i]), Number(y[i])];
    // where a division on a GPU ends just beside a half
    if (device !== "cpu" && !wanted.is_floating_point() && /quantize/.test(current) && Math.abs(p - q) <= 1) continue;
    if (p === q || (Number.isNaN(p) && Number.isNaN(q))) continue;
    if (!(Math.abs(p - q) <= near * (Math.max(atol, coarse, 1e-6 * scale) + Math.max(rtol, coarse) * Math.abs(q))))
      return `${place}, element ${i} is ${p}, not ${q}`;
  }
  return null;
}

async function run(name) {
  const { sets, ...near } = JSON.parse(readFileSync(`${folder}/${name}.json`, "utf8")),
    program = await torch.onnx.load(new Uint8Array(readFileSync(`${folder}/${name}.onnx`)), {
      map_location: device,
      ...(device === "cpu" ? {} : { dtype: "float32" }),
    }),
    module = program.module();
  for (const [inputs, outputs] of sets) {
    const values = await Promise.all(inputs.map(valueOf)),
      wanted = await Promise.all(outputs.map(valueOf)),
      result = await torch.no_grad(() => module(...values.map(placed)));
    const got = wanted.length === 1 ? [result] : result;
    // numbers of chance have the right type and shape
    if (/bernoulli|random|training_dropout(?!.*zero)/.test(name)) {
      for (const [i, w] of wanted.entries())
        if (String(got[i].shape) !== String(w.shape) || (device === "cpu" && got[i].dtype !== w.dtype))
          return `output ${i} is of another kind`;
      continue;
    }
    for (const [i, w] of wanted.entries()) {
      const wrong = await compare(got[i], w, near, `output ${i}`);
      if (wrong) return wrong;
    }
  }
  return null;
}

const results = {};
let current;
for (const name of JSON.parse(readFileSync(`${folder}/tests.json`, "utf8"))) {
  if (!new RegExp(pattern).test(name)) continue;
  current = name;
  try {
    results[name] = await run(name);
  } catch (error) {
    results[name] =
      error.name === "FileError" || !process.env.STACKS ? `${error.name}: ${error.message}` : String(error.stack);
  }
}
// a pipe takes long texts piece by piece
process.stdout.write(`${JSON.stringify(results)}\n`, () => process.exit(0));
