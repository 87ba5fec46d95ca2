// How a workload is timed. Data and protocol are the same on every device and beside other libraries.

/** Deterministic numbers in [lo, hi). */
export function uniform(n, seed, lo = -1, hi = 1) {
  const out = new Float32Array(n);
  let state = seed >>> 0;
  for (let i = 0; i < n; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    out[i] = lo + ((hi - lo) * state) / 4294967296;
  }
  return out;
}

/** Calls without a wait at most: a short one is called so often that the engine has compiled all of its host code, which
 *  takes some hundred calls. */
const MOST_PIPELINED = 2000;

/** Milliseconds of `run` with a wait for the device after each call (median), and without waiting between calls (mean).
 *  `budget`: about how long to measure each of the two, in milliseconds; most: calls with a wait. */
export async function measure(run, synchronize, { budget = 1500, most = 100 } = {}) {
  const once = async () => {
    const began = performance.now();
    await run();
    await synchronize();
    return performance.now() - began;
  };
  const first = await once();
  const warm = Math.min(10, Math.ceil(budget / 4 / Math.max(first, 0.01)));
  for (let i = 0; i < warm; i++) await once();
  const times = [];
  for (let spent = 0; times.length < 3 || (spent < budget && times.length < most); ) {
    times.push(await once());
    spent += times.at(-1);
  }
  const median = times.sort((a, b) => a - b)[times.length >> 1];
  const count = Math.max(2, Math.min(MOST_PIPELINED, Math.round(budget / median)));
  const began = performance.now();
  for (let i = 0; i < count; i++) await run();
  await synchronize();
  return { first_ms: first, median_ms: median, pipelined_ms: (performance.now() - began) / count };
}
