// The op playground: a definition in the editor, compiled in a worker while one types, and run in another.
import { names, opLanguage } from "./playground/op_language.mjs";
import { editor } from "./playground/editor.mjs";
import { OpView } from "./playground/op_view.mjs";
import { packed, unpacked } from "./playground/share.mjs";

const PAUSE = 250, // ms without a key before what is typed is compiled
  TOO_LONG = 20_000; // ms after which a call is given up
const by = (id) => document.getElementById(id),
  root = document.body.dataset.root,
  data = async (name) => (await fetch(`${root}playground/${name}.json`)).json();
const [examples, language, shared] = await Promise.all([
  data("definitions"),
  data("language"),
  unpacked(location.hash),
]);
const view = new OpView({ changed: () => later(), chosen: () => compile() });

function status(text, failed = false) {
  by("status").textContent = text;
  by("status").classList.toggle("failed", failed);
}

// --- Compiling -------------------------------------------------------------------------------------

let sent = 0, // requests so far, of which the last is the one that counts
  answered = 0,
  pause = 0,
  found = null;
const compiler = new Worker(new URL("./op_compiler_worker.js", import.meta.url), { type: "module" });
let compiling = true; // until the compiler is loaded
const state = (name) => {
  by("output").dataset.state = name;
};

/** Compiles when the keys have rested. */
function later() {
  clearTimeout(pause);
  state("working");
  pause = setTimeout(compile, PAUSE);
}

function compile() {
  clearTimeout(pause);
  sent++;
  state("working");
  if (!compiling) ask();
}

function ask() {
  compiling = true;
  answered = sent;
  compiler.postMessage({ id: sent, request: { text: written.text, ...view.request() } });
}

compiler.onmessage = ({ data: message }) => {
  if (message.state) status(message.state);
  if (message.failed && !message.id) {
    state("failed");
    return status(message.failed, true);
  }
  if (message.ready) by("run").disabled = false;
  if (!message.ready && !message.id) return;
  compiling = false;
  if (sent > answered) return ask();
  if (!message.id) return;
  if (message.failed) {
    state("failed");
    return status(`the compiler failed: ${message.failed}`, true);
  }
  show(message.page);
};

function show(page) {
  written.mark(
    page.errors.map(({ from, to, message, label }) => ({
      from,
      to,
      message: label ? `${message}: ${label}` : message,
    })),
  );
  found = page.op ? page : null;
  view.show(page);
  if (page.errors.length) {
    state("mistaken");
    status(`${page.errors.length} mistake${page.errors.length > 1 ? "s" : ""}`, true);
  } else if (found) run();
  else {
    state("done");
    status("type a definition");
  }
}

// --- Running ---------------------------------------------------------------------------------------

let runner = null, // {worker, ready, busy}
  waiting = null;

function start() {
  const worker = new Worker(new URL("./op_run_worker.js", import.meta.url), { type: "module" }),
    mine = { worker, ready: false, busy: 0 };
  worker.onmessage = ({ data: message }) => {
    if (runner !== mine) return;
    if (message.ready) mine.ready = true;
    if (message.tests && message.id === sent) view.showTests(message.tests);
    if (message.over) {
      clearTimeout(mine.busy);
      mine.busy = 0;
      if (message.id === sent) over(message);
    }
    next();
  };
  worker.onerror = (event) => {
    event.preventDefault();
    over({ failed: event.message ?? "the package cannot be loaded" });
    stop();
  };
  return mine;
}

function stop() {
  runner?.worker.terminate();
  clearTimeout(runner?.busy);
  runner = null;
}

function over(message) {
  view.showRun(message);
  state(message.failed ? "failed" : "done");
  status(message.failed ? "the call failed" : message.state, Boolean(message.failed));
}

function next() {
  if (!waiting || !runner?.ready || runner.busy) return;
  const task = waiting;
  waiting = null;
  runner.busy = setTimeout(() => {
    stop();
    over({ failed: `the call took longer than ${TOO_LONG / 1000} s and was given up` });
  }, TOO_LONG);
  runner.worker.postMessage(task);
}

/** Runs what was compiled; a call that is under way is not waited for. */
function run() {
  if (runner?.busy) stop();
  runner ??= start();
  const { made, op, tests } = found;
  waiting = { id: sent, made, op, tests, device: by("device").value };
  status("running");
  next();
}

// --- The page --------------------------------------------------------------------------------------

const called = /[#&]call=([^&]*)/.exec(location.hash)?.[1];
if (called) view.inputs = JSON.parse(decodeURIComponent(called));
const written = editor(by("editor"), {
  text: shared ?? examples[0].code,
  label: "Definition",
  language: opLanguage(language),
  sources: [names(language)],
  run: compile,
  changed: later,
});
by("example").append(
  ...examples.map(({ title }, i) => new Option(title, i)),
  ...(shared ? [new Option("from the link", "", true, true)] : []),
);
by("example").addEventListener("change", ({ target }) => {
  if (target.value === "") return;
  view.inputs = null;
  written.text = examples[target.value].code;
  history.replaceState(null, "", location.pathname + location.search);
  compile();
});
by("run").addEventListener("click", compile);
by("device").value = new URLSearchParams(location.search).get("device") ?? "";
by("device").addEventListener("change", () => {
  stop();
  compile();
});
by("share").addEventListener("click", async () => {
  const call = view.inputs ? `&call=${encodeURIComponent(JSON.stringify(view.inputs))}` : "";
  history.replaceState(null, "", (await packed(written.text)) + call);
  try {
    await navigator.clipboard.writeText(location.href);
    status("the link is copied");
  } catch {
    status("the link is in the address bar");
  }
});
status("loading Python and the compiler");
compile();
