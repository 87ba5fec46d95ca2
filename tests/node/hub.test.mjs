// torch.hub in Node: files are brought once, gone on with where they broke off, and checked.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import test, { after, before } from "node:test";
import * as torch from "../../dist/in-node/index.js";

const DATA = readFileSync(fileURLToPath(new URL("../files/net.safetensors", import.meta.url))),
  HASH = createHash("sha256").update(DATA).digest("hex"),
  { hub } = torch;
let server, address, folder;
const asked = [];
/** What the next answers are: how many bytes of a file come before it breaks off, and its tag. */
const spoil = { after: Infinity, tag: '"one"', ranges: true };

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "hub-"));
  server = createServer((request, response) => {
    const range = spoil.ranges && /^bytes=(\d+)-$/.exec(request.headers.range ?? ""),
      fits = range && (request.headers["if-range"] ?? spoil.tag) === spoil.tag,
      from = fits ? Number(range[1]) : 0,
      part = DATA.subarray(from);
    asked.push(request.headers.range ?? "all");
    if (request.url.startsWith("/none")) return response.writeHead(404).end();
    response.writeHead(fits ? 206 : 200, {
      etag: spoil.tag,
      "content-length": part.length,
      ...(fits ? { "content-range": `bytes ${from}-${DATA.length - 1}/${DATA.length}` } : {}),
    });
    if (part.length > spoil.after)
      response.write(part.subarray(0, spoil.after), () => setTimeout(() => response.destroy(), 20));
    else response.end(part);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  address = `http://127.0.0.1:${server.address().port}`;
  hub.set_dir(folder);
});
after(() => {
  server.closeAllConnections?.();
  server.close();
  rmSync(folder, { recursive: true });
});
const quiet = { progress: false };
const files = () => readdirSync(join(folder, "checkpoints")).sort();
/** What is asked of the server while `body` runs. */
async function requests(body) {
  asked.length = 0;
  await body();
  return asked.slice();
}

test("a file is brought once, and its hash is looked at", async () => {
  const name = `net-${HASH.slice(0, 8)}.safetensors`,
    seen = [];
  assert.equal(hub.get_dir(), folder);
  const state = await hub.load_state_dict_from_url(`${address}/${name}?x=1`, {
    check_hash: true,
    progress: (p) => seen.push(p),
  });
  assert.deepEqual([...state["2.weight"].shape], [2, 4]);
  assert.deepEqual(seen.at(-1), { loaded: DATA.length, total: DATA.length });
  assert.deepEqual(files(), [name]);
  assert.deepEqual(readFileSync(join(folder, "checkpoints", name)), DATA);
  assert.deepEqual(await requests(() => hub.load_state_dict_from_url(`${address}/${name}`, { sha256: HASH })), []);
  const model = new torch.nn.Sequential(new torch.nn.Linear(3, 4), new torch.nn.ReLU(), new torch.nn.Linear(4, 2));
  assert.ok(model);
  await assert.rejects(
    hub.load_state_dict_from_url(`${address}/bad-0123abcd.safetensors`, { check_hash: true, ...quiet }),
    /bad-0123abcd\.safetensors: invalid hash value \(expected "0123abcd", got "[0-9a-f]{64}"\)/,
  );
  await assert.rejects(
    hub.load_state_dict_from_url(`${address}/${name}`, { sha256: "0".repeat(64) }),
    /invalid hash value/,
  );
  assert.deepEqual(files(), [name]); // what came with a wrong hash is not kept
});

test("many calls at once bring it once", async () => {
  const all = await requests(() =>
    Promise.all([1, 2, 3].map(() => hub.load_state_dict_from_url(`${address}/many.safetensors`, quiet))),
  );
  assert.deepEqual(all, ["all"]);
});

test("what broke off is gone on with, now and by the next call", async () => {
  spoil.after = 100;
  await assert.rejects(
    hub.load_state_dict_from_url(`${address}/broken.safetensors`, quiet),
    /the download broke off after 500 bytes of \d+; what came is kept, and the next call goes on from there/,
  );
  assert.deepEqual(asked.slice(-5), ["all", "bytes=100-", "bytes=200-", "bytes=300-", "bytes=400-"]);
  assert.ok(files().includes("broken.safetensors.part"));
  spoil.after = Infinity;
  assert.deepEqual(
    await requests(() => hub.load_state_dict_from_url(`${address}/broken.safetensors`, { sha256: HASH, ...quiet })),
    ["bytes=500-"],
  );
  assert.ok(!files().some((name) => name.startsWith("broken") && name !== "broken.safetensors"), files().join());
});

test("parts of different files are never put together", async () => {
  spoil.after = 100;
  await assert.rejects(hub.load_state_dict_from_url(`${address}/changed.safetensors`, quiet), /broke off/);
  Object.assign(spoil, { after: Infinity, tag: '"two"' });
  await hub.load_state_dict_from_url(`${address}/changed.safetensors`, { sha256: HASH, ...quiet });
  spoil.after = 100;
  await assert.rejects(hub.load_state_dict_from_url(`${address}/whole.safetensors`, quiet), /broke off/);
  Object.assign(spoil, { after: Infinity, ranges: false });
  await hub.load_state_dict_from_url(`${address}/whole.safetensors`, { sha256: HASH, ...quiet });
  spoil.ranges = true;
});

test("a lock of a process that is gone holds nobody up; one that lives is left alone", async () => {
  const path = join(folder, "locked.bin");
  for (const [pid, left] of [
    [2 ** 22 + 1, false],
    [process.ppid, true],
  ]) {
    rmSync(path, { force: true });
    writeFileSync(`${path}.lock`, String(pid));
    await hub.download_url_to_file(`${address}/locked.bin`, path, { hash_prefix: HASH.slice(0, 10), ...quiet });
    assert.deepEqual(readFileSync(path), DATA);
    assert.equal(existsSync(`${path}.lock`), left);
    assert.ok(!readdirSync(folder).some((name) => name.endsWith(".part")));
  }
});

test("what is no file, address or name is told", async () => {
  await assert.rejects(hub.load_state_dict_from_url(`${address}/none.pt`, quiet), /none\.pt: the server answered 404/);
  await assert.rejects(hub.load_state_dict_from_url("net.pt"), /load_state_dict_from_url: "net\.pt" is no address/);
  await assert.rejects(hub.load_state_dict_from_url(`${address}/`), /ends with no name; say file_name/);
  await assert.rejects(hub.load_state_dict_from_url(`${address}/..%2f..%2fx`), /is no name of a file/);
  await assert.rejects(
    hub.load_state_dict_from_url(`${address}/a.pt`, { file_name: "../a.pt" }),
    /is no name of a file/,
  );
  await assert.rejects(hub.load_state_dict_from_url(`${address}/a.pt`, { sha256: "abc" }), /64 hexadecimal digits/);
  await assert.rejects(hub.load_state_dict_from_url(`${address}/stop.pt`, { signal: AbortSignal.abort(), ...quiet }), {
    name: "AbortError",
  });
});
