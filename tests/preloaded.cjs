// Loaded first by every Node that tests start (conftest.py), so that a run of seconds takes less of the processor.
//
// V8 makes machine code of a function that has run for a while. Most of what a test runs ends before that pays: half of
// the processor's time of tests/checks on the CPU went there. So it waits longer; loops that run long still get it.
//
// While anything is under way on a GPU, Dawn's binding looks after it in one `setImmediate` after the other, with a
// function made for each: a core at 100 %, which a software GPU computes on. After some looks in a row it sleeps a
// millisecond between them. Callbacks of JavaScript are scheduled as ever.
"use strict";

// How much, by V8's flags of the Node that it is (their defaults: 67584 bytes of bytecode; 3000 and 400 calls).
const major = parseInt(process.versions.node, 10),
  waits =
    major < 22
      ? ["--interrupt-budget=1000000"]
      : major < 24
        ? []
        : ["--invocation-count-for-turbofan=30000", "--invocation-count-for-maglev=4000"];
for (const flag of waits) require("node:v8").setFlagsFromString(flag);

const BUSY = 20; // looks in a row without sleep: what is done by then is answered as quickly as without this file
const { setImmediate: immediate, setTimeout: later } = globalThis;
const text = Function.prototype.toString;
let looking = false,
  looks = 0;

/** What Dawn calls: it looks the name up each time, and gives a function of C++ and nothing else. */
globalThis.setImmediate = Object.assign(function setImmediate(callback, ...more) {
  if (more.length || typeof callback !== "function" || !text.call(callback).endsWith("{ [native code] }"))
    return immediate(callback, ...more);
  looks = looking ? looks + 1 : 0;
  const look = () => {
    looking = true;
    try {
      callback();
    } finally {
      looking = false;
    }
  };
  return looks < BUSY ? immediate(look) : later(look, 1);
}, immediate);

// An access beyond a buffer, which Dawn has kernels look for at each one, ends the process here instead: a sixth of a
// software GPU's time.  What browsers do about it is tested in Chromium.
const FEATURES = [
  "disable-dawn-features=use_vulkan_zero_initialize_workgroup_memory_extension",
  "enable-dawn-features=allow_unsafe_apis,disable_robustness",
];

const { dlopen } = process;
process.dlopen = function (module, file, ...rest) {
  dlopen.call(this, module, file, ...rest);
  if (!/[\\/]dawn\.node$/.test(file)) return;
  const { create } = module.exports;
  module.exports.create = (options = []) =>
    create(options.some((option) => option.includes("-dawn-features=")) ? options : [...options, ...FEATURES]);
};
