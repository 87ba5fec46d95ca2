// What fills a tensor in a compiled function becomes a number in the kernels that read it, whatever number it is.

const NUMBERS = [NaN, Infinity, -Infinity, 3.4028234663852886e38, -3.4028234663852886e38, 1e-30, -0, 0, 1],
  WAYS = {
    "a number for all": (x, v, torch) => torch.full([], v, { device: x.device }),
    "one each": (x, v, torch) => torch.full_like(x, v),
    "filled in place": (x, v) => x.clone().fill_(v),
    "filled where": (x, v) => x.masked_fill(x.gt(0), v),
  },
  READERS = {
    added: (x, y) => x.add(y).neg(),
    multiplied: (x, y) => x.mul(y).add(1),
    divided: (x, y) => x.div(y).abs(),
    "divided by itself": (x, y) => y.div(y).add(x),
    chosen: (x, y, torch) => torch.where(x.gt(0.5), y, x).mul(0.5),
    largest: (x, y, torch) => torch.maximum(x, y).amax(1),
    summed: (x, y) => x.mul(y).sum(1),
    "in rows": (x, y) => x.add(y).softmax(1),
    "in a product": (x, y) => x.add(y).matmul(x.t()),
    compared: (x, y) => x.lt(y).logical_not(),
  };

const numbers = async (x) => [...(await x.data())].map(Number);

export default {
  "a number that fills is the same compiled": async (t) => {
    const { torch } = t,
      x = t.tensor([0.25, -1, 2, 0.75, 0, -3, 1.5, 1], { shape: [2, 4] }),
      wrong = [];
    for (const value of NUMBERS)
      for (const [way, make] of Object.entries(WAYS))
        for (const [name, read] of Object.entries(READERS)) {
          const f = (a) => read(a, make(a, value, torch), torch),
            compiled = torch.compile(f),
            wanted = await numbers(f(x));
          for (let n = 0; n < 2; n++) {
            const got = await numbers(compiled(x));
            if (!wanted.every((w, i) => Object.is(w, got[i]) || Math.abs(w - got[i]) <= 1e-5 * Math.abs(w)))
              wrong.push(`${Object.is(value, -0) ? "-0" : value} ${way}, ${name}: ${got}, eagerly ${wanted}`);
          }
        }
    t.equal(wrong, []);
  },
};
