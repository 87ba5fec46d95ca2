// Whole models with random weights, as models_cuda.py has them for PyTorch, and what is done with each: one inference or one
// step of training.

/** The models' makers. */
export function models({ nn, cat, arange }) {
  const F = nn.functional;

  /** MobileNetV2's block: wider, depthwise, narrower. */
  class Inverted extends nn.Module {
    constructor(from, to, stride, wider) {
      super();
      const width = from * wider,
        layers = [];
      if (wider !== 1) layers.push(nn.Conv2d(from, width, 1, { bias: false }), nn.BatchNorm2d(width), nn.ReLU6());
      layers.push(nn.Conv2d(width, width, 3, { stride, padding: 1, groups: width, bias: false }));
      layers.push(nn.BatchNorm2d(width), nn.ReLU6(), nn.Conv2d(width, to, 1, { bias: false }), nn.BatchNorm2d(to));
      this.layers = nn.Sequential(...layers);
      this.residual = stride === 1 && from === to;
    }
    forward(x) {
      return this.residual ? x.add(this.layers(x)) : this.layers(x);
    }
  }
  function mobilenet() {
    const layers = [nn.Conv2d(3, 32, 3, { stride: 2, padding: 1, bias: false }), nn.BatchNorm2d(32), nn.ReLU6()];
    let from = 32;
    for (const [wider, to, count, stride] of [
      [1, 16, 1, 1],
      [6, 24, 2, 2],
      [6, 32, 3, 2],
      [6, 64, 4, 2],
      [6, 96, 3, 1],
      [6, 160, 3, 2],
      [6, 320, 1, 1],
    ])
      for (let n = 0; n < count; n++, from = to) layers.push(new Inverted(from, to, n ? 1 : stride, wider));
    layers.push(nn.Conv2d(320, 1280, 1, { bias: false }), nn.BatchNorm2d(1280), nn.ReLU6());
    return nn.Sequential(...layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1280, 1000));
  }

  /** ResNet's block of two convolutions. */
  class Basic extends nn.Module {
    constructor(from, to, stride) {
      super();
      this.conv1 = nn.Conv2d(from, to, 3, { stride, padding: 1, bias: false });
      this.norm1 = nn.BatchNorm2d(to);
      this.conv2 = nn.Conv2d(to, to, 3, { padding: 1, bias: false });
      this.norm2 = nn.BatchNorm2d(to);
      this.down = null;
      if (stride !== 1 || from !== to)
        this.down = nn.Sequential(nn.Conv2d(from, to, 1, { stride, bias: false }), nn.BatchNorm2d(to));
    }
    forward(x) {
      const y = this.norm2(this.conv2(F.relu(this.norm1(this.conv1(x)))));
      return F.relu(y.add(this.down ? this.down(x) : x));
    }
  }
  function resnet18() {
    const first = nn.Conv2d(3, 64, 7, { stride: 2, padding: 3, bias: false }),
      layers = [first, nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)];
    let from = 64;
    for (const to of [64, 128, 256, 512]) {
      layers.push(new Basic(from, to, to === 64 ? 1 : 2), new Basic(to, to, 1));
      from = to;
    }
    return nn.Sequential(...layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000));
  }

  class Attention extends nn.Module {
    constructor(width, heads, causal) {
      super();
      this.heads = heads;
      this.causal = causal;
      this.qkv = nn.Linear(width, 3 * width);
      this.out = nn.Linear(width, width);
    }
    /** `past`: the keys and values of earlier tokens. */
    forward(x, past) {
      const heads = (part) => part.unflatten(2, [this.heads, -1]).transpose(1, 2);
      let [q, k, v] = this.qkv(x).chunk(3, 2).map(heads);
      if (past) {
        k = cat([past[0], k], 2);
        v = cat([past[1], v], 2);
      }
      const y = F.scaled_dot_product_attention(q, k, v, { is_causal: this.causal && !past });
      return this.out(y.transpose(1, 2).flatten(2));
    }
  }
  class Block extends nn.Module {
    constructor(width, heads, causal) {
      super();
      this.norm1 = nn.LayerNorm(width);
      this.attention = new Attention(width, heads, causal);
      this.norm2 = nn.LayerNorm(width);
      this.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width));
    }
    forward(x, past) {
      x = x.add(this.attention(this.norm1(x), past));
      return x.add(this.mlp(this.norm2(x)));
    }
  }
  class Transformer extends nn.Module {
    constructor({ vocabulary, length, width, heads, layers, causal }) {
      super();
      this.tokens = nn.Embedding(vocabulary, width);
      this.places = nn.Embedding(length, width);
      this.blocks = nn.ModuleList(Array.from({ length: layers }, () => new Block(width, heads, causal)));
      this.norm = nn.LayerNorm(width);
      this.head = nn.Linear(width, vocabulary, { bias: false });
    }
    forward(tokens, pasts, start = 0) {
      const places = arange(start, start + tokens.size(1), { device: tokens.device });
      let x = this.tokens(tokens).add(this.places(places)),
        n = 0;
      for (const block of this.blocks) x = block(x, pasts?.[n++]);
      return this.head(this.norm(x));
    }
  }

  /** A block of Stable Diffusion's UNet: two convolutions, attention to itself and to a text. */
  class UNetBlock extends nn.Module {
    constructor(width, heads, context) {
      super();
      const plain = { bias: false };
      this.heads = heads;
      this.norm1 = nn.GroupNorm(32, width);
      this.conv1 = nn.Conv2d(width, width, 3, { padding: 1 });
      this.time = nn.Linear(1280, width);
      this.norm2 = nn.GroupNorm(32, width);
      this.conv2 = nn.Conv2d(width, width, 3, { padding: 1 });
      this.norm3 = nn.GroupNorm(32, width);
      this.into = nn.Conv2d(width, width, 1);
      this.from = nn.Conv2d(width, width, 1);
      this.norms = nn.ModuleList([0, 1, 2].map(() => nn.LayerNorm(width)));
      const attention = (of) =>
        nn.ModuleDict({
          q: nn.Linear(width, width, plain),
          k: nn.Linear(of, width, plain),
          v: nn.Linear(of, width, plain),
          out: nn.Linear(width, width),
        });
      this.own = attention(width);
      this.cross = attention(context);
      this.wide = nn.Linear(width, 8 * width);
      this.narrow = nn.Linear(4 * width, width);
    }
    attend(by, x, context) {
      const heads = (part) => part.unflatten(2, [this.heads, -1]).transpose(1, 2),
        { q, k, v, out } = Object.fromEntries(by.items());
      const y = F.scaled_dot_product_attention(heads(q(x)), heads(k(context)), heads(v(context)));
      return out(y.transpose(1, 2).flatten(2));
    }
    forward(x, time, context) {
      const [norm1, norm2, norm3] = this.norms,
        [, , height, width] = x.shape;
      const y = this.conv1(F.silu(this.norm1(x))).add(this.time(F.silu(time)).unsqueeze(2).unsqueeze(3));
      x = x.add(this.conv2(F.silu(this.norm2(y))));
      let z = this.into(this.norm3(x)).flatten(2).transpose(1, 2),
        n = norm1(z);
      z = z.add(this.attend(this.own, n, n));
      n = norm2(z);
      z = z.add(this.attend(this.cross, n, context));
      const [a, b] = this.wide(norm3(z)).chunk(2, 2);
      z = z.add(this.narrow(a.mul(F.gelu(b))));
      return x.add(this.from(z.transpose(1, 2).unflatten(2, [height, width])));
    }
  }

  class Lstm extends nn.Module {
    constructor() {
      super();
      this.tokens = nn.Embedding(1000, 256);
      this.lstm = nn.LSTM(256, 256, { batch_first: true });
      this.head = nn.Linear(256, 1000);
    }
    forward(tokens) {
      return this.head(this.lstm(this.tokens(tokens))[0]);
    }
  }
  const mlp = () => nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10));
  return { mobilenet, resnet18, Transformer, UNetBlock, Lstm, mlp };
}

