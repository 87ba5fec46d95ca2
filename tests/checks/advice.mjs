// What is said once of slow programs, how it is turned off, and how far a pass through data is.

/** What `body` says on the console, while the clock stands still. */
async function heard(body) {
  const { warn } = console,
    texts = [],
    at = performance.now();
  console.warn = (text) => {
    texts.push(text);
  };
  Object.defineProperty(performance, "now", { value: () => at, configurable: true });
  try {
    await body();
  } finally {
    console.warn = warn;
    delete performance.now;
  }
  return texts;
}

export default {
  async "single reads in a row are named once, and only of a GPU"({ device, tensor, equal }) {
    const x = tensor(3),
      texts = await heard(async () => {
        for (let i = 0; i < 210; i++) await x.item();
      });
    equal(texts.length, device === "webgpu" ? 1 : 0);
    if (texts.length) equal(/^slow: 100 single values were read from the GPU/.test(texts[0]), true);
  },
  async "copying the same tensor to the GPU again and again is named, unless that is turned off"({
    torch,
    device,
    equal,
  }) {
    const copy = () => {
      const x = torch.ones([3, 2], { device: "cpu" });
      for (let i = 0; i < 120; i++) x.to(device);
    };
    torch.set_slow_warnings(false);
    equal(await heard(copy), []);
    torch.set_slow_warnings(true);
    equal(
      await heard(copy),
      device === "webgpu"
        ? ["slow: a tensor was copied to the GPU 50 times; keep the copy (off: torch.set_slow_warnings(false))"]
        : [],
    );
  },
  async "a loader says how far it is"({ torch, equal }) {
    const { DataLoader } = torch.utils.data,
      seen = [];
    const progress = ({ loaded, total }) => {
      seen.push([loaded, total]);
    };
    for await (const batch of DataLoader([1, 2, 3, 4, 5], { batch_size: 2, progress })) seen.push(batch.shape[0]);
    equal(seen, [2, [1, 3], 2, [2, 3], 1, [3, 3]]);
    seen.length = 0;
    const endless = {
      *[Symbol.iterator]() {
        yield 1;
      },
    };
    for await (const batch of DataLoader(endless, { progress })) seen.push(batch.shape[0]);
    equal(seen, [1, [1, null]]);
  },
};
