// Defaults are PyTorch's (tests/recorded/default_values.py): whatever is called answers the same where one of them is
// given by its name, and where all that have a place are given in PyTorch's order; other values by place are those by name.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as torch from "../../dist/in-node/index.js";
import { everything, makersOf } from "./garbage/exports.mjs";
import { byNameAlone, notTaken } from "./garbage/not_taken.mjs";
import { hash, random, sensible } from "./garbage/values.mjs";

const RECORDED = JSON.parse(readFileSync(new URL("../recorded/default_values.json", import.meta.url), "utf8"));
const TRIES = 120;
/** Without values, for their defaults make a large one. */
const LARGE = new Set(["torch.nn.Transformer"]);

torch.setDefaultDevice("cpu");
console.warn = () => {};
process.on("unhandledRejection", () => {});
const good = {
    ...sensible(torch, "cpu"),
    optimizer: () => new torch.optim.SGD([new torch.nn.Parameter(torch.ones([1]))], { lr: 1, momentum: 0.9 }),
  },
  keys = Object.keys(good).filter((key) => key !== "options" && key !== "optimizer");

async function outcomeOf(call, args) {
  let timer;
  try {
    torch.manual_seed(1);
    const value = call(args());
    const late = new Promise((_, no) => {
      timer = setTimeout(() => no(new Error("a promise that stays open")), 20_000);
    });
    return { said: await said(await Promise.race([value, late])) };
  } catch (error) {
    return { error };
  } finally {
    clearTimeout(timer);
  }
}

/** All of an answer that can be compared, as text. */
async function said(value, depth = 0) {
  if (depth > 4) return "…";
  const each = async (list) => `[${(await Promise.all(list.map((x) => said(x, depth + 1)))).join(", ")}]`;
  if (/^<Uninit/.test(value)) return String(value);
  if (value instanceof torch.Tensor)
    return `${value.dtype} ${value.shape} ${value.requires_grad} ${value.device === "meta" ? "" : String(await value.detach().tolist())}`;
  if (value === null || ["number", "boolean", "string", "undefined", "bigint"].includes(typeof value))
    return String(value);
  if (value instanceof torch.optim.Optimizer)
    return each(value.param_groups.map((group) => Object.entries(group).filter(([key]) => key !== "params")));
  const module = value instanceof torch.nn.Module;
  if (typeof value === "function" && !module) return "a function";
  if (Array.isArray(value)) return each(value);
  const fields = await each(Object.entries(value).filter(([key]) => !/^(training|storage)$/.test(key)));
  return `${module ? value : value.constructor?.name} ${fields}`;
}

