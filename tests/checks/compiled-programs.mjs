// Random programs: chains of ops, views, changes in place, branches by shape, gradients.  Compiled they are what they are
// eagerly, results and what they leave in their arguments.  PROGRAMS=FIRST:COUNT runs others.

/** A generator of whole numbers below a bound. */
function dice(seed) {
  let state = (seed * 2654435761 + 97) >>> 0;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 2246822519) + 374761393) >>> 0;
    state ^= state >>> 13;
    return (state >>> 0) % below;
  };
}

const UNARY = ["relu", "neg", "tanh", "sigmoid", "abs", "sin", "square", "atan", "softsign", "erf", "floor"],
  BINARY = ["add", "sub", "mul", "maximum", "minimum", "atan2"],
  // What answers one shape of another: [name, does it].
  ROWS = [
    (x, roll, F) => F.softmax(x, roll(x.dim())),
    (x, _, F) => F.layer_norm(x, [x.shape.at(-1)]),
    (x, roll) => x.sum(roll(x.dim()), true),
    (x, roll) => x.mean(roll(x.dim())),
    (x, roll) => x.cumsum(roll(x.dim())).mul(0.25),
    (x, roll) => x.amax(roll(x.dim()), true),
    (x) => x.sum().div(8),
    (x, roll) => x.var(roll(x.dim()), { keepdim: true, correction: 0 }),
    (x, roll) => x.logsumexp(roll(x.dim())),
  ],
  VIEWS = [
    (x) => x.transpose(0, -1),
    (x) => x.reshape([-1]),
    (x, roll) => x.narrow(roll(x.dim()), 0, 1),
    (x, roll) => x.select(roll(x.dim()), 0),
    (x, roll) => x.unsqueeze(roll(x.dim() + 1)),
    (x) => x.transpose(0, -1).contiguous(),
    (x) => x.clone(),
    (x) => x.contiguous(),
    (x, roll) => x.flip(roll(x.dim())),
    (x) => x.expand([2, ...x.shape]),
    (x) => x.reshape([2, -1]),
  ];

/** A program as its choices, which say the same each time it runs. */
function program(seed, torch, gradients) {
  const F = torch.nn.functional;
  return (...given) => {
    const roll = dice(seed),
      held = [...given],
      results = [],
      length = 3 + roll(14);
    const some = () => held[Math.max(held.length - 1 - roll(4), roll(held.length))],
      keep = (x) => {
        if (x.numel() > 0 && x.numel() <= 4096) held.push(x);
      },
      fits = (x) => held.filter((y) => y.shape.length === x.shape.length && y.shape.every((n, i) => n === x.shape[i]));
    for (let n = 0; n < length; n++) {
      const x = some(),
        what = roll(20);
      if (what < 5) keep(x[UNARY[roll(UNARY.length)]]?.() ?? x.relu());
      else if (what < 9) {
        const like = fits(x),
          other = [1.5, -0.25, like[roll(like.length)], like[roll(like.length)]][roll(4)],
          name = BINARY[roll(BINARY.length)];
        keep(
          typeof other === "number" && roll(2)
            ? x.mul(other).add(other)
            : x[name](typeof other === "number" ? like[0] : other),
        );
      } else if (what < 10) {
        const row = held.find((y) => y.dim() === 1 && y.shape[0] === x.shape.at(-1));
        keep(row ? x.mul(row) : x.add(1));
      } else if (what < 12 && x.dim()) keep(ROWS[roll(ROWS.length)](x, roll, F));
      else if (what < 15 && x.dim()) {
        const view = VIEWS[roll(VIEWS.length)];
        keep(x.numel() % 2 && view === VIEWS[10] ? x.relu() : view(x, roll));
      } else if (what < 17 && !gradients) {
        const like = fits(x).filter((y) => y !== x),
          target = x.dim() && roll(2) ? x.narrow(0, 0, 1 + roll(x.shape[0])) : x;
        if (x.shape.length > 2 && x.stride(0) === 0) continue; // an expanded tensor is not changed
        if (x._base?.stride?.().includes(0) || x.stride().some((s, i) => s === 0 && x.shape[i] > 1)) continue;
        const act = roll(5);
        if (act === 0) target.mul_(0.5);
        else if (act === 1) target.add_(1);
        else if (act === 2 && like.length) x.copy_(like[roll(like.length)].mul(1));
        else if (act === 3) target.relu_();
        else target.fill_(0.75);
        if (roll(3) === 0) results.push(x);
      } else if (what < 18) {
        if (x.dim() === 2) keep(x.matmul(x.t()).mul(0.1));
        else keep(x.shape.length > 1 ? x.sigmoid() : x.tanh());
      } else if (what < 19) {
        const like = fits(x);
        if (x.dim()) keep(torch.cat([x, like[roll(like.length)]], roll(x.dim())));
      } else keep(torch.where(x.gt(0.12345), x, fits(x)[0].mul(-1)));
      if (roll(9) === 0) results.push(held.at(-1));
    }
    const last = held.at(-1);
    if (gradients) {
      const wanted = given.filter((x) => x.requires_grad);
      let total = last.sum();
      for (const x of results) if (x.requires_grad) total = total.add(x.mean());
      if (!total.requires_grad) return [last];
      return [last.detach().clone(), ...torch.autograd.grad(total, wanted, { allow_unused: true }).filter((g) => g)];
    }
    // A view of what was given is refused as a result.
    const outside = (x) => !given.includes(x) && given.some(({ storage }) => storage === x.storage);
    return [last, ...results].map((x) => (outside(x) ? x.clone() : x));
  };
}

