// Files in Node: paths, positions, writing, ranges of a server; and 10,000 damaged files.
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
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import test from "node:test";
import { readDamaged } from "../files/damage.mjs";
import * as torch from "../../dist/index.js";

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
    seen.length > 3 && seen.every(({ loaded, total }, i) => total === size && (i === 0 || loaded > seen[i - 1].loaded)),
  );
});

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
