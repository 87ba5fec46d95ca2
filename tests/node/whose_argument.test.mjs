// Errors of types, devices, texts and optimizers' arguments say whose argument was wrong: the function that was called,
// not one that it calls, and all that would have been right.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import * as torch from "../../dist/in-node/index.js";
import { everything, makersOf } from "./garbage/exports.mjs";

torch.setDefaultDevice("cpu");
console.warn = () => {};
process.on("unhandledRejection", () => {});
const { optim, nn } = torch,
  ones = () => torch.ones([2, 2]);

async function errorOf(call) {
  try {
    await call();
    return null;
  } catch (error) {
    return error;
  }
}

/** What most functions that make tensors, or tensors of another type, take. */
const PLACES = [
  () => [],
  () => [2],
  () => [[2, 2]],
  () => [[2, 2], 1],
  () => [2, [2]],
  () => [0, 1, 3],
  () => [[2], [1]],
  () => [2, 2],
  () => [ones()],
  () => [ones(), 1],
  () => [new Float32Array(4).buffer],
];

/** What refuses it instead. */
const INSTEAD = [
  /^torch\.nn\.Lazy/, // the class that it becomes
  /^torch\.Tensor\(/, // `tensor` and `empty`, of which it is a name
];

test("a wrong type or device is refused by the function that was called", async () => {
  const wrong = [],
    met = new Set();
  for (const { name, call } of everything(torch, makersOf(torch, "cpu"))) {
    const own = name.split(".").at(-1).replace(/_$/, "");
    for (const option of ["dtype", "device"])
      for (const places of PLACES) {
        const given = met.size % 2 ? "float33" : Symbol("x");
        const error = await errorOf(() => call([...places(), { [option]: given }]));
        if (!/(must be|expected) a (dtype|device)\b/.test(error?.message)) continue;
        met.add(`${name} ${option}`);
        const line = `${name}({ ${option}: ${String(given)} }): ${error.message.slice(0, 100)}`,
          right = new RegExp(
            `\\b${own}\\b.*: (argument '(dtype|device|map_location)' |expected a dtype, a device, a tensor)`,
          );
        assert.ok(error instanceof torch.OpError, line);
        if (!right.test(error.message) && !INSTEAD.some((one) => one.test(line))) wrong.push(line);
      }
  }
  if (process.env.ALL) console.log([...new Set(wrong)].join("\n"), met.size);
  assert.ok(met.size > 100, `${met.size} options`);
  assert.deepEqual([...new Set(wrong)], []);
});

test("new_zeros and its kin refuse their arguments by their own names", () => {
  const x = ones();
  for (const [name, ...args] of [
    ["new_zeros", [-2]],
    ["new_zeros", "x"],
    ["new_ones", [-2]],
    ["new_empty", [-2]],
    ["new_full", [-2], 1],
    ["new_full", [2], "x"],
    ["new_full", [2]],
    ["new_tensor"],
    ["new_empty_strided", [2], [1, 1]],
    ["new_empty_strided", [2], [-1]],
    ["new_zeros", 2, { size: [2] }],
  ])
    assert.throws(
      () => x[name](...args),
      (error) => error instanceof torch.OpError && error.message.startsWith(`${name}: `),
      `${name}(${args})`,
    );
});

test("optimizers refuse parameters and options by their class", () => {
  const w = () => new nn.Parameter(ones()),
    classes = Object.entries(optim).filter(([, one]) => one.prototype instanceof optim.Optimizer);
  assert.ok(classes.length > 13, `${classes.length} classes`);
  class Mine extends optim.SGD {}
  for (const [name, Class] of [...classes, ["Mine", Mine]]) {
    for (const params of [
      3,
      "x",
      null,
      [],
      [3],
      [{}],
      [{ params: 3 }],
      [{ params: [w()] }, w()],
      [ones().requires_grad_().mul(2)],
    ])
      assert.throws(
        () => new Class(params, { lr: 0.1 }),
        (error) => error instanceof torch.OpError && error.message.startsWith(`${name}`),
        `${name}(${JSON.stringify(params)})`,
      );
    const owner = name === "Mine" ? "SGD" : name;
    for (const lr of [-1, NaN, "x", null, torch.ones([2])])
      assert.throws(
        () => new Class([w()], { lr }),
        (error) =>
          error instanceof torch.OpError && error.message.startsWith(`${owner}: `) && /lr|rate/i.test(error.message),
        `${name} lr=${String(lr)}`,
      );
    assert.throws(() => new Class([w()], { lr: 0.1 }).add_param_group(3), new RegExp(`^\\w*Error: ${name}\\b`));
  }
});

test("how steps are computed has PyTorch's place, and stands in the group", () => {
  const w = () => new nn.Parameter(ones());
  for (const [given, name, ...places] of [
    [
      { foreach: true, differentiable: null, capturable: true },
      "ASGD",
      0.01,
      1e-4,
      0.75,
      1e6,
      0,
      true,
      true,
      null,
      true,
    ],
    [{ capturable: true, foreach: false }, "RMSprop", 0.01, 0.99, 1e-8, 0, 0, false, true, false, true],
    [{ foreach: true }, "Adagrad", 0.01, 0, 0, 0, 1e-10, true],
    [{ foreach: true }, "Adadelta", 1, 0.9, 1e-6, 0, true],
    [{ foreach: true }, "Adamax", 0.002, [0.9, 0.999], 1e-8, 0, true],
  ]) {
    const [{ params, ...group }] = new optim[name]([w()], ...places).param_groups,
      [{ params: _, ...plain }] = new optim[name]([w()]).param_groups,
      whole = /ASGD|RMSprop/.test(name);
    assert.deepEqual(group, { ...plain, ...given, maximize: whole }, name);
    const [more] = whole ? [[...places, true, true, true]] : [[...places, true]];
    assert.throws(() => new optim[name]([w()], ...more), /differentiable|takes at most/, name);
    assert.throws(() => new optim[name]([w()], { differentiable: true }), /differentiable/, name);
  }
});

test("a text that no op of a name takes is refused with all that there are", async () => {
  const texts = {};
  const folder = new URL("../../dist/ops/", import.meta.url);
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".js")))
    for (const { op } of Object.values(await import(new URL(file, folder))))
      for (const { name, kind, choices, optional } of op?.params ?? [])
        if (kind === "choice")
          for (const text of [...choices, ...(optional && op.name === "div" ? [null] : [])])
            ((texts[op.name] ??= {})[name] ??= new Set()).add(JSON.stringify(text));
  const F = nn.functional,
    x = ones(),
    i = torch.tensor([0, 1]),
    picture = torch.ones([1, 1, 4, 4]);
  for (const [name, option, call] of [
    ["div", "rounding_mode", (given) => torch.div(x, x, given)],
    ["div", "rounding_mode", (given) => torch.div(torch.complex(x, x), 2, given)],
    ["div", "rounding_mode", (given) => x.clone().div_(2, given)],
    ["pad", "mode", (given) => F.pad(picture, [1, 1], given)],
    ["grid_sample", "mode", (given) => F.grid_sample(picture, torch.ones([1, 2, 2, 2]), given)],
    ["interpolate", "mode", (given) => F.interpolate(picture, { size: [2, 2], ...given })],
    ["index_reduce", "reduce", (given) => torch.index_reduce(x, 0, i, x, given)],
    ["scatter_reduce", "reduce", (given) => torch.scatter_reduce(x, 0, torch.zeros([2, 2]).long(), x, given)],
    ["scatter_reduce", "reduce", ({ reduce }) => x.scatter_reduce(0, torch.zeros([2, 2]).long(), x, reduce)],
    ["qr", "mode", (given) => torch.linalg.qr(x, given)],
    ["embedding_bag", "mode", (given) => F.embedding_bag(i, x, torch.tensor([0]), given)],
    ["gelu", "approximate", (given) => F.gelu(x, given)],
  ])
    for (const given of ["nothing", 3, Symbol("x")]) {
      const error = await errorOf(() => call({ [option]: given }));
      assert.ok(error instanceof torch.OpError && error.message.includes(`'${option}'`), `${name}: ${error}`);
      for (const text of texts[name]?.[option] ?? ["none"])
        assert.ok(error.message.includes(text), `${text}: ${error}`);
    }
});

