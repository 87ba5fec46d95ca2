// How the search reads words, alike when its index is made and when it is asked.

/** `torch.nn.functional.max_pool2d` is found by itself, by `max_pool2d`, and by `pool`. */
const parts = (text) => {
  const words = text.split(/[^\p{L}\p{N}_.]+/u).filter(Boolean);
  return words.flatMap((word) => [...new Set([word, word.split(".").at(-1), ...word.split(/[._]/)])].filter(Boolean));
};

export const OPTIONS = {
  idField: "path",
  fields: ["title", "names", "words"],
  storeFields: ["title", "path", "kind", "text"],
  tokenize: parts,
  searchOptions: {
    tokenize: (text) => text.split(/[\s,]+/).filter(Boolean),
    boost: { title: 6, names: 4 },
    prefix: true,
    fuzzy: (word) => (word.length > 4 ? 0.15 : false),
    combineWith: "AND",
  },
};