const SHAPES = [
  [[4, 6], [4, 6], [6]],
  [[3, 5], [5, 3], [3]],
  [[2, 3, 4], [2, 3, 4], [4]],
  [[8], [8], [1]],
  [[2, 1, 9], [2, 1, 9], [9]],
];

const values = (shape, first) =>
  Float32Array.from(
    { length: shape.reduce((a, b) => a * b, 1) },
    (_, k) => Math.fround((((k + first) * 7919 + 104729) % 1009) / 504.5 - 1) * 1.5,
  );

const elements = async (tensors) => Promise.all(tensors.map(async (x) => [x.shape.join(), [...(await x.data())]]));

/** What is wrong with a program; null: nothing.  `turns`: by how much sizes are larger, call by call. */
export async function wrong(
  t,
  seed,
  { turns = [0, 0, 0, 0], grown = (shapes) => shapes, counted, fullgraph = true } = {},
) {
  const gradients = seed % 4 === 3,
    f = program(seed, t.torch, gradients),
    compiled = t.torch.compile(f, { fullgraph }),
    shapes = SHAPES[seed % SHAPES.length];
  const args = (n) =>
    grown(shapes, turns[n]).map((shape, i) =>
      t.tensor(values(shape, 31 * n + 7 * i), { shape, requires_grad: gradients }),
    );
  for (let n = 0; n < turns.length; n++) {
    const a = args(n),
      b = args(n),
      got = await elements([...compiled(...a), ...a.map((x) => x.detach())]),
      wanted = await elements([...f(...b), ...b.map((x) => x.detach())]);
    for (let k = 0; k < wanted.length; k++) {
      const [shape, mine] = got[k] ?? [],
        [other, right] = wanted[k];
      if (shape !== other) return `result ${k} has shape ${shape}, not ${other}`;
      const most = Math.max(1, ...right.map(Math.abs).filter(Number.isFinite));
      const at = right.findIndex((x, i) => !Object.is(x, mine[i]) && !(Math.abs(x - mine[i]) <= 2e-5 * most));
      if (at >= 0) return `call ${n}, result ${k} at ${at}: ${mine[at]}, eagerly ${right[at]}`;
    }
  }
  const counts = t.torch.compiler.counts(compiled);
  counted?.(counts);
  return counts.replays > 0 ? null : `${counts.replays} replays`;
}

const [first, many] = (globalThis.process?.env?.PROGRAMS ?? "").split(":").map(Number),
  PARTS = 4;

export default Object.fromEntries(
  Array.from({ length: many ? 1 : PARTS }, (_, part) => [
    `random programs are the same compiled, part ${part + 1}`,
    async (t) => {
      const count = many || (t.device === "cpu" ? 500 : 12),
        found = [];
      for (let n = 0; n < count; n++) {
        const seed = (many ? first : part * 500) + n;
        let what;
        try {
          what = await wrong(t, seed);
        } catch (error) {
          what = String(error?.stack ?? error).slice(0, 400);
        }
        if (what !== null) found.push(`program ${seed}: ${what}`);
      }
      if (found.length) throw new Error(`${found.length} programs:\n${found.slice(0, 12).join("\n")}`);
    },
  ]),
);
