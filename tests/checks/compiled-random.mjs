// Random programs, compiled, equal themselves call for call.

import { made, all, same } from "./compile.mjs";

/** A program of ops, views, in-place changes and branches by shape; the same for a seed. */
function randomProgram(t, seed) {
  let state = seed * 2654435761;
  const pick = (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
  const lines = Array.from({ length: 4 + pick(8) }, () => [pick(12), pick(100), pick(100)]),
    shapes = Array.from({ length: 1 + pick(2) }, () => [2 + pick(3), 3]);
  shapes.forEach((shape) => {
    shape[0] = shapes[0][0];
  });
  const { torch } = t;
  const f = (...inputs) => {
    const values = [...inputs];
    for (const [kind, first, second] of lines) {
      const a = values[first % values.length],
        b = values[second % values.length];
      switch (kind) {
        case 0:
          values.push(a.add(b));
          break;
        case 1:
          values.push(a.mul(b).sub(0.5));
          break;
        case 2:
          values.push(a.sin());
          break;
        case 3:
          a.mul_(0.5);
          break;
        case 4:
          a.add_(b.detach());
          break;
        case 5:
          a.narrow(0, 1, 1).copy_(b.narrow(0, 0, 1));
          break;
        case 6:
          a.select(1, second % 3).fill_(first / 10);
          break;
        case 7:
          values.push(a.t().contiguous().t());
          break;
        case 8:
          values.push(torch.softmax(a, second % 2));
          break;
        case 9:
          values.push(a.shape[0] > 3 ? a.cumsum(0) : a.sum(0).expand(a.shape).clone());
          break;
        case 10:
          values.push(torch.nn.functional.dropout(a, 0.3));
          break;
        default:
          values.push(torch.where(a.gt(b), a, b.neg()));
      }
    }
    return values.slice(inputs.length);
  };
  return { f, shapes, text: JSON.stringify(lines) };
}

export default {
  "random programs, compiled, are what they are": async (t) => {
    for (let seed = 1; seed <= 60; seed++) {
      const own = randomProgram(t, seed),
        f = t.torch.compile(own.f),
        g = own.f;
      for (let n = 0; n < 4; n++) {
        const inputs = () =>
            own.shapes.map((shape, i) => made(t, n === 3 ? [shape[0] + 1, shape[1]] : shape, 31 * n + i)),
          [a, b] = [inputs(), inputs()];
        t.torch.manual_seed(seed);
        const got = f(...a);
        t.torch.manual_seed(seed);
        const wanted = g(...b);
        same(t, await all([...got, ...a]), await all([...wanted, ...b]));
      }
    }
  },
};
