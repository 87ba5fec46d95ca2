// Every export binds its arguments by position and by name in one way: it refuses an option that it has not, `undefined`
// where a value is given, and a call without what it needs, and says which; it knows the names that PyTorch has for its
// parameters (tests/recorded/signatures.py), and answers by name what it answers by position.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as torch from "../../dist/in-node/index.js";
import { everything, makersOf } from "./garbage/exports.mjs";
import { byNameAlone, notTaken } from "./garbage/not_taken.mjs";
import { hash, random, sensible } from "./garbage/values.mjs";

const RECORDED = JSON.parse(readFileSync(new URL("../recorded/signatures.json", import.meta.url), "utf8"));

/**
 * What takes tensors, shapes or modules alone, as many as there are, so has no names; questions, and bases; and what is
 * meant to take any object as its first argument: a state, a dataset, a sampler.
 */
const NAMELESS = new RegExp(
  `^(${[
    "torch\\.(atleast_[123]d|block_diag|broadcast_(shapes|tensors)|cartesian_prod|chain_matmul|einsum|meshgrid|sym_sum)",
    "torch\\.(ComplexView|Tensor|defaultDevice|gpuDevice|is_tensor|(random\\.)?set_rng_state|to)",
    "torch\\.(from_pixels|webgpu\\.snapshot)",
    "torch\\.(autograd\\.)?is_\\w+_enabled",
    "torch\\.nn\\.(Identity|Module|Sequential|ModuleDict|ParameterDict)",
    "torch\\.autograd\\.graph\\.Node|torch\\.nn\\.utils\\.skip_init",
    "torch\\.utils\\.data\\.(DataLoader|(Iterable|Stack|Tensor)?Dataset|(Batch|Random|Sequential)?Sampler|default_convert)",
    "torch\\.utils\\._pytree\\.tree_(flatten|leaves|map|structure)",
    "\\w+\\.(load_state_dict|add_param_group|set_extra_state)",
    "torch\\.nn\\.modules\\.utils\\.consume_prefix_in_state_dict_if_present",
    "\\w+Dict\\.update",
    "(Module|Parameter)(List|Dict)\\.forward",
    "Tensor\\.(data|index|new)",
  ].join("|")})$`,
);

/**
 * What PyTorch needs, and these do without: an index is the last one, of one tensor alone it is counted, and sizes that
 * are not given are the input's.
 */
const OPTIONAL = /^(Module(List)?\.pop|Tensor\.repeat_interleave|torch\.nn\.Adaptive\w+)$/;
async function outcomeOf(call, args) {
  let timer;
  try {
    let value = call(args);
    if (typeof value?.next === "function") value = value.next(); // a generator begins when it is asked
    const late = new Promise((_, no) => {
      timer = setTimeout(() => no(new Error("a promise that stays open")), 20_000);
    });
    value = await Promise.race([value, late]);
    return { value };
  } catch (error) {
    return { error };
  } finally {
    clearTimeout(timer); // which would keep the process
  }
}

torch.setDefaultDevice("cpu");
console.warn = () => {};
process.on("unhandledRejection", () => {});
const all = everything(torch, makersOf(torch, "cpu")).filter(({ name }) => !name.startsWith("Tensor[2]"));
const named = all.filter(({ name }) => !NAMELESS.test(name));
const told = (error) => (error ? `${error.name}: ${String(error.message).slice(0, 160)}` : "answers");

test("an option that a function has not is refused by its name", async () => {
  const wrong = [];
  for (const { name, call } of named) {
    const { error } = await outcomeOf(call, [{ no_such_option: 1 }]);
    if (
      !(error instanceof torch.TypeMismatchError) ||
      !/^[\w.()]+: got an unexpected keyword argument 'no_such_option'$/.test(error.message)
    )
      wrong.push(`${name}: ${told(error)}`);
  }
  assert.ok(named.length > 1700, `${named.length} exports`);
  assert.deepEqual(wrong, []);
});

