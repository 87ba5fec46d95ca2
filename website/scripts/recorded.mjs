// Replays PyTorch's recorded answers in the page, on this machine's own GPU or processor, by the checker that the tests
// run (tests/oracle/checker).
import { TorchAdapter } from "../../tests/oracle/checker/lib/adapter_default.mjs";
import { readJson, readSafetensors } from "../../tests/oracle/checker/lib/corpus.mjs";
import { runSample, skipReason } from "../../tests/oracle/checker/lib/run.mjs";
import { fetched, forget } from "./recorded_files.mjs";
import { loaded } from "./run_code.mjs";

const TIMEOUT = 30_000; // ms, of a call
const by = (id) => document.getElementById(id);
const asked = new URLSearchParams(location.search);
let running = false;

/** What a device is called, as the browser says it. */
async function deviceName(device) {
  if (device === "cpu") return `CPU, ${navigator.hardwareConcurrency} threads`;
  const { info } = await navigator.gpu.requestAdapter();
  return [info.vendor, info.architecture, info.device, info.description].filter(Boolean).join(" ") || "a GPU";
}

/** Replays all samples of one operator; answers {right, wrong: [text], skipped}. */
async function replayed(adapter, caps, name, device) {
  const path = `recorded/${name}`;
  await Promise.all([fetched(`${path}.json`), fetched(`${path}.safetensors`)]);
  const head = readJson(`${path}.json`),
    arrays = readSafetensors(`${path}.safetensors`);
  forget();
  const result = { right: 0, wrong: [], skipped: 0 };
  for (const sample of head.samples) {
    if (!running) break;
    if (skipReason(sample, caps, device)) {
      result.skipped++;
      continue;
    }
    const options = { device, timeout: TIMEOUT, withGrad: true, onForward: () => {} };
    const { forward, grad } = await runSample(adapter, caps, head, sample, arrays, options);
    for (const [part, answer] of [
      ["forward", forward],
      ["gradient", grad],
    ]) {
      if (!answer || answer.skip) continue;
      if (answer.ok) result.right++;
      else result.wrong.push(`${sample.id} ${part}: ${answer.reason}, ${answer.detail}`);
    }
  }
  return result;
}

function row(name, { right, wrong, skipped }) {
  const made = document.createElement("tr");
  const cells = [name, String(right), String(wrong.length), String(skipped), wrong[0] ?? ""];
  for (const [n, text] of cells.entries()) {
    const cell = document.createElement(n === 0 ? "th" : "td");
    if (n === 0) cell.scope = "row";
    cell.className = n > 0 && n < 4 ? "number" : "";
    cell.textContent = text;
    made.append(cell);
  }
  made.className = wrong.length ? "wrong" : "right";
  return made;
}

async function start() {
  running = true;
  const device = by("device").value,
    tier = by("tier").value,
    torch = await loaded();
  if (device === "webgpu" && !(await torch.initWebGPUAsync())) throw new Error("this browser gives no GPU");
  torch.setDefaultDevice(device);
  torch.set_slow_warnings?.(false);
  const adapter = new TorchAdapter(torch, { device, name: "tensorloom" });
  const caps = await adapter.capabilities();
  adapter.intType = caps.int64 ? "int64" : "int32";
  const list = await (await fetch("recorded/index.json")).json();
  const wanted = list.ops.filter(
    (op) =>
      (tier === "all" || op.tier === Number(tier)) && (!asked.has("ops") || new RegExp(asked.get("ops")).test(op.name)),
  );
  const began = performance.now(),
    total = { right: 0, wrong: 0, skipped: 0, ops: 0 },
    faults = [];
  by("progress").max = wanted.length;
  by("rows").replaceChildren();
  for (const [n, { name }] of wanted.entries()) {
    if (!running) break;
    by("now").textContent = name;
    const result = await replayed(adapter, caps, name, device);
    total.right += result.right;
    total.wrong += result.wrong.length;
    total.skipped += result.skipped;
    total.ops += result.wrong.length === 0 ? 1 : 0;
    faults.push(...result.wrong);
    if (result.wrong.length) by("rows").prepend(row(name, result));
    else by("rows").append(row(name, result));
    by("progress").value = n + 1;
    by("right").textContent = total.right.toLocaleString("en");
    by("wrong").textContent = total.wrong.toLocaleString("en");
    by("operators").textContent = `${total.ops} of ${n + 1}`;
    await new Promise((done) => setTimeout(done));
  }
  const seconds = (performance.now() - began) / 1000;
  by("now").textContent = `${running ? "Done" : "Stopped"} after ${seconds.toFixed(1)} s.`;
  by("report").value = [
    `tensorloom ${list.version} against PyTorch ${list.torch}'s recorded answers`,
    `device: ${await deviceName(device)}`,
    `browser: ${navigator.userAgent}`,
    `answers: ${total.right} right, ${total.wrong} wrong, ${total.skipped} samples not asked here; operators all right: ${total.ops} of ${by("progress").value}`,
    ...faults,
  ].join("\n");
  by("report-part").hidden = false;
}

async function guarded() {
  by("message").textContent = "";
  by("start").textContent = "Stop";
  document.body.dataset.state = "running";
  try {
    await start();
    document.body.dataset.state = "done";
  } catch (error) {
    by("message").textContent = String(error);
    document.body.dataset.state = "failed";
  } finally {
    running = false;
    by("start").textContent = "Run";
  }
}

if (!navigator.gpu) by("device").querySelector("[value=webgpu]").remove();
if (asked.has("device")) by("device").value = asked.get("device");
by("start").addEventListener("click", () => {
  if (running) running = false;
  else guarded();
});
by("copy").addEventListener("click", async () => {
  await navigator.clipboard.writeText(by("report").value);
  by("copy").textContent = "Copied";
});
