// One launch for many parameters: what an optimizer step costs a GPU, and that it is what a step of each parameter
// alone would be, whatever a program did with the tensors before.
const SHAPES = [[3, 5], [5], [70], [], [2, 2, 2], [1, 9]],
  STEPS = 6,
  MAP_READ = 1;
const number = (k) => ((k * 7919 + 104729) % 1009) / 504.5 - 1;
const made = (t, shape, first, options = {}) =>
  t.tensor(
    Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, j) => number(first + j)),
    { shape, ...options },
  );
const parameters = (t, shapes = SHAPES) => shapes.map((shape, i) => t.torch.nn.Parameter(made(t, shape, 100 * i)));
const flat = async (tensors) => (await Promise.all(tensors.map((x) => x.data()))).flatMap((x) => [...x]);

/** What the GPU is told to do while `run` runs; null on the CPU. */
async function counted(t, run) {
  if (t.device === "cpu") {
    await run();
    return null;
  }
  const gpu = t.torch.gpuDevice(),
    counts = { launches: 0, copies: 0, reads: 0 },
    own = gpu.createCommandEncoder;
  await t.torch.defaultDevice().synchronize();
  gpu.createCommandEncoder = (...args) => {
    const encoder = own.apply(gpu, args),
      { beginComputePass, copyBufferToBuffer } = encoder;
    encoder.copyBufferToBuffer = (...words) => {
      counts[words[2].usage & MAP_READ ? "reads" : "copies"]++;
      return copyBufferToBuffer.apply(encoder, words);
    };
    encoder.beginComputePass = (...words) => {
      const pass = beginComputePass.apply(encoder, words),
        { dispatchWorkgroups } = pass;
      pass.dispatchWorkgroups = (...groups) => {
        counts.launches++;
        return dispatchWorkgroups.apply(pass, groups);
      };
      return pass;
    };
    return encoder;
  };
  try {
    await run();
    await t.torch.defaultDevice().synchronize();
  } finally {
    delete gpu.createCommandEncoder;
  }
  return counts;
}

/**
 * Trains two sets of equal parameters, one with one optimizer and one with an optimizer for each parameter, and does to
 * both what
 *  `meddle(n, params, optimizers)` does after step n; they must stay equal.  Answers what the steps of the first told
 * the GPU.
 */
async function alike(
  t,
  {
    name = "AdamW",
    options = {},
    shapes = SHAPES,
    start,
    meddle,
    gradient = (p, n, i) => made(t, p.shape, 2000 + 300 * n + 100 * i),
  } = {},
) {
  const { optim } = t.torch,
    joined = start?.() ?? parameters(t, shapes),
    apart = start?.() ?? parameters(t, shapes),
    told = [];
  const one = optim[name](joined, options),
    each = apart.map((p) => optim[name]([p], options));
  for (let n = 0; n < STEPS; n++) {
    for (const params of [joined, apart]) {
      for (const [i, p] of params.entries()) {
        p.grad = null;
        const g = gradient(p, n, i);
        if (g) p.mul(g).sum().backward();
      }
    }
    told.push(
      await counted(t, () => {
        one.step();
      }),
    );
    for (const optimizer of each) await optimizer.step();
    t.close(await flat(joined), await flat(apart), { rtol: 1e-6, atol: 1e-7 });
    await meddle?.(n, joined, [one]);
    await meddle?.(n, apart, each);
  }
  return told.map((counts) => counts?.launches ?? null);
}

const ONE = {
  SGD: [{}, 1],
  Adam: [{ amsgrad: true }, 1],
  AdamW: [{}, 1],
  Adamax: [{}, 1],
  NAdam: [{}, 1],
  RAdam: [{}, 1],
  RMSprop: [{}, 1],
  Adagrad: [{}, 1],
  Rprop: [{}, 1],
};
const expect = (t, got, wanted) => t.equal(got, t.device === "cpu" ? wanted.map(() => null) : wanted);

