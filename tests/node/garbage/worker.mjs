// Calls each export with garbage, in a process that the test watches: it tells what it is at, and what it found.
import { everything, makersOf } from "./exports.mjs";
import { GARBAGE, hash, random, sensible } from "./values.mjs";

// Each of 40,000 errors would note where it was thrown: a third of the time.  To see where, set it to 10.
Error.stackTraceLimit = 0;
const { package: url, device, from, every, calls, seed } = JSON.parse(process.argv[2]);
const tell = (message) => {
  process.send(message);
};
const torch = await import(url);
if (device === "webgpu") await torch.initWebGPUAsync();
else torch.setDefaultDevice("cpu");
const good = sensible(torch, device),
  goodKeys = Object.keys(good),
  badKeys = Object.keys(GARBAGE);
const all = everything(torch, makersOf(torch, device));
tell({ names: all.map(({ name }) => name) });
process.on("unhandledRejection", (reason) =>
  tell({ name: "a call before", args: "", wrong: `rejects with nobody to hear: ${said(reason)}` }),
);

function said(e) {
  const where =
    e?.stack
      ?.split("\n")
      .find((line) => /dist\//.test(line))
      ?.trim()
      .replace(/.*dist\//, "") ?? "";
  return `${e?.name}: ${String(e?.message).slice(0, 200)} (${where})`;
}

/** One of the package's own errors, that names what it is about. */
const own = (e) => e instanceof torch.OpError;

/** The names that users know: those of exports and of the classes and packages that they stand in, and properties. */
const known = new Set(
  everything(torch, makersOf(torch, device), null)
    .flatMap(({ name }) => name.split("."))
    .concat("mT"),
);

/** A function that an error names and that users cannot know, as `complex_of` for `torch.complex`; or null. */
function innerName({ message }) {
  const name = /^([A-Za-z_]\w*(?:\.\w+)*)(?=: (?!it cannot be opened))/.exec(message)?.[1];
  return name === undefined || name.split(".").every((part) => known.has(part)) ? null : `names ${name}: ${message}`;
}

/** A result may not hold what is no size. */
function wrongShape(value) {
  const shape = value instanceof torch.Tensor ? value.shape : null;
  return shape && !Array.prototype.every.call(shape, (n) => Number.isInteger(n) && n >= 0) ? `shape [${shape}]` : "";
}

/** The answer of a call, or the error that it ends in. */
async function outcomeOf(call, args) {
  let timer;
  const late = new Promise((_, no) => {
    timer = setTimeout(() => no(new Error("a promise that stays open")), 3000);
  });
  try {
    return { value: await Promise.race([call(args), late]) };
  } catch (error) {
    return { error };
  } finally {
    clearTimeout(timer);
  }
}

/** Values that stand for nothing a call could mean, by what they are: each refused wherever an argument is needed. */
const STRANGE = ["text", "symbol", "function", "cyclic", "unknown"];
/** A call that answers, without any argument that it could do without, and each of its arguments made strange. */
async function strangers({ name, call }, at, draw, pick) {
  for (let n = 0; n < 40; n++) {
    const words = Array.from({ length: 1 + Math.floor(draw() * 4) }, () => pick(goodKeys)),
      make = () => words.map((word) => good[word]());
    if ((await outcomeOf(call, make())).error) continue;
    while (words.length && !(await outcomeOf(call, make().slice(0, -1))).error) words.pop();
    for (let place = 0; place < words.length; place++) {
      const usual = typeof make()[place];
      for (const kind of STRANGE) {
        const odd = GARBAGE[kind]();
        if (typeof odd === usual && usual !== "object") continue;
        const args = make();
        args[place] = odd;
        tell({ at, args: `${words.join(", ")}, ${place}: ${kind}` });
        const { error } = await outcomeOf(call, args);
        if (!error) tell({ name, silent: `${place}: ${kind}`, args: words.join(", ") });
      }
    }
    return;
  }
}

for (let i = from; i < all.length; i += every) {
  const { name, call } = all[i],
    draw = random(seed ^ hash(name)),
    pick = (list) => list[Math.floor(draw() * list.length)];
  const options = new Set(["dim", "dtype", "size", "generator"]); // and those that errors name
  for (let n = 0; n < calls; n++) {
    const words = [],
      make = (share) => {
        const bad = draw() < share,
          key = pick(bad ? badKeys : goodKeys);
        words.push(key);
        return (bad ? GARBAGE : good)[key]();
      };
    const count = Math.floor(draw() * 4.5),
      share = pick([0.2, 0.5, 1]),
      args = [];
    try {
      for (let k = 0; k < count; k++) args.push(make(share));
      if (draw() < 0.3) {
        const given = {};
        for (let k = 0; k < 1 + draw() * 2; k++) {
          const option = pick([...options]);
          words.push(`${option}:`);
          given[option] = make(share);
        }
        args.push(given);
      }
    } catch (e) {
      tell({ name, args: words.join(", "), wrong: `the test's own value: ${said(e)}` });
      continue;
    }
    const line = words.join(", ");
    tell({ at: i, args: line });
    const { value, error } = await outcomeOf(call, args);
    if (error) for (const [, word] of String(error?.message).matchAll(/'(\w+)'/g)) options.add(word);
    const outcome = error ? (own(error) ? innerName(error) : said(error)) : wrongShape(value);
    if (outcome) tell({ name, args: line, wrong: outcome });
    torch.set_grad_enabled(true);
  }
  if (device === "cpu") await strangers(all[i], i, draw, pick);
  if (device === "webgpu")
    await torch
      .defaultDevice()
      .synchronize?.()
      .catch(() => {});
}
process.send({ done: all.length }, () => process.exit(0)); // Dawn keeps the process alive otherwise
