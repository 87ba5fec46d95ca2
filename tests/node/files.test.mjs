// Files in Node: paths, positions, writing; and 10,000 damaged files.  Servers' are in served_files.test.mjs.
import assert from "node:assert/strict";
import {
  chmodSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import test from "node:test";
import { readDamaged } from "../files/damage.mjs";
import * as torch from "../../dist/in-node/index.js";

const { safetensors } = torch;
const folder = mkdtempSync(join(tmpdir(), "files-"));
process.on("exit", () => rmSync(folder, { recursive: true }));
const here = (name) => fileURLToPath(new URL(`../files/${name}`, import.meta.url));

/** The largest typed array made while `body` runs. */
async function largest(body) {
  let most = 0;
  const kept = {};
  for (const name of ["Uint8Array", "Uint16Array", "Int32Array", "Uint32Array", "Float32Array", "Float64Array"]) {
    const before = (kept[name] = globalThis[name]);
    globalThis[name] = new Proxy(before, {
      construct(target, args, newTarget) {
        if (typeof args[0] === "number") most = Math.max(most, args[0] * before.BYTES_PER_ELEMENT);
        return Reflect.construct(target, args, newTarget);
      },
    });
  }
  try {
    await body();
  } finally {
    Object.assign(globalThis, kept);
  }
  return most;
}

test("a path is read by position: of a large file only what is asked for", async () => {
  const path = join(folder, "large.safetensors"),
    x = torch.arange(2 ** 20, { dtype: "float32", device: "cpu" }).reshape(1024, 1024);
  await safetensors.save_file({ x, y: torch.tensor([1, 2]) }, path);
  const most = await largest(async () => {
    const file = await safetensors.safe_open(path);
    assert.deepEqual(await (await file.get_tensor("y")).tolist(), [1, 2]);
    const rows = await file.get_slice("x").rows(-2);
    assert.deepEqual([rows.shape, await rows.select(0, 1).select(0, 5).item()], [[2, 1024], 1023 * 1024 + 5]);
    await file.close();
  });
  assert.ok(most < 2 ** 16, `${most} bytes at once`);
});

/** Its values cannot be read any more. */
function loseDeviceOf(tensor) {
  const lost = { download: { value: () => Promise.reject(new Error("the device was lost")) } };
  Object.defineProperty(tensor.storage, "device", { value: Object.create(tensor.storage.device, lost) });
}

test("what was in a file stays until all of the new content is written", async () => {
  const path = join(folder, "model.safetensors");
  await torch.save({ a: torch.tensor([1]) }, path);
  await assert.rejects(torch.save({ a: [2] }, path), /"a" must be a tensor/);
  const failing = torch.tensor([3]);
  loseDeviceOf(failing);
  await assert.rejects(torch.save({ a: failing }, path), /the device was lost/);
  assert.deepEqual(await (await torch.load(path)).a.tolist(), [1]);
  await torch.save({ a: torch.tensor([4]) }, pathToFileURL(path));
  assert.deepEqual(await (await torch.load(pathToFileURL(path))).a.tolist(), [4]);
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.endsWith(".part")),
    [],
  );
  await assert.rejects(
    torch.save({ a: torch.tensor([1]) }, join(folder, "no", "such")),
    /such: it cannot be written: ENOENT/,
  );
  await assert.rejects(torch.load(folder), /it is not a file/);
});

test("what is saved are the values at the call, while training goes on", async () => {
  const path = join(folder, "moving.safetensors"),
    names = Array.from({ length: 40 }, (_, i) => `p${i}`);
  const state = Object.fromEntries(names.map((name) => [name, torch.zeros([1000], { device: "cpu" })]));
  const add = () => {
    for (const name of names) state[name].add_(1);
  };
  const sink = [],
    stream = new WritableStream({
      write(part) {
        sink.push(part);
      },
    });
  const ends = [
    torch.save(state, path),
    torch.save(state, stream),
    safetensors.save(state),
    safetensors.save_file(state, `${path}2`),
  ];
  for (let step = 0; step < 200; step++) {
    add();
    if (step % 20 === 0) await new Promise((done) => setImmediate(done));
  }
  state.p3.dispose();
  const bytes = (await Promise.all(ends))[2];
  for (const from of [path, new Blob(sink), bytes, `${path}2`]) {
    for (const x of Object.values(await torch.load(from))) assert.deepEqual([...new Set(await x.tolist())], [0]);
  }
});

/** The number in a file, and that nothing else lies in its folder. */
async function onlyFile(path) {
  assert.deepEqual(readdirSync(join(path, "..")), [path.split("/").pop()]);
  return (await torch.load(path)).a.item();
}

