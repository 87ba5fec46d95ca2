// A bar over the loading of a file never goes back and is full once, when all is there, however the file comes.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import test from "node:test";
import { message } from "../onnx/message.mjs";
import * as torch from "../../dist/in-node/index.js";
import * as gguf from "../../dist/in-node/runtime/gguf/index.js";

const here = (name) => fileURLToPath(new URL(`../files/${name}`, import.meta.url));
const kinds = {
  "exported.pt2": torch.export.load,
  "exported.onnx": torch.onnx.load,
  "net.safetensors": torch.safetensors.load_file,
  "net.pt": torch.load,
  "types.safetensors": torch.load,
  "weights.gguf": gguf.load,
};

/** A response whose body comes in pieces. */
function inPieces(data, headers) {
  let sent = 0;
  const body = new ReadableStream({
    pull(to) {
      if (sent >= data.length) to.close();
      else to.enqueue(data.slice(sent, (sent += 100)));
    },
  });
  return new Response(body, { headers });
}

/** What is told while `load` goes on, of which the last is the whole, `size` bytes. */
async function told(load, size) {
  const seen = [];
  await load((progress) => seen.push(progress));
  const full = seen.filter(({ loaded, total }) => loaded === total);
  assert.deepEqual(full, [{ loaded: size, total: size }], "it is full once");
  assert.equal(seen.at(-1), full[0], "nothing is told afterwards");
  seen.slice(0, -1).forEach(({ loaded, total }, i) => {
    assert.ok(total === null || loaded < total);
    assert.ok(i === 0 || loaded / (total ?? size) >= seen[i - 1].loaded / (seen[i - 1].total ?? size), "it goes back");
  });
  return seen;
}

for (const [name, load] of Object.entries(kinds))
  test(`the bar of ${name}`, async () => {
    const path = here(name),
      data = readFileSync(path);
    const server = createServer((request, response) => {
      const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
      if (from === undefined) response.writeHead(200, { "content-length": data.length }).end(data);
      else
        response
          .writeHead(206, { "content-range": `bytes ${from}-${Math.min(to, data.length - 1)}/${data.length}` })
          .end(data.subarray(Number(from), Number(to) + 1));
    });
    await new Promise((done) => server.listen(0, "127.0.0.1", done));
    try {
      const ways = {
        path,
        bytes: new Uint8Array(data),
        blob: new Blob([data]),
        announced: inPieces(data, { "content-length": String(data.length) }),
        "of no length": inPieces(data, {}),
        ranges: `http://127.0.0.1:${server.address().port}/${name}`,
      };
      for (const [way, file] of Object.entries(ways)) {
        const seen = await told((progress) => load(file, { progress }), data.length);
        if (file instanceof Response) assert.ok(seen.length > 5, `${way}: told on the way`);
      }
      await assert.rejects(
        load(data.subarray(0, data.length - 30), { progress: (p) => assert.ok(p.loaded < p.total, "of a cut file") }),
        { name: "FileError" },
      );
    } finally {
      server.closeAllConnections?.();
      server.close();
    }
  });

test("weights beside an ONNX model belong to its bar", async () => {
  const folder = mkdtempSync(join(tmpdir(), "bar-"));
  try {
    const where = (key, value) => [13, message([1, key], [2, value])],
      beside = (name, offset) =>
        message(
          [1, 64],
          [2, 1],
          [8, name],
          where("location", "w.bin"),
          where("offset", `${offset}`),
          where("length", "256"),
          [14, 1],
        );
    const node = message([1, "a"], [1, "b"], [2, "y"], [4, "Add"]),
      graph = message([1, node], [5, beside("a", 0)], [5, beside("b", 256)], [12, message([1, "y"])]),
      model = message([1, 8], [7, graph], [8, message([2, 17])]);
    writeFileSync(join(folder, "model.onnx"), model);
    writeFileSync(join(folder, "w.bin"), new Uint8Array(512));
    const seen = await told(
      (progress) => torch.onnx.load(join(folder, "model.onnx"), { progress }),
      model.length + 512,
    );
    assert.ok(seen.length > 1);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
