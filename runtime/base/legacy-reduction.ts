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
