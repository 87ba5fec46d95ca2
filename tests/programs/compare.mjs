// A result against PyTorch's: type, shape, numbers, whether it needs a gradient, and how a view lies in memory.
import { TYPES, numbers } from "./player.mjs";

/** How far each number may be off: what rounding does to it in PyTorch, thirtyfold, and a little. */
function allowances({ noise, dtype }, gradient) {
  const half = dtype === "float16",
    bytes = noise && Buffer.from(noise, "base64");
  const atol = half ? 2e-3 : bytes ? 1e-5 : gradient ? 1e-4 : 1e-6,
    rtol = half ? 4e-3 : bytes ? 1e-4 : 1e-3;
  return (want, i) => atol + rtol * Math.abs(want) + (bytes?.[i] ? 30 * 2 ** (bytes[i] - 150) : 0);
}

const same = (got, want) => got === want || (Number.isNaN(got) && Number.isNaN(want));

/** The first thing about `got` that is not as recorded, or null. */
export async function difference(got, want, torch, gradient) {
  if (!(got instanceof torch.Tensor)) return { kind: "no tensor", got: String(got) };
  const dtype = TYPES[want.dtype] ?? want.dtype;
  if (got.shape.join() !== want.shape.join()) return { kind: "shape", got: got.shape, want: want.shape };
  if (got.dtype !== dtype) return { kind: "dtype", got: got.dtype, want: want.dtype };
  if (want.b64 === undefined) return null;
  const wanted = numbers(want),
    allowed = allowances(want, gradient),
    data = await got.data();
  for (let i = 0; i < wanted.length; i++) {
    const [g, w] = [Number(data[i]), Number(wanted[i])];
    if (!same(g, w) && !(Math.abs(g - w) <= allowed(w, i))) return { kind: "value", at: i, got: g, want: w };
  }
  return null;
}

/** Whether the elements lie otherwise in memory than `strides` say. */
export const liesOtherwise = (tensor, strides) =>
  tensor.numel() > 1 && tensor.shape.some((n, axis) => n > 1 && tensor.stride(axis) !== strides[axis]);
