// Files in a page's cache: brought once, gone on with where they broke off, and nothing of what they were before stays.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { fromPageCache } from "../../dist/runtime/hub/page-cache.js";

const PIECE = 2 ** 23, // bytes of a piece
  DATA = Buffer.from(Uint8Array.from({ length: 2 * PIECE + 5 }, (_, i) => i % 251)); // what files begin with
/** What the browser's caches hold, by the end of the address. */
const held = new Map();
let room = Infinity;
const cache = {
  match: async (address) => (held.has(address) ? new Response(held.get(address)) : undefined),
  put: async (address, response) => {
    const data = await response.blob(),
      size = [...held].reduce((sum, [at, { size }]) => (at === address ? sum : sum + size), data.size);
    if (size > room) throw new DOMException("full", "QuotaExceededError");
    held.set(address, data);
  },
  delete: async (address) => held.delete(address),
};
const names = () => [...held.keys()].map((address) => address.split("/").pop()).sort();

/** What servers have, by their sizes and where they break off; and what they were asked for. */
const files = {};
let asked = [];
globalThis.location = { origin: "http://here" };
globalThis.caches = { open: async () => cache };
globalThis.fetch = async (url, { headers } = {}) => {
  const { size, fails = Infinity, tag = '"a"' } = files[url],
    range = new Headers(headers).get("range"),
    from = Number(/^bytes=(\d+)-$/.exec(range)?.[1] ?? 0);
  asked.push(range ?? "all");
  let at = from;
  const body = new ReadableStream({
    pull(controller) {
      if (at >= fails) return controller.error(new TypeError("network"));
      if (at >= size) return controller.close();
      const end = Math.min(at + 2 ** 20, size, fails);
      controller.enqueue(new Uint8Array(DATA.subarray(at, end)));
      at = end;
    },
  });
  return new Response(body, {
    status: range ? 206 : 200,
    headers: {
      etag: tag,
      "content-length": size - from,
      ...(range ? { "content-range": `bytes ${from}-${size - 1}/${size}` } : {}),
    },
  });
};
const bring = async (url, check = async () => {}) => {
  asked = [];
  return fromPageCache(`http://there/${url}`, "folder", "net.bin", {}, check);
};
/** Whether a file is that of so many bytes. */
async function is(blob, size) {
  assert.ok(DATA.subarray(0, size).equals(new Uint8Array(await blob.arrayBuffer())));
}
beforeEach(() => {
  held.clear();
  room = Infinity;
  Object.assign(files, {
    "http://there/large": { size: 2 * PIECE + 5 },
    "http://there/small": { size: 7 },
    "http://there/broken": { size: 100, fails: 40 },
  });
});

test("a file is brought once, in pieces", async () => {
  await is(await bring("large"), 2 * PIECE + 5);
  assert.deepEqual([names(), asked], [["0", "1", "2", "description"], ["all"]]);
  await is(await bring("large"), 2 * PIECE + 5);
  assert.deepEqual(asked, []);
});

test("of a file from another address nothing stays", async () => {
  await bring("large");
  await is(await bring("small"), 7);
  assert.deepEqual(names(), ["0", "description"]);
  // nor where the other one does not come
  await bring("large");
  files["http://there/small"].fails = 0;
  await assert.rejects(bring("small"), /broke off/);
  assert.deepEqual(names(), ["description"]);
});

test("what broke off is gone on with, if the server has the same file still", async () => {
  await assert.rejects(bring("broken"), /broke off after 40 bytes of 100; what came is kept/);
  assert.deepEqual(names(), ["0", "description"]);
  files["http://there/broken"].fails = Infinity;
  await is(await bring("broken"), 100);
  assert.deepEqual([names(), asked], [["0", "1", "description"], ["bytes=40-"]]);
  held.clear();
  files["http://there/broken"].fails = 40;
  await assert.rejects(bring("broken"), /broke off/);
  Object.assign(files["http://there/broken"], { size: 90, fails: Infinity, tag: '"b"' });
  await is(await bring("broken"), 90);
  assert.deepEqual(
    [names(), asked],
    [
      ["0", "description"],
      ["bytes=40-", "all"],
    ],
  );
});

test("a file that is wrong, of which a piece is gone, or for which there is no room does not stay", async () => {
  const wrong = new Error("wrong");
  await assert.rejects(
    bring("large", async () => {
      throw wrong;
    }),
    (error) => error === wrong,
  );
  assert.deepEqual(names(), []);
  await bring("large");
  for (const address of held.keys()) if (address.endsWith("/1")) held.delete(address);
  await assert.rejects(bring("large"), /net\.bin: the browser has thrown away a part of it; call again/);
  assert.deepEqual(names(), []);
  room = PIECE + 500;
  assert.equal(await bring("large"), null);
  assert.deepEqual(names(), []);
});

test("who asks meanwhile waits, and finds it there", async () => {
  const both = await Promise.all([bring("large"), bring("large")]);
  for (const blob of both) await is(blob, 2 * PIECE + 5);
  assert.deepEqual(asked, ["all"]);
});
