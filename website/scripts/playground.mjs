// The playground: a program in the editor, run in a worker, and what it prints.
import { javascript } from "@codemirror/lang-javascript";
import { packageNames } from "./playground/completion.mjs";
import { editor } from "./playground/editor.mjs";
import { Output } from "./playground/output.mjs";
import { packed, unpacked } from "./playground/share.mjs";

const by = (id) => document.getElementById(id),
  root = document.body.dataset.root,
  data = async (name) => (await fetch(`${root}playground/${name}.json`)).json();
const [examples, names, shared] = await Promise.all([data("examples"), data("names"), unpacked(location.hash)]);
const output = new Output(by("output"));
let worker = null;

function status(text, failed = false) {
  by("status").textContent = text;
  by("status").classList.toggle("failed", failed);
}

function stop(said) {
  worker?.terminate();
  worker = null;
  by("run").firstChild.data = "Run ";
  if (said) status(said);
}

function run() {
  if (worker) stop();
  output.clear();
  by("output").dataset.state = "running";
  status("loading the package");
  by("run").firstChild.data = "Stop ";
  const mine = (worker = new Worker(new URL("./playground_worker.js", import.meta.url), { type: "module" }));
  mine.onmessage = ({ data: message }) => {
    if (mine !== worker) return;
    if (message.ready) mine.postMessage({ code: written.text, device: by("device").value });
    if (message.parts) output.add(message);
    if (message.state) status(message.state, message.failed);
    if (!message.over) return;
    by("output").dataset.state = message.failed ? "failed" : "done";
    stop();
  };
  mine.onerror = (event) => {
    if (mine !== worker) return;
    event.preventDefault();
    output.add({ level: "error", parts: [{ kind: "text", text: event.message ?? "the program cannot be read" }] });
    by("output").dataset.state = "failed";
    stop("the program failed");
  };
}

const written = editor(by("editor"), {
  text: shared ?? examples[0].code,
  label: "Program",
  language: javascript(),
  sources: [packageNames(names)],
  run,
});
by("example").append(
  ...examples.map(({ title }, i) => new Option(title, i)),
  ...(shared ? [new Option("from the link", "", true, true)] : []),
);
by("example").addEventListener("change", ({ target }) => {
  if (target.value === "") return;
  written.text = examples[target.value].code;
  history.replaceState(null, "", location.pathname + location.search);
});
by("run").addEventListener("click", () => {
  if (!worker) return run();
  by("output").dataset.state = "stopped";
  stop("stopped");
});
by("share").addEventListener("click", async () => {
  history.replaceState(null, "", await packed(written.text));
  try {
    await navigator.clipboard.writeText(location.href);
    status("the link is copied");
  } catch {
    status("the link is in the address bar");
  }
});
by("device").value = new URLSearchParams(location.search).get("device") ?? "";
by("run").disabled = false;
status("ready");