/** What a parameter of such a name is likely to take. */
const LIKELY = {
  "dim\\d?|axis": /^(-?\d|one list)$/,
  "input|other|target|tensor\\d?|mat\\d?|vec\\d?|batch\\d|self|x|y|weight|A|B|src|source|mask|condition": /[(]/,
  "index|indices": /^int/,
  "size|shape|output_size|kernel_size|normalized_shape": /list|sizes|^\d/,
  "params|parameters": /^param/,
  module: /^module/,
  "\\w+_(channels|features|size|heads|layers)|\\w*num_\\w+|n|k|d_model|nhead|groups|N|M|steps|start|end|low|high":
    /^\d/,
};
function drawn(option, draw) {
  if (option === "optimizer") return option;
  const pick = (list) => list[Math.floor(draw() * list.length)],
    likely = Object.entries(LIKELY).find(([names]) => new RegExp(`^(${names})$`).test(option))?.[1];
  return pick(likely && draw() < 0.8 ? keys.filter((key) => likely.test(key)) : keys);
}

/** What is otherwise, and why. */
const OTHERWISE = [
  /^torch\.(empty|empty_like|svd_lowrank)\(|^Tensor\.new_empty/, // values that nobody set; a rank that fits, where PyTorch's is too large
  /_with_indices\(.*(return_indices|place)/, // which are asked for by the name
  /^torch\.(kl_div|\w+_embedding_loss|\w+_with_logits|margin_ranking_loss|triplet_margin_loss)\(/, // PyTorch takes 0 where its schema says 1
  /^(torch|Tensor)\.(rsub|subtract_?|tensor|new_tensor|new_ones)\(.*place/, // by name alone in PyTorch's documentation
  /^torch\.profiler\.profile|ambiguity_check/, // answers what it was given; how memory lies
];

const all = everything(torch, makersOf(torch, "cpu")).filter(
  ({ name }) => RECORDED[name] && !name.startsWith("Tensor[2]"),
);

test("a default that is given changes nothing", async () => {
  const wrong = [],
    met = new Set();
  let count = 0,
    orders = 0;
  for (const { name, call } of all) {
    torch.setDefaultDevice(LARGE.has(name) ? "meta" : "cpu");
    const found = new Map(); // what is said of a parameter by some overload: null where one agrees
    for (const overload of RECORDED[name]) {
      if (overload.some(([, kind]) => kind === "rest" || kind === "named")) continue;
      const needed = overload.filter(([, kind]) => kind === "needed").length,
        draw = random(hash(name));
      let base = null,
        make = null;
      for (let n = 0; n < (needed ? TRIES : 1) && !base; n++) {
        const words = overload.slice(0, needed).map(([option]) => drawn(option, draw));
        make = () => words.map((key) => good[key]());
        const { said, error } = await outcomeOf(call, make);
        if (!error) base = { said, words };
      }
      if (!base) continue;
      met.add(name);
      const compare = async (what, args) => {
        const { said, error } = await outcomeOf(call, args);
        count++;
        if (!error && said === base.said) found.set(what, null);
        else if (!found.has(what))
          found.set(what, `${name}(${base.words}) ${what}: ${error ?? `${said}, not ${base.said}`}`.slice(0, 300));
      };
      const places = [];
      let placed = true;
      for (const [option, kind, value] of overload.slice(needed)) {
        placed &&= kind === "place" && !notTaken(name, option) && !byNameAlone(name, option);
        if (placed) places.push(value);
        if (/^odd/.test(kind) || notTaken(name, option)) continue;
        await compare(`${option}=${JSON.stringify(value)}`, () => [...make(), { [option]: value }]);
        if (value !== null && typeof value !== "string") continue;
        // A word that is none of those it takes is refused, even if all objects have something of that name.
        const [strange, inherited] = await Promise.all(
          ["strange", "constructor"].map((word) => outcomeOf(call, () => [...make(), { [option]: word }])),
        );
        if (strange.error && !inherited.error) wrong.push(`${name}(${base.words}) takes ${option}="constructor"`);
      }
      // Another value says the same by its place and by its name.
      for (const [at, value] of places.entries()) {
        if (!["number", "boolean"].includes(typeof value)) continue;
        const other = typeof value === "number" ? value + 1 : !value,
          [option] = overload[needed + at],
          what = `${option}=${other} at place ${needed + at}`;
        const [one, two] = [
          await outcomeOf(call, () => [...make(), ...places.slice(0, at), other]),
          await outcomeOf(call, () => [...make(), { [option]: other }]),
        ].map(({ said, error }) => said ?? String(error));
        orders++;
        if (one === two) found.set(what, null);
        else if (!found.has(what)) found.set(what, `${name}(${base.words}) ${what}: ${one}, not ${two}`.slice(0, 300));
      }
      if (places.length) await compare(`by place (${JSON.stringify(places)})`, () => [...make(), ...places]);
    }
    wrong.push(...[...found.values()].filter((line) => line && !OTHERWISE.some((known) => known.test(line))));
  }
  console.log(`figure: defaults: ${count} and ${orders} other values of ${met.size} exports`);
  if (process.env.ALL) console.log(wrong.join("\n"));
  assert.ok(met.size > 700, `${met.size} exports`);
  assert.deepEqual(wrong, []);
});
