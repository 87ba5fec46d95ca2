// Loaded first by every Node that tests start (conftest.py): the wait for a GPU takes no processor.
//
// While anything is under way, Dawn's binding looks after it in one `setImmediate` after the other, with a function made
// for each: a core at 100 %, which a software GPU computes on. After some looks in a row it sleeps a millisecond between
// them. Callbacks of JavaScript are scheduled as ever.
"use strict";

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
