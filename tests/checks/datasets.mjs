// Datasets made of others.
export default {
  "datasets one after the other, and side by side": async (t) => {
    const { ChainDataset, DataLoader, IterableDataset, StackDataset, TensorDataset } = t.torch.utils.data;
    class Counting extends IterableDataset {
      constructor(n) {
        super();
        this.length = n;
      }
      *[Symbol.iterator]() {
        for (let i = 0; i < this.length; i++) yield i;
      }
    }
    const chain = ChainDataset([new Counting(2), new Counting(3)]),
      found = [];
    for await (const sample of chain) found.push(sample);
    t.equal([chain.length, found], [5, [0, 1, 0, 1, 2]]);
    let batches = 0;
    for await (const _ of DataLoader(chain, { batch_size: 2 })) batches++;
    t.equal(batches, 3);
    await t.throws(() => ChainDataset([[1, 2]]), /ChainDataset only supports IterableDataset/);
    const both = StackDataset([1, 2, 3], new TensorDataset(t.tensor([4, 5, 6]))),
      named = StackDataset({ image: [1, 2], text: ["a", "b"] });
    t.equal([both.length, both.get(-1)[0], await both.get(1)[1][0].item()], [3, 3, 5]);
    t.equal([named.length, ...Object.entries(named.get(1)).flat()], [2, "image", 2, "text", "b"]);
    await t.throws(() => both.get(3), /StackDataset: index 3 is out of range for 3 samples/);
    await t.throws(() => StackDataset([1, 2], [1]), /Size mismatch between datasets: 2,1/);
    await t.throws(() => StackDataset(), /At least one dataset should be passed/);
    await t.throws(() => StackDataset(new Counting(2)), /StackDataset does not support IterableDataset/);
  },
};
