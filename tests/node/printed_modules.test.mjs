// Modules print as PyTorch's do (tests/recorded/printed.py).
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as torch from "../../dist/index.js";

const { modules } = JSON.parse(readFileSync(new URL("../recorded/printed.json", import.meta.url), "utf8"));

test("modules print as PyTorch's do", () => {
  assert.ok(modules.length > 250);
  const other = [];
  for (const [name, args, options, wanted] of modules) {
    const printed = String(torch.nn[name](...args, ...(Object.keys(options).length ? [options] : [])));
    if (printed !== wanted)
      other.push(`${name}(${JSON.stringify(args)}, ${JSON.stringify(options)}): ${printed}, not ${wanted}`);
  }
  assert.deepEqual(other, []);
});
