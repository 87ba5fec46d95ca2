// Weights of few bits: products that decode them equal products with what they stand for, and no launch writes that.
import { load } from "../../dist/runtime/gguf/index.js";
import {
  QuantizedLinear,
  QuantizedWeight,
  int4_weight_only,
  int8_weight_only,
  quantize_,
  quantized,
} from "../../dist/runtime/quantization/index.js";

/** A file with a tensor of each type, and what PyPI's `gguf` decodes each to (tests/gguf/record.py). */
async function recorded(t) {
  const at = new URL("../files/weights.gguf", import.meta.url);
  return load(at.protocol === "file:" ? at : at.href, { map_location: t.device, dtype: "float32" });
}
const most = (x) => x.abs().max().item();
const within = async (t, got, wanted, part) =>
  t.equal((await most(got.sub(wanted))) <= part * (await most(wanted)), true);
export default {
  "GGUF's metadata are what gguf wrote": async (t) => {
    const { metadata, tensors } = await recorded(t);
    t.equal(metadata["general.architecture"], "test");
    t.equal(metadata["test.count"], 4294967295);
    t.equal(metadata["test.large"], -(2n ** 60n));
    t.equal(metadata["test.eps"], 0.5);
    t.equal(metadata["test.yes"], true);
    t.equal(metadata["test.name"], "gewöhnlich");
    t.equal(metadata["test.words"], ["a", "", "läng"]);
    t.equal([...metadata["test.numbers"]], [1, -2, 3]);
    t.equal(Object.hasOwn(metadata, "__proto__"), true);
    t.equal(await tensors.vector.tolist(), [0, 1, 2, 3, 4]);
    t.equal(await tensors.whole.tolist(), [
      [0, 1, 2],
      [3, 4, 5],
    ]);
  },
  "GGUF's tensors are decoded as gguf decodes them": async (t) => {
    const { tensors } = await recorded(t);
    for (const type of ["F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_K", "Q6_K"]) {
      const found = tensors[type],
        wanted = tensors[`${type}.expected`],
        got = found instanceof QuantizedWeight ? found.dequantize() : found;
      t.equal(got.shape, wanted.shape);
      t.equal(await most(got.sub(wanted)), 0);
    }
  },
  "products, of one row and of many, are those with the decoded weights": async (t) => {
    const { tensors } = await recorded(t),
      { torch } = t,
      F = torch.nn.functional;
    torch.manual_seed(0);
    for (const type of ["Q8_0", "Q4_0", "Q4_K", "Q6_K"]) {
      const weight = tensors[type],
        plain = tensors[`${type}.expected`],
        [rows, columns] = weight.shape,
        bias = torch.randn([rows], { device: t.device });
      for (const shape of [[columns], [1, columns], [3, columns], [2, 40, columns]]) {
        const x = torch.randn(shape, { device: t.device });
        await within(t, weight.linear(x), F.linear(x, plain), 1e-6 * columns);
        await within(t, weight.linear(x, bias), F.linear(x, plain, bias), 1e-6 * columns);
      }
      const ids = t.tensor(
        [
          [0, rows - 1],
          [2, 2],
        ],
        { dtype: "int64" },
      );
      await within(t, weight.embedding(ids), F.embedding(ids, plain), 0);
    }
  },
  "large matrices go through tiles": async (t) => {
    const { torch } = t;
    torch.manual_seed(1);
    const plain = torch.randn([96, 256], { device: t.device }),
      x = torch.randn([80, 256], { device: t.device });
    for (const how of [
      int4_weight_only(32),
      int4_weight_only({ group_size: 256 }),
      int8_weight_only(),
      int8_weight_only(64),
    ]) {
      const weight = quantized(plain, how),
        decoded = weight.dequantize();
      await within(t, decoded, plain, how.bits === 4 ? 0.08 : 0.005);
      await within(t, weight.linear(x), torch.nn.functional.linear(x, decoded), 1e-5);
      await within(t, weight.linear(x.narrow(0, 0, 1)), torch.nn.functional.linear(x.narrow(0, 0, 1), decoded), 1e-5);
    }
  },
  "codes are the nearest ones": async (t) => {
    const rows = t.tensor([
        [-7, -3.5, 0, 0.5, 1, 3, 7, 8],
        [0, 0, 0, 0, 0, 0, 0, 0],
      ]),
      four = quantized(rows, int4_weight_only(8)),
      eight = quantized(rows, int8_weight_only());
    t.close(await four.dequantize().tolist(), [
      [-7, -4, 0, 0, 1, 3, 7, 8],
      [0, 0, 0, 0, 0, 0, 0, 0],
    ]);
    t.equal(four.nbytes, 2 * 4 + 2 * 4 + 2 * 4);
    t.close(await eight.dequantize().tolist(), await rows.tolist(), { atol: 8 / 254 + 1e-6 });
    t.equal(eight.nbytes, 2 * 8 + 2 * 4);
  },
  "columns beyond the matrix are met with zeros": async (t) => {
    const { torch } = t,
      whole = quantized(torch.randn([5, 64], { device: t.device }), int4_weight_only(32)),
      part = new QuantizedWeight("int4", [5, 50], whole.parts),
      x = torch.randn([3, 50], { device: t.device });
    t.equal(part.dequantize().shape, [5, 50]);
    await within(t, part.linear(x), torch.nn.functional.linear(x, whole.dequantize().narrow(1, 0, 50)), 1e-5);
  },
  "gradients reach inputs and biases": async (t) => {
    const { torch } = t,
      F = torch.nn.functional,
      weight = quantized(torch.randn([6, 32], { device: t.device }), int4_weight_only(16)),
      plain = weight.dequantize(),
      x = torch.randn([4, 32], { device: t.device, requires_grad: true }),
      bias = torch.zeros([6], { device: t.device, requires_grad: true }),
      cotangent = torch.randn([4, 6], { device: t.device });
    weight.linear(x, bias).backward(cotangent);
    const [gx, gb] = [x.grad.clone(), bias.grad.clone()];
    x.grad = null;
    bias.grad = null;
    F.linear(x, plain, bias).backward(cotangent);
    await within(t, gx, x.grad, 1e-5);
    await within(t, gb, bias.grad, 1e-5);
  },
  "quantize_ puts small layers in the place of linear ones": async (t) => {
    const { torch } = t,
      { nn } = torch;
    torch.manual_seed(2);
    const model = nn
        .Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Sequential(nn.Linear(32, 32, { bias: false })))
        .to(t.device),
      x = torch.randn([3, 64], { device: t.device }),
      before = model(x).detach();
    quantize_(model, int8_weight_only(), (_, path) => path !== "2.0");
    t.equal(
      [...model.named_modules()].filter(([, m]) => m instanceof QuantizedLinear).map(([path]) => path),
      ["0"],
    );
    await within(t, model(x), before, 0.02);
    quantize_(model, int4_weight_only(32));
    await within(t, model(x), before, 0.25);
    t.equal(Object.keys(model.state_dict()).sort(), [
      "0.bias",
      "0.codes",
      "0.scale",
      "2.0.codes",
      "2.0.scale",
      "2.0.zero",
    ]);
    t.equal(/QuantizedLinear\(in_features=32, out_features=32, bias=False, format=int4\)/.test(String(model)), true);
  },
  "what cannot be meant is refused": async (t) => {
    const { torch } = t,
      weight = torch.randn([4, 30], { device: t.device }),
      small = quantized(torch.randn([4, 32], { device: t.device }), int4_weight_only(32));
    await t.throws(() => quantized(weight, int4_weight_only(32)), /30 columns cannot be groups of 32/);
    await t.throws(() => quantized(torch.randn([32]), int4_weight_only(32)), /must be a matrix/);
    await t.throws(() => quantize_(weight, int4_weight_only()), /'model' must be a module/);
    await t.throws(() => quantize_(torch.nn.Linear(2, 2), 4), /int4_weight_only/);
    await t.throws(() => small.linear(weight), /must have 32 columns/);
    await t.throws(() => new QuantizedWeight("constructor", [1, 8], {}), /format must be one of/);
    await t.throws(() => new QuantizedWeight("int4", [1, 8], {}), /codes is missing/);
    await t.throws(() => new QuantizedWeight("int4", [4, 64], small.parts), /hold 32 columns/);
    await t.throws(() => new QuantizedWeight("int4", [5, 32], small.parts), /cannot be those of/);
  },
};
