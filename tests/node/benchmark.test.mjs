// torch.backends.tensorloom.benchmark: which tile is taken after trials, that results stay, and what is refused.  The GPU
// in software is told to be a real one, and the times are the test's.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as torch from "../../dist/index.js";
import { TRIED } from "../../dist/host/tile_candidates.js";
import { Benchmark } from "../../dist/runtime/devices/webgpu/benchmark.js";

if (!(await torch.initWebGPUAsync())) throw new Error("no WebGPU in Node");
const device = torch.defaultDevice(),
  { tensorloom, cudnn } = torch.backends,
  strategies = ({ launches }) => launches.map(({ launch }) => launch.strategy).join("; ");
device.facts.software = false;
// Enough to choose from: a GPU in software takes long to compile each.
const few = [128, 64, 32].map((rows) => TRIED.findIndex(([r, c]) => r === rows && c === (rows === 32 ? 64 : 32)));
TRIED.splice(0, TRIED.length, ...few.map((n) => TRIED[n]));

/** Times of trials: the tile of these words is the fastest. */
function fastest(words) {
  Benchmark.prototype.time = (way, storages, runs) => {
    for (let n = 0; n < runs; n++) device.execute(way.prepared, storages, null);
    return strategies(way.prepared).includes(words) ? 1 : 2;
  };
}

async function close(got, want) {
  assert.ok(await torch.allclose(await got.to("cpu"), want, { rtol: 1e-4, atol: 1e-4 }));
}

const a = torch.randn([160, 256], { device: "cpu" }),
  b = torch.randn([256, 192], { device: "cpu" }),
  want = a.matmul(b),
  [x, y] = [a.to("webgpu"), b.to("webgpu")];

test("the fastest tile is taken, by the program that was tried and by later ones", async () => {
  fastest("64 by 32 sums");
  tensorloom.benchmark = true;
  assert.equal(cudnn.benchmark, true);
  await close(x.mm(y), want);
  await tensorloom.benchmark_finished();
  const [{ op, facts, tile, before, after }, ...others] = tensorloom.tuned();
  assert.deepEqual([op, facts.M, facts.N, facts.K, tile.rows, tile.columns], ["mm", 160, 192, 256, 64, 32]);
  assert.deepEqual([before, after, others], [2, 1, []]);
  await close(x.mm(y), want);
  const seen = [];
  const { onPrepared } = device;
  device.onPrepared = (made) => void seen.push(strategies(made));
  const shifted = torch.zeros([161, 256]);
  shifted.narrow(0, 1, 160).copy_(x);
  seen.length = 0;
  await close(shifted.narrow(0, 1, 160).mm(y), want);
  assert.match(seen.join(), /64 by 32 sums/);
  device.onPrepared = onPrepared;
  shifted.dispose();
});

test("gradients have tiles of their own", async () => {
  fastest("128 by 32 sums");
  const p = x.clone().requires_grad_();
  p.mm(y).sum().backward();
  await tensorloom.benchmark_finished();
  await close(p.grad, torch.ones([160, 192], { device: "cpu" }).mm(b.t()));
  assert.ok(tensorloom.tuned().some(({ tile }) => tile.rows === 128 && tile.columns === 32));
});

test("where the table's tile is as fast, nothing changes", async () => {
  fastest("");
  const known = tensorloom.tuned().length;
  await close(x.mm(y.narrow(1, 0, 128)), want.narrow(1, 0, 128));
  await tensorloom.benchmark_finished();
  assert.equal(tensorloom.tuned().length, known);
});

test("what was found is used again, and not tried again", async () => {
  tensorloom.benchmark = false;
  const saved = JSON.parse(JSON.stringify(tensorloom.tuned().slice(0, 1)));
  saved[0].facts.M = 80;
  Object.assign(saved[0].tile, { rows: 32, columns: 64, depth: 16, thread_rows: 4, thread_columns: 4, slices: 1 });
  tensorloom.use_tuned(saved);
  const seen = [];
  device.onPrepared = (made) => void seen.push(strategies(made));
  await close(x.narrow(0, 0, 80).mm(y), want.narrow(0, 0, 80));
  assert.match(seen.join(), /32 by 64 sums/);
  tensorloom.benchmark = true;
  const known = tensorloom.tuned().length;
  fastest("16 by 16");
  await close(x.narrow(0, 1, 80).mm(y), want.narrow(0, 1, 80));
  await tensorloom.benchmark_finished();
  assert.equal(tensorloom.tuned().length, known);
});

test("what is no tile, and no flag, is refused by name", () => {
  assert.throws(() => (tensorloom.benchmark = "yes"), /backends.tensorloom.*benchmark.*true or false/);
  assert.throws(() => tensorloom.use_tuned("x"), /use_tuned: argument 'tiles'/);
  assert.throws(() => tensorloom.use_tuned([{ op: "mm", facts: {}, tile: {} }]), /tiles\[0\] is none.*left_deep/);
});

test.after(() => setTimeout(() => process.exit(), 100));
