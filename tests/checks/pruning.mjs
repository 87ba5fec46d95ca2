// nn.utils.prune's methods as classes, alone and one after another.  The answers are PyTorch 2.13.0's.

const W = [
  [3, 4, -1],
  [1, -2, 0.5],
  [0.55, 0.25, 2.25],
  [-1.5, 0.75, 0.1],
];
const linear = (t, weight = W) => {
  const layer = t.torch.nn.Linear(weight[0].length, weight.length).to(t.device);
  layer.weight.data.copy_(t.tensor(weight));
  return layer;
};
/** "110 001": the rows of a mask. */
const shown = async (mask) => (await mask.tolist()).map((row) => row.map(Number).join("")).join(" ");
const maskOf = (layer) => shown(layer.weight_mask);

export default {
  "a method works on what those before it leave": async (t) => {
    const { prune } = t.torch.nn.utils,
      layer = prune.ln_structured(linear(t), "weight", { amount: 1, n: 2, dim: 0 });
    t.equal(await maskOf(layer), "111 111 111 000");
    prune.ln_structured(layer, "weight", 0.5, { n: 1, dim: 0 });
    t.equal(await maskOf(layer), "111 000 000 000");
    prune.ln_structured(layer, "weight", 1, Infinity, 1);
    t.equal(await maskOf(layer), "110 000 000 000");
    const all = prune.L1Unstructured.apply(layer, "weight", { amount: 0.3 });
    t.equal(await maskOf(layer), "010 000 000 000");
    t.equal(
      [all instanceof prune.PruningContainer, all.length, [...all].map((m) => m.constructor.name), all._tensor_name],
      [true, 4, ["LnStructured", "LnStructured", "LnStructured", "L1Unstructured"], "weight"],
    );
    await t.throws(() => all.add_pruning_method(prune.Identity()), /acting on the parameter named 'weight'/);
    await t.throws(() => prune.l1_unstructured(layer, "weight", 2), /amount=2 should be smaller than .* prune=1/);
    t.equal([all.length, await maskOf(layer)], [4, "010 000 000 000"]);
    prune.remove(layer, "weight");
    t.equal([Object.keys(layer.state_dict()), prune.is_pruned(layer)], [["bias", "weight"], false]);
  },
  "methods of one's own": async (t) => {
    const { prune } = t.torch.nn.utils;
    class EveryOther extends prune.BasePruningMethod {
      static PRUNING_TYPE = "unstructured";
      compute_mask(_, default_mask) {
        const mask = default_mask.clone();
        mask.view(-1).set(["::2"], 0);
        return mask;
      }
    }
    class FirstSlice extends prune.BasePruningMethod {
      PRUNING_TYPE = "structured";
      constructor({ dim }) {
        super();
        this.dim = dim;
      }
      compute_mask(_, default_mask) {
        const mask = default_mask.clone();
        mask.select(this.dim, 0).zero_();
        return mask;
      }
    }
    const a = linear(t),
      b = linear(t);
    t.equal(EveryOther.apply(a, "weight") instanceof EveryOther, true);
    FirstSlice.apply(b, "weight", { dim: 0 });
    t.equal([await maskOf(a), await maskOf(b)], ["010 101 010 101", "000 111 111 111"]);
    if (t.device === "cpu") {
      EveryOther.apply(a, "weight");
      FirstSlice.apply(b, "weight", { dim: 0 });
      t.equal([await maskOf(a), await maskOf(b)], ["000 100 010 001", "000 000 111 111"]);
      FirstSlice.apply(b, "weight", { dim: 1 });
      t.equal(await maskOf(b), "000 000 011 011");
    } else
      await t.throws(() => EveryOther.apply(a, "weight"), /EveryOther: a pruned tensor on a GPU .* prune on the CPU/);
    a(t.tensor([1, 2, 3]))
      .sum()
      .backward();
    t.equal(await shown(a.weight_orig.grad.ne(0)), await maskOf(a));
    class Unsaid extends EveryOther {
      static PRUNING_TYPE = "other";
    }
    await t.throws(() => Unsaid.apply(a, "weight"), /Unrecognized PRUNING_TYPE other/);
    t.equal(Object.keys(a.state_dict()), ["bias", "weight_orig", "weight_mask"]);
  },
  "methods without a module, and scores": async (t) => {
    const { prune } = t.torch.nn.utils,
      weight = t.tensor(W),
      quarter = new prune.L1Unstructured(0.25);
    t.close(await quarter.prune(weight).tolist(), [
      [3, 4, -1],
      [1, -2, 0],
      [0.55, 0, 2.25],
      [-1.5, 0.75, 0],
    ]);
    t.equal(
      await shown(quarter.prune(weight, { importance_scores: weight.abs().reciprocal().neg() }).ne(0)),
      "001 111 110 111",
    );
    t.equal(
      await shown(prune.LnStructured(2, 1, { dim: 1 }).compute_mask(weight, t.torch.ones_like(weight))),
      "010 010 010 010",
    );
    t.equal(
      await shown(prune.LnStructured(2, 1).compute_mask(weight, t.torch.ones_like(weight))),
      "010 010 010 010", // of the last axis
    );
    const scores = t.tensor(Array.from({ length: 12 }, (_, i) => i)).reshape(4, 3);
    t.equal(
      await maskOf(prune.l1_unstructured(linear(t), "weight", { amount: 3, importance_scores: scores })),
      "000 111 111 111",
    );
    await t.throws(
      () => prune.l1_unstructured(linear(t), "weight", 3, scores.index(0)),
      /importance_scores should have the same shape as parameter weight of Linear, got \[3\] vs \[4, 3\]/,
    );
    await t.throws(() => prune.LnStructured(1, 2).compute_mask(scores.view(-1), scores.view(-1)), /multidimensional/);
    await t.throws(() => prune.RandomStructured(1, 2).compute_mask(scores, scores), /Invalid index 2/);
  },
  "pruning of several together": async (t) => {
    const { prune } = t.torch.nn.utils,
      [a, b] = [
        linear(t),
        linear(t, [
          [1, 2],
          [3, 4],
        ]),
      ],
      both = [
        [a, "weight"],
        [b, "weight"],
      ];
    prune.global_unstructured(both, prune.L1Unstructured, {
      importance_scores: new Map([[[b, "weight"], t.torch.full([2, 2], 0.2, { device: t.device })]]),
      amount: 5,
    });
    t.equal([await maskOf(a), await maskOf(b)], ["111 111 111 110", "00 00"]);
    if (t.device === "cpu") {
      prune.global_unstructured(both, prune.L1Unstructured, { amount: 0.4 });
      t.equal([await maskOf(a), await maskOf(b)], ["111 110 001 100", "00 00"]);
    }
    await t.throws(
      () => prune.global_unstructured(both, prune.LnStructured, { amount: 1, n: 2 }),
      /Only "unstructured" PRUNING_TYPE supported/,
    );
    await t.throws(() => prune.global_unstructured(both, "L1Unstructured", { amount: 1 }), /must be a class/);
  },
};
