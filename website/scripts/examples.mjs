// Examples of the reference: they can be changed, and run in the page with the package itself.
import { loaded, run, shown } from "./run_code.mjs";

const button = (text) => Object.assign(document.createElement("button"), { type: "button", textContent: text });

/** Where examples run: a GPU if the reader asks for it and there is one. */
const device = Object.assign(document.createElement("select"), { ariaLabel: "Where examples run" });
device.append(new Option("CPU", "cpu"));
if (navigator.gpu) device.append(new Option("WebGPU", "webgpu"));

async function ready() {
  const torch = await loaded();
  if (device.value === "webgpu" && !(await torch.initWebGPUAsync())) {
    device.value = "cpu";
    device.querySelector("[value=webgpu]").remove();
  }
}

for (const [n, block] of [...document.querySelectorAll(".example")].entries()) {
  const code = block.querySelector("code"),
    output = block.querySelector("output"),
    controls = Object.assign(document.createElement("div"), { className: "controls" }),
    go = button("Run");
  go.className = "run";
  code.contentEditable = "plaintext-only";
  code.spellcheck = false;
  code.role = "textbox";
  code.ariaLabel = "Code of the example";
  code.ariaMultiLine = "true";
  code.tabIndex = 0;
  code.parentElement.removeAttribute("tabindex");
  controls.append(go);
  if (n === 0) controls.append(device);
  block.insertBefore(controls, output);
  const start = async () => {
    go.disabled = true;
    output.className = "";
    try {
      await ready();
      output.textContent = await shown(await run(code.textContent, device.value));
      output.className = "ran";
    } catch (error) {
      output.textContent = String(error);
      output.className = "failed";
    } finally {
      go.disabled = false;
    }
  };
  go.addEventListener("click", start);
  code.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey || !event.shiftKey)) return;
    event.preventDefault();
    start();
  });
}