export default {
  ...Object.fromEntries(
    Object.entries(ONE).map(([name, [options, launches]]) => [
      `${name} takes a launch a step for all parameters`,
      async (t) => {
        // the first may fill what is kept
        expect(t, (await alike(t, { name, options })).slice(1), Array(STEPS - 1).fill(launches));
      },
    ]),
  ),
  "definitions of several kernels take those": async (t) => {
    expect(t, (await alike(t, { name: "SGD", options: { momentum: 0.9 } })).slice(1), Array(STEPS - 1).fill(2));
    expect(t, (await alike(t, { name: "Adadelta" })).slice(1), Array(STEPS - 1).fill(3));
  },
  "Muon and Adafactor move parameters of one shape as a stack": async (t) => {
    const gradient = (p, n, i) => (n === 3 && i === 2 ? null : made(t, p.shape, 2000 + 300 * n + 100 * i));
    for (const [name, options] of [
      ["Muon", { lr: 0.1, weight_decay: 0.1 }],
      ["Adafactor", { lr: 0.1, d: 1.5, weight_decay: 0.1 }],
    ]) {
      const [, alone] = await alike(t, { name, options, shapes: [[3, 4]] });
      expect(
        t,
        (
          await alike(t, {
            name,
            options,
            shapes: [
              [3, 4],
              [5, 2],
              [3, 4],
              [3, 4],
              [5, 2],
            ],
          })
        ).slice(1),
        Array(STEPS - 1).fill(2 * alone),
      );
      const told = await alike(t, {
        name,
        options,
        shapes: [
          [3, 4],
          [3, 4],
          [3, 4],
          [3, 4],
        ],
        gradient,
      });
      expect(
        t,
        told.slice(1, 4),
        [1, 1, 2].map((stacks) => stacks * alone),
      );
    }
    const [, vector] = await alike(t, { name: "Adafactor", shapes: [[7]] }),
      [, matrices] = await alike(t, { name: "Adafactor", shapes: [[2, 3, 70]] });
    expect(
      t,
      (await alike(t, { name: "Adafactor", shapes: [[7], [2, 3, 70], [7], [], [2, 3, 70], [7]] })).slice(1),
      Array(STEPS - 1).fill(2 * vector + matrices),
    );
  },
  "nothing is read, and what is asked of the GPU does not grow with the parameters": async (t) => {
    const { nn, optim } = t.torch,
      net = nn.Sequential(...Array.from({ length: 30 }, (_, i) => nn.Linear(4 + (i % 2), 4 + ((i + 1) % 2))));
    await net.to(t.device);
    const optimizer = optim.AdamW(net.parameters()),
      step = () => {
        optimizer.zero_grad();
        net(t.torch.ones([2, 4], { device: t.device }))
          .sum()
          .backward();
      };
    for (let n = 0; n < 3; n++) {
      step();
      const counts = await counted(t, () => {
        optimizer.step();
      });
      // then gradients are made in their places
      if (counts) t.equal([counts.launches, counts.reads, counts.copies > 0], [1, 0, n === 0]);
    }
  },
  "a parameter without a gradient divides the launch, for that step": async (t) => {
    const gradient = (p, n, i) => (n === 3 && i === 2 ? null : made(t, p.shape, 2000 + 300 * n + 100 * i));
    expect(t, await alike(t, { name: "SGD", gradient }), [1, 1, 1, 2, 1, 1]);
    // AdamW's steps are counted for each: its numbers are others from then on
    expect(t, await alike(t, { gradient }), [1, 1, 1, 2, 3, 3]);
  },
  "tensors of two types take a launch each": async (t) => {
    const other = t.device === "cpu" ? "float64" : t.hasHalf ? "float16" : null;
    if (!other) return;
    const start = () =>
      [
        ["float32", [3]],
        [other, [3]],
        ["float32", [4]],
        [other, [5]],
      ].map(([dtype, shape], i) => t.torch.nn.Parameter(made(t, shape, 100 * i, { dtype })));
    const told = await alike(t, {
      name: "SGD",
      start,
      gradient: (p, n, i) => made(t, p.shape, 300 * n + 100 * i, { dtype: p.dtype }),
    });
    if (t.device === "webgpu") t.equal(told[5] <= 4, true);
  },
  "what a program changes in place, loads, replaces or copies between parameters stays right": async (t) => {
    const { torch } = t,
      { no_grad } = torch;
    const told = await alike(t, {
      meddle: (n, params) =>
        no_grad(() => {
          if (n === 0) params[1].mul_(0.5); // exchanges the memory with that of a result
          if (n === 1) params[4].view(8).copy_(params[2].narrow(0, 3, 8)); // both lie in one buffer
          if (n === 2) params[0].set_data(made(t, SHAPES[0], 77));
          if (n === 3) params[2].copy_(torch.zeros([70]));
          if (n === 4) params[5].fill_(0.25);
        }),
    });
    expect(t, told, Array(STEPS).fill(1));
  },
  "a parameter that is a part of another tensor is changed alone": async (t) => {
    const whole = [],
      start = () => {
        const memory = made(t, [20], 5),
          params = parameters(t);
        whole.push(memory);
        params[1].set_data(memory.narrow(0, 5, 10));
        return params;
      };
    expect(t, (await alike(t, { start })).slice(1), Array(STEPS - 1).fill(3));
    const [a, b] = await Promise.all(whole.map((x) => x.tolist()));
    t.close(a, b);
    t.close(
      [...a.slice(0, 5), ...a.slice(15)],
      (await made(t, [20], 5).tolist()).filter((_, i) => i < 5 || i >= 15),
    );
  },
  "tensors that share their memory are changed one after another": async (t) => {
    const start = () => {
      const params = parameters(t, [[4], [4], [4]]);
      params[2].set_data(params[0].detach());
      return params;
    };
    expect(t, (await alike(t, { start, name: "SGD" })).slice(1), Array(STEPS - 1).fill(2));
  },
  "gradients that a program keeps, and accumulates, stay what they were": async (t) => {
    const kept = [[], []],
      first = [];
    const told = await alike(t, {
      meddle: (n, params, optimizers) => {
        if (n === 1 || n === 2) for (const p of params) kept[optimizers.length > 1 ? 1 : 0].push(p.grad);
        if (n === 2 && !first.length) first.push(params[2].grad.detach().clone());
        if (n === 3) for (const p of params) p.mul(2).sum().backward();
      },
    });
    expect(t, told, Array(STEPS).fill(1));
    t.close(await flat(kept[0]), await flat(kept[1]), { rtol: 0, atol: 0 });
    t.close(await kept[0][SHAPES.length + 2].tolist(), await first[0].tolist(), { rtol: 0, atol: 0 });
  },
  "a state that is loaded goes on in one launch; so does another optimizer of the same parameters": async (t) => {
    const { optim } = t.torch;
    const told = await alike(t, {
      meddle: async (n, params, optimizers) => {
        if (n === 1) for (const o of optimizers) await o.load_state_dict(structured(o.state_dict()));
      },
    });
    expect(t, told, Array(STEPS).fill(1));
    const params = parameters(t),
      a = optim.Adam(params),
      b = optim.SGD(params),
      c = optim.Adagrad([...params].reverse());
    for (const [optimizer, wanted] of [
      [a, 1],
      [b, 1],
      [a, 1],
      [c, 1],
      [a, SHAPES.length],
      [c, 1],
    ]) {
      params.forEach((p) => {
        p.grad = t.torch.ones_like(p);
      });
      const counts = await counted(t, () => {
        optimizer.step();
      });
      if (counts) t.equal(counts.launches, wanted);
    }
  },
  "only what was changed is refused on the way back": async (t) => {
    const { nn, optim } = t.torch,
      [a, b, c] = parameters(t, [[4], [4], [4]]),
      x = made(t, [4], 9),
      optimizer = optim.SGD([a, b], { lr: 0.1 });
    [a, b].forEach((p) => {
      p.grad = t.torch.ones_like(p);
    });
    await optimizer.step();
    const fine = a.mul(a).sum(),
      other = b.mul(b).sum();
    b.grad = null;
    t.torch.no_grad(() => {
      b.mul_(2);
    });
    fine.backward();
    await t.throws(() => other.backward(), /modified by an inplace operation/);
    const late = a.mul(c).sum();
    await optimizer.step();
    await t.throws(() => late.backward(), /modified by an inplace operation/);
    t.equal([nn.Parameter(x).storage_offset(), a.storage_offset(), a.is_contiguous(), a._version], [0, 0, true, 2]);
  },
  "memory is counted as before, and goes when its tensors do": async (t) => {
    const { torch } = t,
      held = () => {
        const { bytes, buffers } = torch.memory()[t.device];
        return [bytes, buffers];
      };
    const params = torch.tidy(() => parameters(t, [[64, 64], [64], [64, 64], [64]])),
      before = held(),
      optimizer = torch.optim.SGD(params, { momentum: 0.9 });
    torch.tidy(() => params.forEach((p) => p.mul(2).sum().backward()));
    const state = held();
    await optimizer.step();
    const [bytes, buffers] = held();
    t.equal([bytes - state[0] >= 4 * 8320, buffers - state[1]], [true, 4]);
    const { deviceBytes, poolBytes } = torch.memory()[t.device];
    if (t.device === "webgpu") t.equal(deviceBytes >= bytes + poolBytes, true);
    optimizer.zero_grad();
    for (const { momentum_buffer } of optimizer.state.values()) momentum_buffer.dispose();
    t.equal([held()[1] - before[1]], [0]);
    params[1].dispose();
    t.equal(held()[1] - before[1], -1);
    t.equal((await params[0].sum().item()) !== 0, true);
  },
  "torch.set_debug sees every parameter's step by itself": async (t) => {
    const { torch } = t,
      params = parameters(t, [[2], [3], [4]]),
      optimizer = torch.optim.SGD(params, { lr: 0.5 }),
      step = () => {
        params.forEach((p) => {
          p.grad = torch.ones_like(p);
        });
        return optimizer.step();
      };
    await step();
    torch.set_debug(true);
    try {
      const counts = await counted(t, step);
      if (counts) t.equal(counts.launches >= 3, true);
      params[1].grad = t.tensor([1e38, 1, 1]);
      optimizer.param_groups[0].lr = 1e30;
      await t.throws(async () => {
        await optimizer.step();
        await params[1].tolist();
      }, /sgd_step made -?Infinity.*at \[0\]/s);
    } finally {
      torch.set_debug(false);
    }
  },
  "gradients are clipped together once they lie together": async (t) => {
    const { nn } = t.torch,
      params = parameters(t),
      alone = parameters(t),
      optimizer = t.torch.optim.SGD(params, { lr: 0.1 }),
      single = alone.map((p) => t.torch.optim.SGD([p], { lr: 0.1 }));
    for (let n = 0; n < 3; n++) {
      for (const all of [params, alone])
        all.forEach((p, i) => {
          p.grad = null;
          p.mul(made(t, p.shape, 10 * i))
            .sum()
            .backward();
        });
      nn.utils.clip_grad_norm_(params, 0.5);
      nn.utils.clip_grad_norm_(alone, 0.5);
      await optimizer.step();
      for (const o of single) await o.step();
      t.close(await flat(params), await flat(alone), { rtol: 1e-6, atol: 1e-7 });
    }
  },
};

/** A state dict with copies of its tensors. */
const structured = ({ state, param_groups }) => ({
  state: Object.fromEntries(
    Object.entries(state).map(([k, own]) => [
      k,
      Object.fromEntries(Object.entries(own).map(([key, x]) => [key, typeof x === "number" ? x : x.clone()])),
    ]),
  ),
  param_groups,
});
