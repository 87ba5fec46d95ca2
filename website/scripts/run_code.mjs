// Runs code that stands in the page, with the package: as a module of its own, so nothing is evaluated.

let torch;
/** The package, loaded when it is first asked for. */
export async function loaded() {
  torch ??= await import("./torch.js");
  return torch;
}

const PACKAGE = new URL("./torch.js", import.meta.url).href;

async function imported(text) {
  const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  try {
    return await import(url);
  } finally {
    URL.revokeObjectURL(url);
  }
}

/**
 * What an expression comes to, or the last of several lines, where the one before it ends a statement.  `device`: where
 * its tensors are made.
 * Throws what the code throws.
 */
export async function run(code, device = "cpu") {
  const { setDefaultDevice, defaultDevice } = await loaded(),
    before = defaultDevice();
  const head = `import * as torch from ${JSON.stringify(PACKAGE)};
const { nn, optim } = torch, F = nn.functional;
`;
  setDefaultDevice(device);
  try {
    const [, statements = "", last] = /^([\s\S]*;[ \t]*\n(?![ \t})\]]))?([\s\S]*)$/.exec(code.trimEnd()),
      made = await imported(`${head}${statements}export const answer = await (${last}\n);`);
    return made.answer;
  } finally {
    setDefaultDevice(before);
  }
}

const number = (value) => (Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(6))));

/** A value as the reference prints it: tensors as their elements. */
export async function shown(value) {
  if (value instanceof torch.Tensor) return shown(await value.tolist());
  if (Array.isArray(value)) return `[${(await Promise.all(value.map(shown))).join(", ")}]`;
  if (typeof value === "number") return number(value);
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "bigint") return String(value);
  if (typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype) {
    const parts = Object.entries(value).map(async ([name, part]) => `${name}: ${await shown(part)}`);
    return `{ ${(await Promise.all(parts)).join(", ")} }`;
  }
  if (value?.[Symbol.iterator]) return shown([...value]);
  return String(value);
}