test("saves to one path go one after the other, whatever they are called by, and each leaves a whole file", async () => {
  const own = mkdtempSync(join(folder, "queue-")),
    path = join(own, "a.st"),
    big = (value) => torch.full([2 ** 18], value, { device: "cpu" });
  const ends = [];
  for (let i = 0; i < 8; i++)
    ends.push(
      torch.save(
        { a: i % 2 ? torch.tensor(i) : big(i) },
        [path, pathToFileURL(path), relative(process.cwd(), path), join(own, ".", "a.st")][i % 4],
      ),
    );
  const failing = torch.tensor(100);
  loseDeviceOf(failing);
  ends.splice(4, 0, assert.rejects(torch.save({ a: failing }, path), /the device was lost/));
  await Promise.all(ends);
  assert.equal(await onlyFile(path), 7);
  await Promise.all([torch.save({ a: torch.tensor(8) }, path), torch.profiler.profile().export_chrome_trace(path)]);
  assert.equal(JSON.parse(readFileSync(path, "utf8")).schemaVersion, 1);
  const locked = new WritableStream();
  locked.getWriter();
  await assert.rejects(
    torch.save({ a: torch.tensor(1) }, locked),
    (error) => error instanceof torch.OpError && /^save: the stream is locked/.test(error.message),
  );
});

test("saving follows no planted link, keeps the mode and the place a link leads to, and replaces no device", {
  skip: process.platform === "win32",
}, async () => {
  const own = mkdtempSync(join(folder, "links-")),
    path = join(own, "a.st"),
    victim = join(folder, "victim");
  writeFileSync(victim, "precious");
  symlinkSync(victim, `${path}.part`);
  const random = Math.random;
  let drawn = 0;
  try {
    // a link in the way of the first name that is tried
    symlinkSync(victim, `${path}.${(0.125).toString(36).slice(2, 12)}.part`);
    Math.random = () => (drawn++ ? random() : 0.125);
    await torch.save({ a: torch.tensor(1) }, path);
  } finally {
    Math.random = random;
  }
  assert.ok(drawn >= 2);
  assert.equal(readFileSync(victim, "utf8"), "precious");
  assert.equal(lstatSync(path).isFile() && (await torch.load(path)).a.shape.length, 0);
  const plain = statSync(path).mode & 0o777;
  for (const mode of [0o600, 0o664, 0o440]) {
    chmodSync(path, mode);
    await torch.save({ a: torch.tensor(2) }, path);
    assert.equal(statSync(path).mode & 0o777, mode);
  }
  assert.equal(plain, 0o666 & ~process.umask());
  const link = join(folder, "link.st");
  symlinkSync(path, link);
  await torch.save({ a: torch.tensor(3) }, link);
  assert.deepEqual([lstatSync(link).isSymbolicLink(), await (await torch.load(path)).a.item()], [true, 3]);
  await torch.save({ a: torch.tensor(4) }, "/dev/null");
  assert.equal(lstatSync("/dev/null").isCharacterDevice(), true);
});

test("a file that was cut off says so, wherever it was cut", async () => {
  for (const name of ["net.pt", "deflated.pt", "zip64.pt", "net.safetensors"]) {
    const data = readFileSync(here(name)),
      path = join(folder, `cut-${name}`);
    for (let n = 0; n < data.length; n += name.endsWith("pt") ? 97 : 13) {
      writeFileSync(path, data.subarray(0, n));
      await assert.rejects(
        torch.load(path),
        (error) => error instanceof torch.FileError && error.file === path && error.message.startsWith(path),
        `${name} cut at ${n}`,
      );
    }
  }
});

test("progress is told while a path is read", async () => {
  const seen = [];
  await torch.load(here("net.safetensors"), { progress: (p) => seen.push(p) });
  const size = readFileSync(here("net.safetensors")).length;
  assert.ok(
    seen.length > 3 &&
      seen.every(({ loaded, total }, i) => total === size && (i === 0 || loaded >= seen[i - 1].loaded)),
  );
  assert.equal(seen.at(-1).loaded, size, "a file's head, which is read twice, counts once");
});

test("10,000 damaged files end in a value or a FileError, soon and without large allocations", async () => {
  const names = [
    "types.pt",
    "deflated.pt",
    "zip64.pt",
    "nested.pt",
    "net4.pt",
    "views.pt",
    "types.safetensors",
    "net.safetensors",
  ];
  const files = names.map((name) => [name, new Uint8Array(readFileSync(here(name)))]);
  let refused = 0;
  const started = Date.now(),
    most = await largest(async () => {
      refused = await readDamaged(torch, files, 10_000, 1);
    });
  console.log(
    `figure: ${refused} of 10000 damaged files refused in ${((Date.now() - started) / 1000).toFixed(1)} s, ${most} bytes at most in one array`,
  );
  assert.ok(refused > 5000);
  assert.ok(most < 2 ** 20, `${most} bytes at once`);
  assert.equal({}.polluted, undefined);
});

test("archives that would grow beyond their size are refused before anything is allocated", async () => {
  const data = new Uint8Array(readFileSync(here("deflated.pt"))),
    words = new DataView(data.buffer);
  const claim = (size) => {
    for (let at = 0; at + 46 < data.length; at++)
      if (words.getUint32(at, true) === 0x02014b50) words.setUint32(at + 24, size, true);
  };
  const most = await largest(async () => {
    claim(0xfffffff0);
    await assert.rejects(torch.load(data), /its deflated entries would have \d+ bytes inflated, at most \d+ are read/);
    claim(2 ** 23);
    await assert.rejects(torch.load(data), /is said to hold 8388608 bytes, more than its \d+ can|is stored, but has/);
  });
  assert.ok(most < 2 ** 16, `${most} bytes at once`);
});
