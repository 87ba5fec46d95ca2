// Every public method and property of PyTorch's classes, as tests/recorded/members.py recorded them, is there: on the
// class, or on what it makes.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as torch from "../../dist/in-node/index.js";

torch.setDefaultDevice("cpu");
const recorded = JSON.parse(readFileSync(new URL("../recorded/members.json", import.meta.url), "utf8"));
const { distributions: D, nn } = torch,
  ones = (...shape) => torch.ones(shape),
  half = torch.tensor(0.5);
/** One of each class whose fields PyTorch has as properties. */
const MADE = {
  "distributions.Beta": () => D.Beta(half, half),
  "distributions.Chi2": () => D.Chi2(half),
  "distributions.Distribution": () => D.Normal(half, half),
  "distributions.HalfCauchy": () => D.HalfCauchy(half),
  "distributions.HalfNormal": () => D.HalfNormal(half),
  "distributions.InverseGamma": () => D.InverseGamma(half, half),
  "distributions.LogNormal": () => D.LogNormal(half, half),
  "distributions.MixtureSameFamily": () =>
    D.MixtureSameFamily(D.Categorical(ones(2)), D.Normal(torch.zeros(2), ones(2))),
  "distributions.MultivariateNormal": () => D.MultivariateNormal(torch.zeros(2), torch.eye(2)),
  "distributions.RelaxedBernoulli": () => D.RelaxedBernoulli(half, half),
  "distributions.RelaxedOneHotCategorical": () => D.RelaxedOneHotCategorical(half, ones(2)),
  "distributions.Wishart": () => D.Wishart(torch.tensor(3), torch.eye(2)),
  "distributions.transforms.Transform": () => D.transforms.ExpTransform(),
  "nn.utils.rnn.PackedSequence": () => nn.utils.rnn.pack_sequence([ones(2)]),
  "optim.lr_scheduler.CyclicLR": () =>
    torch.optim.lr_scheduler.CyclicLR(torch.optim.SGD([nn.Parameter(ones(1))], { lr: 0.1, momentum: 0.9 }), 0.1, 1, {
      scale_fn: () => 1,
    }),
  Generator: () => torch.Generator(),
};
/** What has no meaning here, or another name: by the class, or of any. */
const ABSENT = {
  any: [
    ...["cuda", "ipu", "mtia", "xpu"], // devices
    ...["T_destination", "call_super_init", "dump_patches", "cls_to_become"], // how PyTorch's classes are made
    ...["OptimizerPostHook", "OptimizerPreHook", "profile_hook_step", "share_memory", "recursive_undo"],
    // what recurrent networks and attention ask of themselves
    ...["check_forward_args", "check_hidden_size", "check_input", "get_expected_cell_size"],
    ...["get_expected_hidden_size", "permute_hidden", "merge_masks"],
    ...["cummulative_sizes", "cumsum", "check_worker_number_rationality", "multiprocessing_context"],
    ...["get_offset", "set_offset", "graphsafe_get_state", "graphsafe_set_state"], // of CUDA's generators
    "sample_n", // deprecated
  ],
  "distributions.GeneralizedPareto": ["log_cdf", "log_survival_function"],
  "nn.utils.prune.BasePruningMethod": ["compute_mask"], // a method that each class brings
  "nn.utils.rnn.PackedSequence": ["count", "index"], // of tuples
};
/** Classes that are not there: tests/recorded/absent.names says why. */
const WITHOUT =
  /^(nn\.(RNNBase|RNNCellBase|DataParallel|CrossMapLRN2d|Container|NLLLoss2d|UninitializedBuffer|UninitializedParameter|LinearCrossEntropyOptions)|utils\.data\..*|optim\.SparseAdam|amp\..*|nn\.utils\.rnn\.PackedSequence_)$/;

const has = (object, name) => object !== null && object !== undefined && name in Object(object);

test("every public member of PyTorch's classes is there", () => {
  const missing = [],
    classes = [];
  for (const [path, names] of Object.entries(recorded)) {
    const known = path.split(".").reduce((at, name) => at?.[name], torch);
    if (known === undefined) {
      if (!WITHOUT.test(path)) missing.push(path);
      continue;
    }
    classes.push(path);
    const absent = new Set([...ABSENT.any, ...(ABSENT[path] ?? [])]),
      made = MADE[path]?.();
    for (const name of names)
      if (!has(known.prototype, name) && !has(known, name) && !has(made, name) && !absent.has(name))
        missing.push(`${path}.${name}`);
  }
  assert.deepEqual(missing, []);
  assert.ok(classes.length > 100, `${classes.length} classes`);
});
