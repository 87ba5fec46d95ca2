// What programs said of losses before there was `reduction`: `size_average` and `reduce`, of which PyTorch warns.

/** The old names, which stand for `reduction` wherever that is one. */
export const LEGACY = ["size_average", "reduce"];
const said = new Set<string>();

/** What the two, none where they were not given, say of the reduction; says once what to write in their place. */
export function legacyReduction(size_average: unknown, reduce: unknown): string {
  const reduction = !(reduce ?? true) ? "none" : (size_average ?? true) ? "mean" : "sum";
  if (!said.has(reduction))
    console.warn(`size_average and reduce args will be deprecated, please use { reduction: '${reduction}' } instead.`);
  said.add(reduction);
  return reduction;
}

/** Losses that never had them. */
const LATER = /^(huber|gaussian_?nll|ctc|triplet_?margin_?with_?distance)_?loss(\.|$)/i;
export const hasLegacy = (op: string, names: readonly string[]): boolean =>
  names.includes("reduction") && !LATER.test(op);

const isOld = (value: unknown): boolean => value === null || value === undefined || typeof value === "boolean";

/**
 * Arguments by position as they are without the two: where PyTorch has places for them, before `reduction`, the first one
 * also before `ignore_index` and `eps` of a Poisson loss, and what stands in both places can be them.
 */
export function withoutLegacy(op: string, names: readonly string[], values: unknown[]): unknown[] {
  const at = names.indexOf("reduction"),
    between = at > 0 && (names[at - 1] === "ignore_index" || (names[at - 1] === "eps" && /poisson/i.test(op))) ? 1 : 0,
    first = at - between,
    [size_average, reduce, reduction] = [values[first], values[at + 1], values[at + 2]];
  if (values.length <= first + 1 && (size_average ?? null) === null) return values;
  if (!isOld(size_average) || !isOld(reduce) || (reduction !== undefined && typeof reduction !== "string"))
    return values;
  if (between && values.length > at && typeof values[at] !== "number") return values;
  const asked = (size_average ?? reduce ?? null) !== null ? legacyReduction(size_average, reduce) : reduction,
    rest = values.slice(at + 3);
  return [
    ...values.slice(0, first),
    ...values.slice(first + 1, at + between),
    ...(asked === undefined ? [] : [asked, ...rest]),
  ];
}