/** name -> () => {f, inputs}, made on a device: what is called again and again, on what. */
export function programs(torch, device) {
  const { nn, optim } = torch,
    F = nn.functional;
  const { mobilenet, resnet18, Transformer, UNetBlock, Lstm, mlp } = models(torch);
  const rand = (...shape) => torch.rand(shape, { device }).mul(2).sub(1),
    ids = (below, ...shape) => torch.randint(0, below, shape, { device });
  const answers = (make, inputs) => async () => {
    const model = make();
    await model.to(device);
    model.eval();
    return { f: (...given) => torch.no_grad(() => model(...given)), inputs: inputs() };
  };
  const trains = (make, inputs, loss, optimizer) => async () => {
    const model = make();
    await model.to(device);
    const steps = optimizer(model.parameters());
    const f = async (...given) => {
      steps.zero_grad();
      loss(model, ...given).backward();
      await steps.step();
    };
    return { f, inputs: inputs() };
  };
  const classified = (model, x, labels) => F.cross_entropy(model(x), labels),
    continued = (model, x, next) => F.cross_entropy(model(x).flatten(0, 1), next.flatten());
  const adam = (parameters) => optim.Adam(parameters, { lr: 1e-3 }),
    adamw = (parameters) => optim.AdamW(parameters, { lr: 1e-4 }),
    sgd = (parameters) => optim.SGD(parameters, { lr: 0.01, momentum: 0.9 });
  const gpt2 = { vocabulary: 50257, length: 1024, width: 768, heads: 12, layers: 12, causal: true },
    bert = { vocabulary: 30522, length: 512, width: 768, heads: 12, layers: 12, causal: false },
    nano = { vocabulary: 65, length: 256, width: 384, heads: 6, layers: 6, causal: true };
  const past = () => [rand(1, 12, 256, 64), rand(1, 12, 256, 64)];
  const chain = (x) => {
    let y = x;
    for (let i = 0; i < 4; i++) y = y.mul(1.01).add(0.5).tanh();
    return y.add(x);
  };
  return {
    chain12_16m: async () => ({ f: chain, inputs: [rand(4096, 4096)] }),
    mlp_adam: trains(mlp, () => [rand(128, 784), ids(10, 128)], classified, adam),
    mobilenetv2_b1: answers(mobilenet, () => [rand(1, 3, 224, 224)]),
    mobilenetv2_b32: answers(mobilenet, () => [rand(32, 3, 224, 224)]),
    resnet18_b1: answers(resnet18, () => [rand(1, 3, 224, 224)]),
    resnet18_b32_train: trains(resnet18, () => [rand(32, 3, 224, 224), ids(1000, 32)], classified, sgd),
    gpt2_512: answers(
      () => new Transformer(gpt2),
      () => [ids(gpt2.vocabulary, 1, 512)],
    ),
    gpt2_token: answers(
      () => new Transformer(gpt2),
      () => [ids(gpt2.vocabulary, 1, 1), Array.from({ length: gpt2.layers }, past), 256],
    ),
    bert_b8x128: answers(
      () => new Transformer(bert),
      () => [ids(bert.vocabulary, 8, 128)],
    ),
    unet_block: answers(
      () => new UNetBlock(320, 8, 768),
      () => [rand(1, 320, 64, 64), rand(1, 1280), rand(1, 77, 768)],
    ),
    nanogpt_train: trains(
      () => new Transformer(nano),
      () => [ids(65, 16, 256), ids(65, 16, 256)],
      continued,
      adamw,
    ),
    lstm_train: trains(
      () => new Lstm(),
      () => [ids(1000, 32, 35), ids(1000, 32, 35)],
      continued,
      adamw,
    ),
  };
}
