// Values of recordings: how far tensors are from them, and trees of arguments.

/** All tensors and other values of nested lists and objects, in their order. */
export function leaves(torch, value) {
  if (value instanceof torch.Tensor || value === null || typeof value !== "object") return [value];
  return (Array.isArray(value) ? value : Object.values(value)).flatMap((v) => leaves(torch, v));
}

/** The largest difference, as a part of `scale` (of the largest of `wanted` otherwise); Infinity for another shape.
 *  What is no number, or infinite, has to be so there, too. */
export async function distance(torch, got, wanted, scale) {
  if (!got || String(got.shape) !== String(wanted.shape)) return Infinity;
  if (wanted.numel() === 0) return 0;
  const real = (x) => (x.is_complex() ? torch.view_as_real(x) : x),
    [a, b] = [got, wanted].map((x) => real(x.detach()).to(x.device === "cpu" ? "float64" : "float32")),
    same = a.eq(b).logical_or(a.isnan().logical_and(b.isnan())),
    most = async (x) => Number(await torch.abs(x).max().item()),
    far = await most(torch.where(same, 0, torch.sub(a, b)));
  return far / (scale ?? Math.max(1e-2, await most(torch.where(b.isfinite(), b, 0))));
}