test("complex numbers are divided with rounding_mode null", async () => {
  // PyTorch 2.13: torch.div(a, a, rounding_mode=None), of a and b, of b and a, of a and 2.
  const a = () => torch.complex(torch.tensor([1, 2]), torch.tensor([1, 0])),
    b = torch.tensor([2, 3]),
    given = { rounding_mode: null };
  const parts = (x) => torch.view_as_real(x).tolist(),
    third = 0.6666666865348816;
  for (const divided of [
    torch.div(a(), a(), given),
    a().div(a(), given),
    a().div_(a(), given),
    torch.divide(a(), a(), given),
  ])
    assert.deepEqual(await parts(divided), [
      [1, 0],
      [1, 0],
    ]);
  assert.deepEqual(await parts(torch.div(a(), b, given)), [
    [0.5, 0.5],
    [third, 0],
  ]);
  assert.deepEqual(await parts(torch.div(b, a(), given)), [
    [1, -1],
    [1.5, 0],
  ]);
  assert.deepEqual(await parts(torch.div(a(), 2, given)), [
    [0.5, 0.5],
    [1, 0],
  ]);
  const gradients = async (options) => {
    const leaves = [a().requires_grad_(), a().add(1).detach().requires_grad_()];
    torch
      .view_as_real(torch.div(...leaves, ...options))
      .sum()
      .backward();
    return Promise.all(leaves.map(({ grad }) => parts(grad)));
  };
  assert.deepEqual(await gradients([given]), await gradients([]));
  for (const rounding_mode of ["floor", "trunc"])
    assert.throws(() => torch.div(a(), a(), { rounding_mode }), /div: "div" not implemented for 'ComplexFloat'/);
});

