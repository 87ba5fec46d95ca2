// Exported networks give PyTorch's outputs, gradients and buffers: node programs.mjs FOLDER cpu|webgpu [compiled]
// FOLDER holds what models.tar.xz does (record_models.py).  Prints {name: failure or null} as JSON.
import { argumentsOf, nearOf, numbered, printResults } from "./recorded.mjs";
import { distance, leaves } from "./values.mjs";

const [folder, device, compiled] = process.argv.slice(2);
const torch = await import("../../dist/in-node/index.js");
if (device === "webgpu" && !(await torch.initWebGPUAsync())) throw new Error("no WebGPU in Node");
torch.set_slow_warnings(false);

const ABSENT = new Set(["float64", "float16"]),
  near = (tensors) => nearOf(...Object.values(tensors).map((x) => x.dtype));

/** A program, what is recorded of it, and how near its answers are; what a GPU does not have is float32 there. */
async function read(name) {
  const [program, recorded] = [".pt2", ".safetensors"].map((suffix) => `${folder}/${name}${suffix}`);
  try {
    const tensors = await torch.load(recorded, device);
    return [await torch.export.load(program, device), tensors, near(tensors)];
  } catch (error) {
    if (device === "cpu" || !/float64|shader-f16/.test(error.message)) throw error;
    const tensors = await torch.load(recorded),
      moved = Object.entries(tensors).map(([key, x]) => [
        key,
        x.to(ABSENT.has(x.dtype) ? "float32" : x.dtype).to(device),
      ]);
    return [
      await torch.export.load(program, { map_location: device, dtype: "float32" }),
      Object.fromEntries(moved),
      near(tensors),
    ];
  }
}

async function compare(name) {
  const [program, recorded, most] = await read(name),
    module = program.module(),
    call = compiled ? torch.compile(module) : module;
  // a whole number that varies is recorded as a tensor
  const specs = Object.fromEntries(program.input_specs.map((spec) => [spec.name, spec])),
    users = program.graph_signature.inputs.filter(({ kind }) => kind === "user"),
    inputs = numbered(recorded, "in").map(async ([n, x]) =>
      specs[users[n].name].dtype === null && x.dtype === "int64" ? Number(await x.item()) : x,
    );
  const given = argumentsOf(program.graph_signature, await Promise.all(inputs));
  const buffers = Object.fromEntries([...module.named_buffers()].map(([key, x]) => [key, x.clone()]));
  let outputs;
  for (let n = 0; n < (compiled ? 3 : 1); n++) {
    torch.no_grad(() => {
      // one whose elements lie in one place is nothing that a program changes
      for (const [key, x] of module.named_buffers()) if (x.stride().every((s) => s > 0)) x.copy_(buffers[key]);
    });
    outputs = leaves(torch, await call(...given));
  }
  const wrong = [];
  const see = async (what, got, wanted, scale) => {
    const far = await distance(torch, got, wanted, scale);
    if (!(far < most)) wrong.push(`${what} is ${far} from PyTorch's`);
    else if (got.dtype !== wanted.dtype) wrong.push(`${what} is of ${got.dtype} instead of ${wanted.dtype}`);
  };
  for (const [n, wanted] of numbered(recorded, "out")) await see(`output ${n}`, outputs[n], wanted);
  // what does not depend on a parameter has the gradient 0 in PyTorch, or none
  const cotangents = numbered(recorded, "cot").filter(([n]) => outputs[n].requires_grad);
  if (cotangents.length > 0)
    torch.autograd.backward(
      cotangents.map(([n]) => outputs[n]),
      cotangents.map(([, c]) => c),
    );
  const parameters = Object.fromEntries(module.named_parameters()),
    gradients = Object.entries(recorded).filter(([key]) => key.startsWith("g."));
  // Of the largest gradient, too: those that are zero but for rounding have no scale of their own.
  const scales = await Promise.all(
      gradients.map(async ([, g]) =>
        g.numel()
          ? Number(
              await torch
                .abs(torch.where(g.isfinite(), g, 0))
                .max()
                .item(),
            )
          : 0,
      ),
    ),
    scale = Math.max(1e-2, ...scales) / 10;
  for (const [i, [key, wanted]] of gradients.entries()) {
    const got = parameters[key.slice(2)]?.grad ?? (scales[i] === 0 ? torch.zeros_like(wanted) : null);
    await see(key, got, wanted, Math.max(scales[i], scale));
  }
  for (const [key, x] of module.named_buffers())
    if (recorded[`b.${key}`]) await see(`buffer ${key}`, x, recorded[`b.${key}`]);
  return wrong.join("; ") || null;
}

await printResults(folder, (name) =>
  compare(name).catch((error) => {
    // a program that makes floats of 16 bits on its way
    if (device === "webgpu" && error.message.includes("lacks shader-f16")) return null;
    throw error;
  }),
);
