// The decoder of bench/llama.mjs, small: with weights of 4 bits it says what it says with the floats that these stand for,
// token by token in a compiled step over a cache of fixed size, and so does all of the text at once.
import assert from "node:assert/strict";
import test from "node:test";
import { SHAPES, llama, writer } from "../../bench/llama.mjs";
import * as torch from "../../dist/in-node/index.js";
import { QuantizedLinear } from "../../dist/in-node/runtime/quantization/index.js";

const { nn } = torch,
  SHAPE = SHAPES.llama_tiny,
  BEFORE = 9,
  MORE = 6;

/** The same decoder with plain layers, on the CPU. */
function decoded(Llama, model) {
  const plain = new Llama(SHAPE, "cpu");
  for (const [path, module] of [...model.named_modules()]) {
    if (!(module instanceof QuantizedLinear)) continue;
    const layer = nn.Linear(module.in_features, module.out_features, { bias: false, device: "cpu" });
    layer.weight = nn.Parameter(module.weight.dequantize());
    plain.set_submodule(path, layer);
  }
  plain.tokens.weight.embedding = (ids) => nn.functional.embedding(ids, plain.tokens.weight);
  return plain;
}

for (const device of ["cpu", "webgpu"])
  test(`a decoder of 4 bits, compiled, equals one of floats: ${device}`, async () => {
    if (device === "webgpu") assert.ok(await torch.initWebGPUAsync());
    torch.manual_seed(0);
    const Llama = llama(torch),
      model = new Llama(SHAPE, "cpu"),
      plain = decoded(Llama, model),
      text = torch.randint(0, SHAPE.vocabulary, [1, BEFORE + MORE], { device: "cpu" });
    await model.to(device);
    const there = text.to(device),
      { token, place, begin, step } = writer(torch, model, device),
      compiled = torch.compile(step, { fullgraph: true });
    const near = async (found, length) => {
      const wanted = torch.no_grad(() => plain(text.narrow(1, 0, length), torch.arange(length, { device: "cpu" }))),
        far = await (await found.to("cpu")).sub(wanted).abs().max().item(),
        spread = await wanted.std().item();
      assert.ok(far < 1e-4 * spread, `after ${length} tokens: ${far} of ${spread}`);
    };
    await near(begin(there.narrow(1, 0, BEFORE)), BEFORE);
    for (let n = BEFORE; n < BEFORE + MORE; n++) {
      token.copy_(there.narrow(1, n, 1)); // what stands there, in place of what the decoder would write
      await near(await compiled(), n + 1);
      assert.deepEqual(await place.tolist(), [n + 1]);
    }
    assert.ok(torch.compiler.counts(compiled).replays >= MORE - 2);
    const { kept: bytes } = model.bytes(),
      weights = [...model.modules()].filter((module) => module instanceof QuantizedLinear);
    // Five bits for a weight: four of a code and a thirty-second of a float32.
    const least = weights.reduce((sum, { in_features, out_features }) => sum + (in_features * out_features * 5) / 8, 0);
    assert.ok(bytes >= least && bytes < 1.3 * least, `${bytes} bytes, ${least} for the weights`);
  });
