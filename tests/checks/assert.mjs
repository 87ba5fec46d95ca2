// Assertions for checks, in plain JavaScript so that a browser runs them too.

/** Whether WebAssembly may be made here: a page's policy, or who runs Node, may forbid it. */
export const makesWebAssembly = (() => {
  try {
    return Boolean(new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0)));
  } catch {
    return false;
  }
})();

/** What a check gets: the package, a device and the assertions. */
export function context(torch, device) {
  return {
    torch,
    device,
    equal,
    close,
    throws,
    tensor: (data, options = {}) => torch.tensor(data, { device, ...options }),
    /** Whether the device has float16. */
    hasHalf: device === "cpu" || torch.gpuDevice().features.has("shader-f16"),
  };
}

/** Run the checks of one file, or each `every`th of them; returns {name: null, or the failure's text}. */
export async function run(checks, torch, device, every = 1) {
  const results = {};
  for (const [name, check] of Object.entries(checks).filter((_, n) => n % every === 0)) {
    try {
      await check(context(torch, device));
      results[name] = null;
    } catch (error) {
      results[name] = String(error?.stack ?? error);
    }
  }
  return results;
}

/** The same numbers, texts, booleans and nested arrays; NaN equals NaN, and 0 is not -0. */
export function equal(got, wanted) {
  if (!same(got, wanted, Object.is)) throw new Error(`got ${show(got)}, wanted ${show(wanted)}`);
}

/** Like equal, with numbers within atol + rtol·|wanted|. */
export function close(got, wanted, { rtol = 1e-5, atol = 1e-6 } = {}) {
  const near = (a, b) => Object.is(a, b) || a === b || Math.abs(a - b) <= atol + rtol * Math.abs(b);
  if (!same(got, wanted, near))
    throw new Error(`got ${show(got)}, wanted ${show(wanted)} within rtol ${rtol}, atol ${atol}`);
}

/** The call throws, or its promise rejects, with a message that matches. */
export async function throws(call, message) {
  let value;
  try {
    value = await call();
  } catch (error) {
    if (!message.test(error.message)) throw new Error(`the error says "${error.message}", wanted ${message}`);
    return;
  }
  throw new Error(`no error, but ${show(value)}; wanted ${message}`);
}

function same(got, wanted, alike) {
  if (typeof wanted === "number" && typeof got === "number") return alike(got, wanted);
  if (isList(wanted))
    return isList(got) && got.length === wanted.length && wanted.every((w, i) => same(got[i], w, alike));
  return Object.is(got, wanted);
}

const isList = (value) => Array.isArray(value) || ArrayBuffer.isView(value);

const show = (value) =>
  isList(value) ? `[${Array.from(value, show).join(", ")}]` : Object.is(value, -0) ? "-0" : String(value);
