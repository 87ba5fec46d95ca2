// Sentences as points of a sphere, near to each other where they mean alike: the network of sentence-transformers'
// all-MiniLM-L6-v2 with its published weights, written as transformers' BertModel is, whose names the weights have.
import * as torch from "../../dist/index.js";
import { read } from "../read.mjs";
import { Tokenizer } from "./tokenizers/tokenizers.min.mjs";

const { nn } = torch,
  F = nn.functional;
const WIDTH = 384,
  HEADS = 12,
  LAYERS = 6,
  WORDS = 30522,
  MOST = 256; // tokens of a sentence; more are cut off, as by sentence-transformers
const PADDING = 0,
  END = 102;

/** A layer between a sum and its norm. */
class Joined extends nn.Module {
  constructor(inputs) {
    super();
    this.dense = nn.Linear(inputs, WIDTH);
    this.LayerNorm = nn.LayerNorm(WIDTH, { eps: 1e-12 });
  }

  forward(x, before) {
    return this.LayerNorm(this.dense(x).add(before));
  }
}

class SelfAttention extends nn.Module {
  constructor() {
    super();
    for (const name of ["query", "key", "value"]) this[name] = nn.Linear(WIDTH, WIDTH);
  }

  forward(x, attn_mask) {
    const [q, k, v] = [this.query, this.key, this.value].map((part) =>
      part(x).unflatten(2, [HEADS, -1]).transpose(1, 2),
    );
    return F.scaled_dot_product_attention(q, k, v, { attn_mask }).transpose(1, 2).flatten(2);
  }
}

class Layer extends nn.Module {
  constructor() {
    super();
    this.attention = nn.ModuleDict({ self: new SelfAttention(), output: new Joined(WIDTH) });
    this.intermediate = nn.ModuleDict({ dense: nn.Linear(WIDTH, 4 * WIDTH) });
    this.output = new Joined(4 * WIDTH);
  }

  forward(x, mask) {
    x = this.attention.output(this.attention.self(x, mask), x);
    return this.output(F.gelu(this.intermediate.dense(x)), x);
  }
}

class Embeddings extends nn.Module {
  constructor() {
    super();
    this.word_embeddings = nn.Embedding(WORDS, WIDTH);
    this.position_embeddings = nn.Embedding(512, WIDTH);
    this.token_type_embeddings = nn.Embedding(2, WIDTH);
    this.LayerNorm = nn.LayerNorm(WIDTH, { eps: 1e-12 });
  }

  forward(ids) {
    const places = this.position_embeddings.weight.narrow(0, 0, ids.size(1)),
      first = this.token_type_embeddings.weight.narrow(0, 0, 1);
    return this.LayerNorm(this.word_embeddings(ids).add(places).add(first));
  }
}

export class MiniLM extends nn.Module {
  constructor() {
    super();
    this.embeddings = new Embeddings();
    this.encoder = nn.ModuleDict({ layer: nn.ModuleList(Array.from({ length: LAYERS }, () => new Layer())) });
  }

  /** `ids` and `mask`, [sentences, tokens], to [sentences, 384] of length 1: the mean of what is not padding. */
  forward(ids, mask) {
    const seen = mask.unsqueeze(1).unsqueeze(1);
    let x = this.embeddings(ids);
    for (const layer of this.encoder.layer) x = layer(x, seen);
    const weights = mask.unsqueeze(2).float();
    return F.normalize(x.mul(weights).sum(1).div(weights.sum(1)), { dim: 1 });
  }
}

/** A module whose weights are yet to come: 23 million random numbers would be drawn in vain. */
function withoutWeights(make) {
  const device = torch.get_default_device();
  torch.set_default_device("meta");
  try {
    return make();
  } finally {
    torch.set_default_device(device);
  }
}

/** What a folder holds: its `model.safetensors`, `tokenizer.json` and `tokenizer_config.json`. */
export async function load(folder, device, progress = () => {}) {
  const text = async (name) => JSON.parse(new TextDecoder().decode(await read(new URL(name, folder)))),
    tokenizer = new Tokenizer(await text("tokenizer.json"), await text("tokenizer_config.json"));
  const weights = await torch.load(new URL("model.safetensors", folder), { map_location: device, progress }),
    model = withoutWeights(() => new MiniLM());
  const { missing_keys } = await model.load_state_dict(weights, { strict: false, assign: true }); // no pooler here
  if (missing_keys.length) throw new RangeError(`model.safetensors lacks ${missing_keys.join(", ")}`);
  model.eval();

  /** The tokens of a sentence, as numbers. */
  function tokens(sentence) {
    const { ids } = tokenizer.encode(sentence);
    return ids.length > MOST ? [...ids.slice(0, MOST - 1), END] : ids;
  }

  /** [sentences, 384]; the dot product of two rows says how alike they are. */
  function embed(sentences) {
    const rows = sentences.map(tokens),
      longest = Math.max(...rows.map((ids) => ids.length)),
      padded = rows.map((ids) => [...ids, ...new Array(longest - ids.length).fill(PADDING)]);
    return torch.no_grad(() =>
      model(
        torch.tensor(padded, { dtype: torch.long, device }),
        torch.tensor(
          rows.map((ids) => padded[0].map((_, n) => n < ids.length)),
          { device },
        ),
      ),
    );
  }
  return { tokens, embed };
}
