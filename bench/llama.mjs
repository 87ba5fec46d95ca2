// A decoder like Llama's (RoPE, grouped queries, SwiGLU, RMS norms) over weights of 4 bits that are drawn at random, with a
// cache of keys and values of a fixed size that every call writes in place; llama_cuda.py has it for PyTorch in float16.
import * as quantization from "../dist/in-node/runtime/quantization/index.js";

/** Llama 3.2's shape of 1 billion parameters, whose embeddings are its head, too; and one for tests. */
export const SHAPES = {
  llama_1b: { vocabulary: 128256, width: 2048, hidden: 8192, heads: 32, shared: 8, layers: 16, length: 1024 },
  llama_tiny: { vocabulary: 96, width: 64, hidden: 96, heads: 4, shared: 2, layers: 2, length: 32 },
};
const GROUP = 32, // weights that share a scale, as in GGML's Q4_0
  SPREAD = 4.61; // the standard deviation of codes from 0 to 15

/** The class `Llama`. */
export function llama(torch, { QuantizedLinear, QuantizedWeight } = quantization) {
  const { nn } = torch,
    F = nn.functional;

  /** A matrix of random codes, whose weights have the spread of nn.Linear's. */
  function weights(outputs, inputs, device) {
    const groups = inputs / GROUP,
      codes = torch.randint(-(2 ** 31), 2 ** 31, [outputs, groups, GROUP / 8], { dtype: torch.int32, device }),
      scale = torch
        .rand([outputs, groups], { device })
        .add(0.5)
        .div(SPREAD * Math.sqrt(inputs));
    return new QuantizedWeight("int4", [outputs, inputs], { codes, scale });
  }

  class Attention extends nn.Module {
    constructor({ width, heads, shared, length }, device) {
      super();
      const size = width / heads;
      Object.assign(this, { heads, shared, size });
      this.qkv = new QuantizedLinear(weights((heads + 2 * shared) * size, width, device));
      this.out = new QuantizedLinear(weights(width, width, device));
      for (const name of ["keys", "values"])
        this.register_buffer(name, torch.zeros([1, shared, length, size], { device }));
    }
    /** `rotation`: cosines and sines of the places; `seen`: which places of the cache a token sees, null for those up to it. */
    forward(x, places, rotation, seen) {
      const { heads, shared, size } = this,
        [q, k, v] = this.qkv(x)
          .unflatten(2, [-1, size])
          .transpose(1, 2)
          .split([heads, shared, shared], 1)
          .map((part, n) => (n < 2 ? turned(part, rotation) : part));
      this.keys.index_copy_(2, places, k);
      this.values.index_copy_(2, places, v);
      const y = seen
        ? F.scaled_dot_product_attention(q, this.keys, this.values, { attn_mask: seen, enable_gqa: true })
        : F.scaled_dot_product_attention(q, k, v, { is_causal: true, enable_gqa: true });
      return this.out(y.transpose(1, 2).flatten(2));
    }
  }

  /** RoPE: the two halves of each head, turned by the angles of the places. */
  function turned(x, [cosines, sines]) {
    const halves = x.unflatten(3, [2, -1]);
    return halves.mul(cosines).add(halves.flip(3).mul(sines)).flatten(3);
  }

  class Block extends nn.Module {
    constructor(shape, device) {
      super();
      const { width, hidden } = shape;
      this.norm1 = nn.RMSNorm(width, { device });
      this.attention = new Attention(shape, device);
      this.norm2 = nn.RMSNorm(width, { device });
      this.gate = new QuantizedLinear(weights(hidden, width, device));
      this.up = new QuantizedLinear(weights(hidden, width, device));
      this.down = new QuantizedLinear(weights(width, hidden, device));
    }
    forward(x, ...at) {
      x = x.add(this.attention(this.norm1(x), ...at));
      const y = this.norm2(x);
      return x.add(this.down(F.silu(this.gate(y)).mul(this.up(y))));
    }
  }

  return class Llama extends nn.Module {
    constructor(shape, device) {
      super();
      const size = shape.width / shape.heads;
      this.tokens = new QuantizedLinear(weights(shape.vocabulary, shape.width, device));
      this.blocks = nn.ModuleList(Array.from({ length: shape.layers }, () => new Block(shape, device)));
      this.norm = nn.RMSNorm(shape.width, { device });
      const rates = torch.pow(500000, torch.arange(0, size, 2, { device }).div(-size)),
        angles = torch.outer(torch.arange(shape.length, { device }).float(), rates);
      // Of both halves, [length, 2, size / 2]: the first is turned against the second.
      this.register_buffer("cosines", angles.cos().unsqueeze(1));
      this.register_buffer("sines", torch.stack([angles.sin().neg(), angles.sin()], 1));
      this.register_buffer("order", torch.arange(shape.length, { device }));
    }
    /** The scores of what follows the last of `tokens`, [1, n], which stand at `places`, [n]: at the beginning, or one. */
    forward(tokens, places) {
      const rotation = [this.cosines, this.sines].map((table) => table.index_select(0, places)),
        seen = tokens.size(1) === 1 ? this.order.le(places).view(1, 1, 1, -1) : null;
      let x = this.tokens.weight.embedding(tokens);
      for (const block of this.blocks) x = block(x, places, rotation, seen);
      return this.tokens(this.norm(x.narrow(1, x.size(1) - 1, 1)));
    }
    /** Bytes of all parameters and buffers, those of the cache apart. */
    bytes() {
      let [kept, cache] = [0, 0];
      for (const [name, { nbytes }] of Object.entries(this.state_dict()))
        if (/\.(keys|values)$/.test(name)) cache += nbytes;
        else kept += nbytes;
      return { kept, cache };
    }
  };
}

/** Writes one token after the other: a step takes the tensors `token`, [1, 1], and `place`, [1], on, in place. */
export function writer(torch, model, device) {
  const token = torch.zeros([1, 1], { dtype: torch.int64, device }),
    place = torch.zeros([1], { dtype: torch.int64, device });
  const step = () =>
    torch.no_grad(() => {
      const scores = model(token, place);
      token.copy_(scores.argmax(-1));
      place.add_(1);
      return scores;
    });
  /** Reads what stands before, [1, n], at the beginning of the cache; answers the scores of what follows. */
  const begin = (tokens) =>
    torch.no_grad(() => {
      const scores = model(tokens, torch.arange(tokens.size(1), { device }));
      token.copy_(scores.argmax(-1));
      place.fill_(tokens.size(1));
      return scores;
    });
  return { token, place, step, begin };
}

/** What programs.mjs times: reading 512 tokens into the cache, and writing one at a time after them. */
export function programs(torch, device) {
  const shape = SHAPES.llama_1b,
    read = 512;
  const made = (run, tokens) => async () => {
    const model = new (llama(torch))(shape, device),
      written = writer(torch, model, device),
      { kept, cache } = model.bytes();
    written.place.fill_(read);
    return { ...run(written), tokens, state_bytes: kept, cache_bytes: cache };
  };
  return {
    llama1b_int4_512: made(
      ({ begin }) => ({ f: begin, inputs: [torch.randint(0, shape.vocabulary, [1, read], { device })] }),
      read,
    ),
    llama1b_int4_token: made(({ step }) => ({ f: step, inputs: [] }), 1),
  };
}