test("PyTorch's names are known, and undefined is no value for any of them", async () => {
  const wrong = [];
  let count = 0;
  for (const { name, call } of named) {
    const options = new Set(
      (RECORDED[name] ?? []).flatMap((line) => line.split(", ").map((word) => word.replace("=", ""))),
    );
    for (const option of options) {
      if (!/^\w/.test(option) || option === "out") continue;
      count++;
      const { error } = await outcomeOf(call, [{ [option]: undefined }]),
        known = error instanceof torch.TypeMismatchError && error.message.includes(`argument '${option}' is undefined`);
      // What is said not to be taken is not: the list is as short as it can be.
      if (known === notTaken(name, option)) wrong.push(`${name} ${option}: ${told(error)}`);
    }
  }
  assert.ok(count > 3500, `${count} names`);
  assert.deepEqual(wrong, []);
});

test("undefined by position is refused, too", async () => {
  const wrong = [];
  for (const { name, call } of named) {
    const lines = RECORDED[name] ?? [];
    if (!lines.length || lines.some((line) => /^$|^\*|^memory_format|^remove_dup/.test(line))) continue;
    const { error } = await outcomeOf(call, [undefined]);
    if (!(error instanceof torch.TypeMismatchError) || !/'\w+' is undefined|'\w+'|missing/.test(error.message))
      wrong.push(`${name}: ${told(error)}`);
  }
  assert.deepEqual(wrong, []);
});

test("what is needed is asked for by its name", async () => {
  const wrong = [];
  for (const { name, call } of named) {
    const lines = RECORDED[name];
    if (!lines) continue;
    const needed = lines.map((line) => line.split(", ").filter((word) => /^\w+$/.test(word)));
    if (needed.some((words) => !words.length)) continue;
    const { error } = await outcomeOf(call, []);
    const names = needed.flat();
    if (error instanceof torch.OpError && names.some((word) => error.message.includes(word))) continue;
    if (error instanceof torch.OpError && /missing|must be|expected|required/.test(error.message)) continue;
    if (OPTIONAL.test(name)) continue;
    wrong.push(`${name}: ${told(error)}`);
  }
  assert.deepEqual(wrong, []);
});

/** A few numbers of an answer, to compare; null where there are none. */
async function numbersOf(value) {
  const list = value instanceof torch.Tensor ? [value] : Array.isArray(value) ? value : [];
  const tensors = list.filter((x) => x instanceof torch.Tensor);
  return tensors.length ? JSON.stringify(await Promise.all(tensors.map((x) => x.tolist()))) : null;
}

test("arguments by name answer what they answer by position", async () => {
  const wrong = [],
    good = sensible(torch, "cpu"),
    keys = Object.keys(good);
  let count = 0;
  for (const { name, call } of named) {
    const lines = RECORDED[name];
    if (
      !lines ||
      /^torch\.(seed|manual_seed|rand|empty|initial_seed)|random|dropout|bernoulli|_like$|empty|detect_anomaly|inference_mode|^Tensor\.to$/.test(
        name,
      )
    )
      continue;
    const draw = random(hash(name)),
      pick = () => keys[Math.floor(draw() * keys.length)];
    search: for (let n = 0; n < 40; n++) {
      const words = Array.from({ length: 1 + Math.floor(draw() * 3) }, pick).filter((key) => key !== "options"),
        make = () => words.map((key) => good[key]());
      torch.manual_seed(1);
      const { value, error } = await outcomeOf(call, make());
      if (error || !words.length) continue;
      const answers = [];
      for (const line of lines) {
        const names = line.split(", ").filter((word) => word && word !== "*");
        if (names.length < words.length || names.slice(0, words.length).some((word) => /^\*/.test(word))) continue;
        const own = names.map((word) => word.replace("=", ""));
        if (own.slice(0, words.length).some((option) => notTaken(name, option) || byNameAlone(name, option))) continue;
        if (line.includes("*, ") && line.split("*, ")[0].split(", ").filter(Boolean).length < words.length) continue;
        const given = make();
        torch.manual_seed(1);
        const other = await outcomeOf(call, [Object.fromEntries(given.map((x, i) => [own[i], x]))]);
        if (!other.error && (await numbersOf(other.value)) === (await numbersOf(value))) {
          count++;
          break search;
        }
        answers.push(other.error ? told(other.error) : "another answer");
      }
      if (!answers.length) break;
      wrong.push(`${name}(${words}): ${answers.join("; ")}`);
      break;
    }
  }
  assert.ok(count > 700, `${count} exports`);
  assert.deepEqual(wrong, []);
});
