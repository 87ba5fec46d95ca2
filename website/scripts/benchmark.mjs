// The page of speed: this package and TensorFlow.js on the reader's machine, by turns, by bench/measure.mjs.
import { measure } from "../../bench/measure.mjs";
import { ours, theirs, WORKLOADS } from "./beside_tfjs.mjs";
import { loaded } from "./run_code.mjs";

const by = (id) => document.getElementById(id);
const asked = new URLSearchParams(location.search),
  BUDGET = Number(asked.get("budget") ?? 600); // ms for each figure

async function tensorflow(device) {
  const tf = await import("@tensorflow/tfjs-core");
  await import("@tensorflow/tfjs-core/dist/register_all_gradients.js");
  if (device === "webgpu") await import("@tensorflow/tfjs-backend-webgpu");
  else {
    const { setWasmPaths } = await import("@tensorflow/tfjs-backend-wasm");
    setWasmPaths(new URL("./tfjs/", import.meta.url).href);
  }
  const name = device === "webgpu" ? "webgpu" : "wasm";
  if (!(await tf.setBackend(name))) throw new Error(`TensorFlow.js has no ${name} here`);
  await tf.ready();
  return tf;
}

const digits = (ms) => (ms >= 100 ? ms.toFixed(0) : ms >= 1 ? ms.toFixed(2) : ms.toFixed(3));

function show(name, [a, b]) {
  const row = by(`row-${name}`),
    [mine, other, share] = row.querySelectorAll("td");
  mine.textContent = `${digits(a)} ms`;
  other.textContent = b === null ? "–" : `${digits(b)} ms`;
  if (b !== null) share.textContent = `${(b / a).toFixed(1)} x`;
  share.className = `number ${b !== null && b > a ? "faster" : ""}`;
}

async function start() {
  const device = by("device").value,
    torch = await loaded();
  if (device === "webgpu" && !(await torch.initWebGPUAsync())) throw new Error("this browser gives no GPU");
  torch.set_slow_warnings?.(false);
  const tf = await tensorflow(device),
    sides = [ours(torch, device), theirs(tf)],
    lines = [];
  const wanted = WORKLOADS.filter(([name]) => !asked.has("only") || asked.get("only").split(",").includes(name));
  for (const [name, title] of wanted) {
    by("now").textContent = `${title} …`;
    const times = [];
    for (const { runs, wait } of sides) {
      try {
        times.push((await measure(runs[name], wait, { budget: BUDGET })).pipelined_ms);
      } catch (error) {
        if (!times.length) throw error;
        times.push(null);
        by("message").textContent = `TensorFlow.js, ${title}: ${error}`;
      }
    }
    show(name, times);
    lines.push(
      `${title}: ${digits(times[0])} ms, TensorFlow.js ${times[1] === null ? "fails" : `${digits(times[1])} ms`}`,
    );
  }
  by("now").textContent = "Done. Milliseconds of a call when calls follow each other, with one wait at their end.";
  const adapter = device === "webgpu" ? (await navigator.gpu.requestAdapter()).info : null;
  by("report").value = [
    `tensorloom beside TensorFlow.js ${tf.version_core} (${tf.getBackend()})`,
    `device: ${adapter ? [adapter.vendor, adapter.architecture, adapter.description].filter(Boolean).join(" ") : "CPU"}`,
    `browser: ${navigator.userAgent}`,
    ...lines,
  ].join("\n");
  by("report-part").hidden = false;
}

async function guarded() {
  by("message").textContent = "";
  by("start").disabled = true;
  try {
    await start();
    document.body.dataset.state = "done";
  } catch (error) {
    by("message").textContent = String(error);
    document.body.dataset.state = "failed";
  } finally {
    by("start").disabled = false;
  }
}

for (const [name, title] of WORKLOADS) {
  const row = Object.assign(document.createElement("tr"), { id: `row-${name}` });
  row.append(Object.assign(document.createElement("th"), { scope: "row", textContent: title }));
  for (let n = 0; n < 3; n++)
    row.append(Object.assign(document.createElement("td"), { className: "number", textContent: "–" }));
  by("rows").append(row);
}
if (!navigator.gpu) by("device").querySelector("[value=webgpu]").remove();
if (asked.has("device")) by("device").value = asked.get("device");
by("start").addEventListener("click", guarded);
by("copy").addEventListener("click", async () => {
  await navigator.clipboard.writeText(by("report").value);
  by("copy").textContent = "Copied";
});
