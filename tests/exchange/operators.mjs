// Each operator that exported programs are made of gives PyTorch's results (aten.json): node operators.mjs cpu|webgpu
// Prints {target: failure or null} as JSON.
import { readFileSync } from "node:fs";
import { distance } from "./values.mjs";

const [device] = process.argv.slice(2);
const torch = await import("../../dist/index.js");
const { Graph } = await import("../../dist/runtime/exchange/graph.js"),
  { findOperator } = await import("../../dist/runtime/exchange/operators.js"),
  { GraphReader, typeName } = await import("../../dist/runtime/exchange/graph-json.js");
if (device === "webgpu" && !(await torch.initWebGPUAsync())) throw new Error("no WebGPU in Node");
torch.set_slow_warnings(false);
const NEAR = 3e-5;

const isTensor = (answer) => answer !== null && typeof answer === "object";
/** Without a device on the CPU, as all of float64 is: programs compute there what a GPU does not have. */
const tensorOf = ({ dtype, shape, values }, on = "cpu") => {
  const made = torch.tensor(values, { dtype: typeName(dtype), device: "cpu" }).reshape(shape);
  return on === "cpu" || made.dtype === "float64" ? made : made.to(on);
};

/** A graph of the one operator. */
function graphOf({ target, inputs, tensors, single }, answers) {
  const named = (name) => ({ as_tensor: { name } }),
    results = answers.map((_, i) => `o${i}`);
  return new Graph(
    new GraphReader("aten.json").graph(
      {
        inputs: Object.keys(tensors).map(named),
        nodes: [
          {
            target,
            name: "node",
            inputs,
            outputs: single
              ? [isTensor(answers[0]) ? named("o0") : { as_sym_int: { as_name: "o0" } }]
              : results.map(named),
          },
        ],
        outputs: results.map(named),
        tensor_values: Object.fromEntries(
          answers.flatMap((answer, i) =>
            isTensor(answer) ? [[`o${i}`, { ...answer, sizes: answer.shape.map((n) => ({ as_int: n })) }]] : [],
          ),
        ),
      },
      target,
    ),
    "aten.json",
    { find: findOperator },
  );
}

async function compare(line) {
  const answers = line.single ? [line.answer] : [line.answer].flat(),
    inputs = Object.values(line.tensors).map((x) => tensorOf(x, device));
  const outputs = await graphOf(line, answers).run(inputs, device);
  for (const [i, answer] of answers.entries()) {
    const got = outputs[i];
    if (!isTensor(answer)) {
      if (answer !== null && got !== answer) return `${got} instead of ${answer}`;
    } else if (got === null && i > 0) {
    } else if (line.shape_alone) {
      if (String(got.shape) !== String(answer.shape)) return `the shape [${got.shape}] instead of [${answer.shape}]`;
    } else {
      const far = await distance(torch, got, tensorOf(answer, got.device));
      if (!(far < NEAR)) return `output ${i} is ${far} from PyTorch's`;
      const type = typeName(answer.dtype);
      if (got.dtype !== type) return `output ${i} is of ${got.dtype} instead of ${type}`;
    }
  }
  return null;
}

const results = {};
for (const line of JSON.parse(readFileSync(new URL("aten.json", import.meta.url)))) {
  try {
    results[line.target] = await compare(line);
  } catch (error) {
    results[line.target] = String(error.stack);
  }
}
console.log(JSON.stringify(results));
process.exit(0);