test("what stands on another function says its own name", async () => {
  const { distributions, safetensors } = torch,
    whole = torch.tensor([1, 2], { dtype: "uint8" });
  for (const [name, call] of [
    ["range", () => torch.range(0, 3, 0)],
    ["range", () => torch.range(0, -3)],
    ["range", () => torch.range(0, "x")],
    ["range", () => torch.range(0, 1e12)],
    ["full_like", () => torch.full_like(whole, 300)],
    ["rand_like", () => torch.rand_like(whole)],
    ["randn_like", () => torch.randn_like(whole)],
    ["load_file", () => safetensors.load_file(3)],
    ["load_file", () => safetensors.load_file(new Uint8Array(9), { map_location: "x" })],
    ["load", () => safetensors.load(3)],
    ["load", () => safetensors.load(new Uint8Array(9), { dtype: "int64" })],
    ["stream", () => safetensors.stream(3).next()],
    ["diff", () => torch.diff(ones(), 0, 1, 2)],
    ["checkpoint_sequential", () => torch.utils.checkpoint.checkpoint_sequential([ones()], 1, 2)],
    ["greater_than", () => distributions.constraints.greater_than("x")],
    ["half_open_interval", () => distributions.constraints.half_open_interval(0, "x")],
  ]) {
    const error = await errorOf(call);
    assert.ok(error instanceof torch.OpError && error.message.startsWith(`${name}: `), `${name}: ${error}`);
  }
  await assert.rejects(
    torch.load(new Uint8Array(9), { map_location: "x" }),
    /^DeviceError: load: argument 'map_location'/,
  );
});

test("a distribution refuses its parameters by its own name and theirs", () => {
  const { distributions } = torch;
  for (const [name, option, ...args] of [
    ["Normal", "scale", 0, "x"],
    ["Normal", "loc", [0], 1],
    ["Gamma", "rate", 1, [1]],
    ["Bernoulli", "probs", "x"],
    ["Uniform", "high", 0, Promise.resolve(1)],
    ["Weibull", "scale", "x", 1],
    ["LKJCholesky", "concentration", 3, "x"],
    ["RelaxedOneHotCategorical", "temperature", "x", torch.ones([3])],
  ])
    assert.throws(
      () => new distributions[name](...args),
      new RegExp(`^TypeMismatchError: ${name}: argument '${option}' must be a number or a tensor, got `),
      name,
    );
});

test("range has its last number, also where steps are no whole numbers", async () => {
  // PyTorch 2.13
  for (const [args, wanted] of [
    [
      [0, 3],
      [0, 1, 2, 3],
    ],
    [
      [3, 0, -1],
      [3, 2, 1, 0],
    ],
    [
      [1, 2.2, 0.5],
      [1, 1.5, 2],
    ],
    [[2, 2], [2]],
    [
      [0, 3, 2, { dtype: "int64" }],
      [0, 2],
    ],
    [
      [0, 3, 1, { dtype: "int64" }],
      [0, 1, 2, 3],
    ],
    [
      [3.9, -1.2, -2.5, { dtype: "int32" }],
      [3, 1, -1],
    ],
  ]) {
    const found = torch.range(...args);
    assert.deepEqual([found.dtype, await found.tolist()], [args[3]?.dtype ?? "float32", wanted]);
  }
});
