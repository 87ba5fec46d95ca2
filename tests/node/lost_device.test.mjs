// A GPU that goes away: whatever touches its tensors says so, the CPU goes on, and a new device can be had.
import assert from "node:assert/strict";
import test from "node:test";
import * as torch from "../../dist/in-node/index.js";

test("a lost device", async () => {
  assert.ok(await torch.initWebGPUAsync(), "no WebGPU");
  const gone = torch.gpuDevice();
  const a = torch.tensor([1, 2, 3]),
    kept = torch.tensor([1, 2], { device: "cpu" });
  assert.deepEqual(await a.add(1).tolist(), [2, 3, 4]);
  const pending = a.mul(2);
  const wrong = torch.DeviceError;
  gone.destroy();
  await gone.lost;
  await new Promise((done) => setTimeout(done, 20));
  assert.throws(
    () => a.add(1),
    (e) => e instanceof wrong && /^add: the GPU was lost \(.*\); await initWebGPUAsync\(\)/.test(e.message),
  );
  await assert.rejects(async () => pending.tolist(), wrong);
  assert.throws(() => torch.ones([2], { device: "webgpu" }), /webgpu/);
  assert.deepEqual(await kept.add(1).tolist(), [2, 3]);
  a.dispose();

  assert.ok(await torch.initWebGPUAsync());
  assert.notEqual(torch.gpuDevice(), gone);
  const b = torch.tensor([1, 2, 3]);
  assert.equal(String(b.device), "webgpu");
  assert.deepEqual(await b.add(1).tolist(), [2, 3, 4]);
  assert.throws(() => pending.add(b), wrong);
  // Whatever uses or reads one of the old device's tensors says so, not only what computes with it.
  const on = new torch.nn.Linear(3, 1),
    { F = torch.nn.functional } = torch;
  const uses = {
    cat: () => torch.cat([b, pending]),
    copy_: () => b.copy_(pending),
    zero_: () => pending.zero_(),
    view: () => pending.view(3, 1),
    clone: () => pending.clone(),
    to: () => pending.to("webgpu"),
    "to the CPU": () => pending.to("cpu"),
    data: () => pending.data(),
    item: () => pending.sum().item(),
    index: () => pending.index(0),
    set: () => pending.set([0], 1),
    stack: () => torch.stack([pending]),
    linear: () => F.linear(pending, on.weight),
    equal: () => torch.equal(b, pending),
    tensor: () => torch.tensor(pending),
    mapReadAsync: () => pending.storage.mapReadAsync(),
    masked: () => b.masked_select(pending.gt(0)),
    resize: () => pending.resize_(9),
    save: () => torch.save({ pending }, "/dev/null"),
  };
  for (const [name, use] of Object.entries(uses)) {
    await assert.rejects(
      async () => {
        await use();
      },
      (e) => e instanceof wrong && /the GPU was lost/.test(e.message),
      name,
    );
  }
  assert.equal(String(pending).includes("tensor("), true); // it can still be looked at
  pending.dispose();
  torch.gpuDevice().destroy();
});

test("who listens is told of each device's end, and a snapshot goes on with the weights", async () => {
  assert.ok(await torch.initWebGPUAsync(), "no WebGPU");
  const model = new torch.nn.Sequential(new torch.nn.Linear(3, 4), new torch.nn.BatchNorm1d(4)),
    optimizer = new torch.optim.Adam(model.parameters(), { lr: 0.1 }),
    x = torch.tensor([
      [1, 2, 3],
      [0, 1, -1],
    ]);
  const step = async (input) => {
    optimizer.zero_grad();
    model.forward(input).square().sum().backward();
    await optimizer.step();
  };
  await step(x);
  const kept = await torch.webgpu.snapshot({ model, optimizer, more: [x] }),
    weights = await model[0].weight.tolist(),
    told = [];
  await step(x);
  const wanted = await model[0].weight.tolist();
  let settled;
  const listening = torch.webgpu.on_lost(async (lost) => {
    assert.equal(torch.webgpu.is_available(), false);
    await torch.initWebGPUAsync();
    await kept.restore();
    told.push(lost.reason);
    setTimeout(settled, 20);
  });
  for (const times of [1, 2]) {
    const over = new Promise((done) => {
      settled = done;
    });
    torch.gpuDevice().destroy();
    await over;
    assert.deepEqual(told, Array(times).fill("destroyed"));
    assert.equal(x.device, "webgpu");
    assert.deepEqual(await model[0].weight.tolist(), weights);
    await step(x); // the same step as before, with Adam's state
    assert.deepEqual(await model[0].weight.tolist(), wanted);
  }
  listening.remove();
  torch.gpuDevice().destroy();
  await new Promise((done) => setTimeout(done, 50));
  assert.equal(told.length, 2);
  await kept.restore("cpu");
  assert.equal(model[0].weight.device, "cpu");
  await step(x);
  await assert.rejects(torch.webgpu.snapshot("model"), /snapshot: expected modules, optimizers and tensors/);
});
