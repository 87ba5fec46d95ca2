// Runs one program, in a worker of its own: it is a module that stands on the package, and what it prints is sent to
// the page.  The page ends the worker to stop it.
import { choose } from "./playground/device.mjs";
import { tensorPart, told } from "./playground/parts.mjs";
import * as torch from "./torch.js";

let sent = Promise.resolve();

/** Sends in order, whatever has to be read before. */
function send(message) {
  sent = sent.then(async () => postMessage(await message)).catch((error) => postMessage(failure(error)));
}
const failure = (error) => ({ level: "error", parts: [{ kind: "text", text: told(error) }] });

async function partOf(value) {
  if (value instanceof Promise) return partOf(await value);
  if (torch.is_tensor(value)) return tensorPart(value);
  if (typeof value === "string") return { kind: "text", text: value };
  if (value instanceof Error) return { kind: "text", text: told(value) };
  if (
    typeof value === "function" ||
    (value && Object.getPrototypeOf(value) !== Object.prototype && !Array.isArray(value))
  )
    return { kind: "text", text: String(value) };
  const text = JSON.stringify(value, (_, v) =>
    typeof v === "bigint"
      ? Number(v)
      : torch.is_tensor(v)
        ? `tensor [${v.shape.join(", ")}]`
        : ArrayBuffer.isView(v)
          ? Array.from(v)
          : v,
  );
  return { kind: "text", text: text ?? String(value) };
}

for (const level of ["log", "info", "warn", "error", "debug"]) {
  console[level] = (...values) => {
    // What a tensor is now, not what a later change in place makes of it.
    const kept = values.map((v) => (torch.is_tensor(v) ? v.detach().clone() : v));
    send(Promise.all(kept.map(partOf)).then((parts) => ({ level, parts })));
  };
}

Object.assign(globalThis, {
  torch,
  nn: torch.nn,
  F: torch.nn.functional,
  optim: torch.optim,
  /** show(x, caption): the picture of a tensor [H, W], [1, H, W] or [3, H, W] of numbers from 0 to 1. */
  show(x, caption = `${x.dtype} [${x.shape.join(", ")}]`, options = undefined) {
    const kept = x.detach().clone();
    send(
      torch
        .to_pixels(kept, null, options)
        .then(({ width, height, data }) => ({ parts: [{ kind: "picture", width, height, data, caption }] })),
    );
  },
  /** plot(values), plot(x, values), plot(x, { name: values, ... }): curves. */
  plot(...given) {
    const [x, y] = given.length > 1 ? given : [null, given[0]],
      many = torch.is_tensor(y) || Array.isArray(y) || ArrayBuffer.isView(y) ? { value: y } : y,
      number = (y) => (y === null ? null : Number(y)), // null: a gap
      numbers = async (v) => Array.from(torch.is_tensor(v) ? await v.flatten().data() : v, number);
    const made = async () => {
      const series = await Promise.all(
        Object.entries(many).map(async ([label, v]) => ({ label, values: await numbers(v) })),
      );
      const places = x === null ? series[0].values.map((_, i) => i) : await numbers(x);
      return { parts: [{ kind: "curve", x: places, series }] };
    };
    send(made());
  },
});

/** The program as a module: its imports of the package are of this one. */
function moduleOf(code) {
  const own = JSON.stringify(new URL("./torch.js", import.meta.url).href);
  return code.replace(/(\bfrom\s*|\bimport\s*\(\s*)(["'])tensorloom\2/g, (_, before) => before + own);
}

self.onmessage = async ({ data: { code, device } }) => {
  const began = performance.now();
  try {
    const where = await choose(torch, device);
    postMessage({ state: `running ${where}` });
    await import(URL.createObjectURL(new Blob([moduleOf(code)], { type: "text/javascript" })));
    await sent;
    postMessage({ state: `done ${where} in ${((performance.now() - began) / 1000).toFixed(2)} s`, over: true });
  } catch (error) {
    await sent;
    postMessage({ ...failure(error), state: "the program failed", over: true, failed: true });
  }
};
postMessage({ ready: true });
