// Values as what the page shows of them (output.mjs): plain data, so that a worker can send it.

/** The most numbers of a tensor that are shown. */
const MOST = 400,
  MOST_COLUMNS = 24;

/** An error's words, and the line of the program where it is known. */
export function told(error) {
  const [, line] = /blob:[^)\s]*:(\d+):\d+/.exec(error?.stack ?? "") ?? [];
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return line ? `${text} (line ${line})` : text;
}

const cells = (values) => (Array.isArray(values) ? (Array.isArray(values[0]) ? values : [values]) : [[values]]);

/** A tensor's numbers, as many as are shown. */
export async function tensorPart(x) {
  const { shape, dtype, device } = x,
    part = { kind: "tensor", shape: [...shape], dtype, device, rows: [], more: false };
  let y = x.detach();
  const [height = 1, width = 1] = shape.length > 1 ? shape.slice(-2) : [1, shape[0] ?? 1];
  if (x.numel() === 0) return part;
  const columns = Math.min(width, MOST_COLUMNS),
    lines = Math.min(height, Math.max(1, Math.floor(MOST / columns))),
    planes = shape.slice(0, -2).reduce((a, b) => a * b, 1),
    some = Math.min(planes, Math.max(1, Math.floor(MOST / (columns * lines))));
  y = y.reshape([planes, height, width]).narrow(0, 0, some).narrow(1, 0, lines).narrow(2, 0, columns);
  const found = await y.tolist();
  const size = shape.slice(0, -2);
  const place = (n) => size.reduceRight(([rest, out], s) => [Math.floor(rest / s), [rest % s, ...out]], [n, []])[1];
  part.rows = found.map((plane, n) => ({ title: planes > 1 ? `[${place(n).join(", ")}]` : "", cells: cells(plane) }));
  part.more = some < planes || lines < height || columns < width;
  return part;
}
