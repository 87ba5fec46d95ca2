// Files of a server: read by ranges where it has them, and never put together from parts of different files.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import test from "node:test";
import * as torch from "../../dist/in-node/index.js";

const { safetensors } = torch;
const here = (name) => fileURLToPath(new URL(`../files/${name}`, import.meta.url));

test("an address is read by ranges where its server has them, else as a whole; failures say what came", async () => {
  const data = readFileSync(here("net.safetensors")),
    asked = [];
  const server = createServer((request, response) => {
    const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "");
    asked.push(request.headers.range ?? "all");
    if (request.url === "/ranges" && range) {
      const part = data.subarray(Number(range[1]), Number(range[2]) + 1);
      response
        .writeHead(206, {
          "content-range": `bytes ${range[1]}-${range[2]}/${data.length}`,
          "content-length": part.length,
        })
        .end(part);
    } else if (request.url === "/short")
      response.writeHead(200, { "content-length": data.length }).write(data.subarray(0, 500), () => response.destroy());
    else if (request.url === "/none") response.writeHead(404).end("no");
    else response.writeHead(200, { "content-length": data.length }).end(data);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const address = `http://127.0.0.1:${server.address().port}`;
  try {
    for (const [path, requests] of [
      ["/ranges", 4],
      ["/whole", 1],
    ]) {
      asked.length = 0;
      const file = await safetensors.safe_open(address + path);
      assert.deepEqual((await file.get_tensor("2.weight")).shape, [2, 4]);
      assert.equal(asked.length, requests, asked.join(", "));
    }
    assert.equal(Object.keys(await torch.load(`${address}/whole`)).length, 9);
    await assert.rejects(torch.load(`${address}/none`), /\/none: the server answered 404 Not Found/);
    await assert.rejects(torch.load(`${address}/short`), /\/short: the download broke off after \d+ bytes/);
    await assert.rejects(safetensors.load_file(`${address}/short`), /\/short: the download broke off after \d+ bytes/);
    await assert.rejects(torch.load(`${address}/whole`, { signal: AbortSignal.abort() }), { name: "AbortError" });
  } finally {
    server.closeAllConnections?.();
    server.close();
  }
  await assert.rejects(torch.load(address), /it cannot be fetched/);
});

test("how much will come is told where an answer says so, and not of what is compressed on its way", async () => {
  const data = readFileSync(here("net.safetensors")),
    length = String(data.length);
  for (const [headers, total] of [
    [{ "content-length": length }, data.length],
    [{ "content-length": length, "content-encoding": "gzip" }, null],
    [{ "content-length": "many" }, null],
    [{ "content-length": "" }, null],
    [{}, null],
  ]) {
    const seen = [],
      parts = new ReadableStream({
        start(controller) {
          for (const part of [data.subarray(0, 500), data.subarray(500)]) controller.enqueue(new Uint8Array(part));
          controller.close();
        },
      });
    await torch.load(new Response(parts, { headers }), { progress: (told) => seen.push(told) });
    assert.deepEqual(seen[0], { loaded: 500, total }, JSON.stringify(headers));
    assert.deepEqual(seen.at(-1), { loaded: data.length, total: data.length });
  }
});

/** A server of one file by ranges; `spoil(response, n)` may change the n-th answer, `{status, headers, body}`. */
async function serving(data, spoil, body) {
  const asked = [];
  const server = createServer((request, response) => {
    const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "");
    const [from, to] = range ? [Number(range[1]), Math.min(Number(range[2]), data.length - 1)] : [0, data.length - 1],
      part = data.subarray(from, to + 1);
    const answer = {
      status: range ? 206 : 200,
      headers: { ETag: '"1"', "Last-Modified": "Sun, 22 Nov 2026 10:00:00 GMT" },
      body: part,
      from,
      to,
    };
    if (range) answer.headers["Content-Range"] = `bytes ${from}-${to}/${data.length}`;
    spoil(answer, asked.push(request.headers) - 1);
    response.writeHead(answer.status, answer.headers).end(answer.body);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  try {
    await body(`http://127.0.0.1:${server.address().port}/file`, asked);
  } finally {
    server.closeAllConnections?.();
    server.close();
  }
}

test("parts of a file that changes on its server, or that the server confuses, are never put together", async () => {
  const data = readFileSync(here("net.safetensors")),
    other = Buffer.from(data).reverse(),
    { length } = data,
    wanted = await safetensors.load_file(here("net.safetensors"));
  const later = (change) => (answer, n) => {
      if (n >= 3) change(answer);
    },
    whole = (answer) => {
      Object.assign(answer, { status: 200, body: other });
      delete answer.headers["Content-Range"];
    };
  const cases = {
    "another ETag": [
      later((a) => {
        a.headers.ETag = '"2"';
        a.body = other.subarray(a.from, a.to + 1);
      }),
      /it changed while it was read: its ETag was "1" and is now "2"/,
    ],
    "a weak ETag": [
      (a, n) => {
        a.headers.ETag = `W/"${n < 3 ? 1 : 2}"`;
      },
      /its ETag was W\/"1" and is now W\/"2"/,
    ],
    "another date": [
      (a, n) => {
        delete a.headers.ETag;
        if (n >= 3) a.headers["Last-Modified"] = "Sun, 22 Nov 2026 11:00:00 GMT";
      },
      /its Last-Modified was Sun, 22 Nov 2026 10:00:00 GMT and is now Sun, 22 Nov 2026 11:00:00 GMT/,
    ],
    "another size": [
      later((a) => {
        a.headers["Content-Range"] = `bytes ${a.from}-${a.to}/${length + 1}`;
      }),
      new RegExp(`the server answered "bytes \\d+-\\d+/${length + 1}" for the \\d+ bytes from \\d+ on of ${length}$`),
    ],
    "the whole": [
      later(whole),
      /the server answered 200 for the \d+ bytes from \d+ on of \d+: it no longer sends parts, or the file has changed/,
    ],
    "another part": [
      later((a) => {
        a.headers["Content-Range"] = `bytes ${a.from + 4}-${a.to + 4}/${length}`;
      }),
      /the server answered "bytes \d+-\d+\/\d+" for the/,
    ],
    "a longer part": [
      later((a) => {
        a.headers["Content-Range"] = `bytes ${a.from}-${a.to + 1}/${length}`;
      }),
      /the server answered "bytes/,
    ],
    "no Content-Range": [
      later((a) => {
        delete a.headers["Content-Range"];
      }),
      /the server answered "no Content-Range" for the/,
    ],
    nonsense: [
      later((a) => {
        a.headers["Content-Range"] = "items 1-2/3";
      }),
      /the server answered "items 1-2\/3" for the/,
    ],
    "fewer bytes": [
      later((a) => {
        a.body = a.body.subarray(4);
      }),
      /the server sent \d+ bytes for the \d+ bytes from/,
    ],
    "more bytes": [
      later((a) => {
        a.body = Buffer.concat([a.body, a.body]);
      }),
      /the server sent \d+ bytes for the \d+ bytes from/,
    ],
    "no more": [
      later((a) => {
        a.status = 416;
      }),
      /the server answered 416/,
    ],
  };
  for (const [what, [spoil, words]] of Object.entries(cases)) {
    await serving(data, spoil, async (address) => {
      const file = await safetensors.safe_open(address),
        isRight = (error) =>
          error instanceof torch.FileError && words.test(error.message) && error.message.startsWith(address);
      for (let n = 0; n < 2; n++)
        await assert.rejects(
          file.get_tensor("2.weight"),
          (error) => isRight(error) || assert.fail(`${what}: ${error.message}`),
        );
    });
  }
  // What is wrong from the beginning is read as a whole.
  const first = (change) => (answer, n) => {
    if (n === 0) change(answer);
  };
  const right = [
    () => undefined,
    first((a) => {
      a.status = 200;
      a.body = data;
      delete a.headers["Content-Range"];
    }),
    (a) => {
      delete a.headers.ETag;
      delete a.headers["Last-Modified"];
    },
    first((a) => {
      a.headers["Content-Range"] = `bytes 0-7/*`;
    }),
    first((a) => {
      a.headers["Content-Range"] = `bytes 8-15/${length}`;
    }),
    first((a) => {
      a.headers["Content-Range"] = `bytes 0-6/${length}`;
    }),
    (a) => {
      delete a.headers["Content-Range"];
    },
    (a, n) => {
      if (n % 2) delete a.headers.ETag;
    },
  ];
  for (const spoil of right) {
    await serving(data, spoil, async (address) => {
      const file = await safetensors.safe_open(address);
      for (const [name, x] of Object.entries(wanted))
        assert.deepEqual(await (await file.get_tensor(name)).tolist(), await x.tolist());
    });
  }
  await serving(
    data,
    () => undefined,
    async (address, asked) => {
      await (await safetensors.safe_open(address)).get_tensor("2.weight");
      assert.deepEqual(
        asked.map((headers) => headers["if-range"]),
        [undefined, '"1"', '"1"', '"1"'],
      );
    },
  );
  await serving(
    data,
    (a) => {
      a.status = 206;
    },
    async (address) => {
      await assert.rejects(torch.load(address), /the server answered 206/);
    },
  );
});
