// What a matrix product costs in plain JavaScript: three loops, blocked for the cache.

/** c += a (m x k) times b (k x n), row-major Float32Arrays. */
export function matmul(a, b, c, m, k, n, block = 64) {
  for (let k0 = 0; k0 < k; k0 += block) {
    const k1 = Math.min(k0 + block, k);
    for (let i = 0; i < m; i++) {
      for (let p = k0; p < k1; p++) {
        const x = a[i * k + p],
          from = p * n,
          to = i * n;
        for (let j = 0; j < n; j++) c[to + j] += x * b[from + j];
      }
    }
  }
}
