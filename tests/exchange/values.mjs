// Values of recordings: how far tensors are from them, and trees of arguments.

/** All tensors and other values of nested lists and objects, in their order. */
export function leaves(torch, value) {
  if (value instanceof torch.Tensor || value === null || typeof value !== "object") return [value];
  return (Array.isArray(value) ? value : Object.values(value)).flatMap((v) => leaves(torch, v));
}

/** The largest difference, as a part of `scale` (of the largest of `wanted` otherwise); Infinity for another shape. */
export async function distance(torch, got, wanted, scale) {
  if (!got || String(got.shape) !== String(wanted.shape)) return Infinity;
  if (wanted.numel() === 0) return 0;
  const [a, b] = [got.detach(), wanted].map((x) => (x.device === "cpu" ? x.to("float64") : x.to("float32")));
  const most = async (x) => Number(await torch.abs(x).max().item());
  return (await most(torch.sub(a, b))) / (scale ?? Math.max(1e-2, await most(b)));
}
