// Small parts of the runtime by themselves, where a program would show only now and then that one has changed.
import assert from "node:assert/strict";
import test from "node:test";
import * as torch from "../../dist/index.js";
import { difference } from "../../dist/runtime/capture/agree.js";
import { linear } from "../../dist/runtime/devices/cpu/linear-memory.js";
import { byteLength, decode, encode } from "../../dist/runtime/devices/webgpu/element-layout.js";
import { GcPressure } from "../../dist/runtime/devices/gc-pressure.js";
import { newElements } from "../../dist/runtime/elements/dtype.js";
import { Graph } from "../../dist/runtime/exchange/graph.js";

test("a fault that a kernel noted is three words", () => {
  const memory = linear(),
    words = Int32Array.of(7, -8, 9, 10, 11, 12, 13, 14),
    at = memory.pass(words);
  assert.deepEqual([...memory.faultWords(at)], [7, -8, 9]);
  assert.deepEqual([...memory.faultWords(at + 4)], [-8, 9, 10]);
});

test("recordings agree only if all that they answer does", () => {
  const view = (value) => ({ value, dtype: "float32", shape: [2], strides: [1], offset: 0 }),
    tensor = (value, number = 0) => ({ kind: "tensor", view: view(value), number }),
    list = (...items) => ({ kind: "list", items }),
    named = (items) => ({ kind: "named", items }),
    program = (result) => ({ steps: [], ahead: 0, values: [], draws: [], gradients: [], result }),
    results = [
      tensor(0),
      tensor(1),
      tensor(0, 1),
      list(),
      list(tensor(0)),
      list(tensor(1)),
      list(tensor(0), tensor(1)),
      list(tensor(1), tensor(0)),
      named({}),
      named({ a: tensor(0) }),
      named({ b: tensor(0) }),
      named({ a: tensor(1) }),
      named({ a: tensor(0), b: tensor(1) }),
      { kind: "value", value: 1 },
      { kind: "value", value: 2 },
    ];
  for (const [i, a] of results.entries())
    for (const [j, b] of results.entries()) {
      const found = difference(program(a), program(structuredClone(b)));
      assert.equal(
        found,
        i === j ? null : "its results are other ones",
        `${JSON.stringify(a)} and ${JSON.stringify(b)}`,
      );
    }
});

test("memory that the collector does not see presses it, once in a task, until it came", async () => {
  const pressure = new GcPressure(0),
    step = 1 << 23;
  assert.equal(pressure.relax(), null);
  pressure.add(step - 1);
  assert.equal(pressure.relax(), null, "less than a step");
  pressure.add(1);
  const turn = pressure.relax();
  assert.ok(turn instanceof Promise);
  assert.equal(pressure.relax(), null, "nothing new");
  pressure.add(step);
  assert.equal(pressure.relax(), null, "once in a task");
  await turn;
  await new Promise((done) => setTimeout(done, 5));
  pressure.add(1);
  assert.ok(pressure.relax() instanceof Promise);
});

test("a graph uses only what its inputs or earlier nodes make", () => {
  const name = (name) => ({ kind: "name", name }),
    graph = (used, output) => ({
      inputs: [name("x")],
      nodes: [
        {
          name: "twice",
          target: "torch.ops.aten.add.Tensor",
          inputs: used.map((each) => ({ name: "", operand: each, keyword: false })),
          outputs: ["y"],
          single: true,
        },
      ],
      outputs: [name(output)],
      tensors: new Map(),
      single: true,
    }),
    operators = { find: () => () => null },
    made = (...args) => new Graph(graph(...args), "a.pt2", operators);
  made([name("x"), { kind: "list", items: [name("x")] }], "y");
  made([name("x")], "x");
  for (const [used, output, place] of [
    [[name("x"), name("y")], "y", "twice (torch.ops.aten.add.Tensor) uses y"],
    [[{ kind: "list", items: [name("x"), name("z")] }], "y", "twice (torch.ops.aten.add.Tensor) uses z"],
    [[name("x")], "z", "an output uses z"],
  ])
    assert.throws(
      () => made(used, output),
      (e) => e instanceof torch.FileError && e.message.includes(`${place}, which nothing before it makes`),
    );
});

test("elements of every type go into the bytes that their buffer has, and come back", () => {
  const values = [1, 0, 1, 0, 0, 1, 1]; // of bools, too
  for (const dtype of ["float32", "bfloat16", "float16", "int64", "int32", "int16", "int8", "uint8", "bool"])
    for (let length = 0; length <= values.length; length++) {
      const elements = newElements(dtype, length),
        big = elements instanceof BigInt64Array;
      for (let i = 0; i < length; i++) {
        const value = values[i] * (dtype === "bool" ? 1 : dtype === "uint8" ? 200 : -100);
        elements[i] = big ? BigInt(value) : value;
      }
      const { buffer, byteOffset, byteLength: size } = encode(elements, dtype, "test");
      assert.equal(size, byteLength(dtype, length), dtype);
      const words = new Uint8Array(size + 8); // as part of a larger buffer
      words.set(new Uint8Array(buffer, byteOffset, size), 8);
      const back = decode(words.buffer, 8, dtype, length);
      assert.deepEqual([back.constructor.name, ...back], [elements.constructor.name, ...elements], dtype);
    }
  const far = BigInt64Array.of(2n ** 31n - 1n, -(2n ** 31n));
  assert.deepEqual([...decode(encode(far, "int64", "test").buffer, 0, "int64", 2)], [...far]);
  for (const value of [2n ** 31n, -(2n ** 31n) - 1n])
    assert.throws(() => encode(BigInt64Array.of(value), "int64", "test"), /test: -?\d+ does not fit into the 32 bits/);
});
