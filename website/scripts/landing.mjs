// The first page's demo: a small network learns a curve, with the package itself (examples/curve/curve.mjs).
import { FUNCTIONS, sampled, train } from "../../examples/curve/curve.mjs";
import { packed, unpacked } from "./playground/share.mjs";

const asked = new URLSearchParams(location.search),
  STEPS = Number(asked.get("steps") ?? 300);
const by = (id) => document.getElementById(`demo-${id}`);
const canvas = document.getElementById("demo"),
  brush = canvas.getContext("2d");
let training = 0,
  torch = null,
  device = "webgpu",
  redraw = null; // draws again what was drawn last, in the colours that the page then has

/** A colour of the page, as the theme has it now. */
const colour = (name) => {
  const probe = document.createElement("span");
  probe.style.color = `var(--${name})`;
  canvas.after(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
};

function draw(data, said = null) {
  redraw = () => draw(data, said);
  const { x, truth, samples } = data;
  const { width, height } = canvas;
  const place = (i, y) => [((x[i] + 3) / 6) * width, height / 2 - (y / 1.45) * (height / 2)];
  const line = (values, style, thickness, dash = []) => {
    brush.beginPath();
    for (const [i, y] of values.entries()) brush.lineTo(...place(i, y));
    Object.assign(brush, { strokeStyle: style, lineWidth: thickness, lineJoin: "round" });
    brush.setLineDash(dash);
    brush.stroke();
  };
  brush.clearRect(0, 0, width, height);
  line(
    x.map(() => 0),
    colour("line"),
    1,
  );
  line(truth, colour("soft"), 1.5, [6, 6]);
  brush.fillStyle = colour("soft");
  for (const [i, y] of samples.entries()) {
    if (y === null) continue;
    brush.beginPath();
    brush.arc(...place(i, y), 2.6, 0, 2 * Math.PI);
    brush.fill();
  }
  if (said) line(said, colour("accent"), 4);
}

const frame = () => new Promise((done) => (document.hidden ? setTimeout(done) : requestAnimationFrame(done)));

/** Whether there is a GPU that is one: a software one is slower here than the CPU. */
async function isFast() {
  const adapter = await navigator.gpu?.requestAdapter();
  return Boolean(adapter) && !adapter.info.isFallbackAdapter;
}

async function run() {
  const turn = ++training,
    data = sampled(FUNCTIONS[by("function").value]);
  draw(data);
  if (!torch) {
    torch = await import("./torch.js");
    if (!(await isFast()) || asked.get("device") === "cpu" || !(await torch.initWebGPUAsync())) device = "cpu";
    by("device").textContent = { cpu: "on your CPU", webgpu: "on your GPU" }[device];
  }
  if (turn !== training) return;
  by("run").textContent = "Stop";
  let began = 0,
    painted = -Infinity;
  await train(torch, data, {
    device,
    steps: STEPS,
    async report(step, read, predict) {
      if (turn !== training) return false;
      if (step > 1 && step < STEPS && performance.now() - painted < 30) return true;
      const loss = await read(),
        said = await predict();
      if (step === 1) began = performance.now(); // the first step compiles
      by("step").textContent = step;
      by("loss").textContent = loss.toPrecision(3);
      if (step > 1) by("speed").textContent = Math.round((1000 * (step - 1)) / (performance.now() - began));
      draw(data, said);
      await frame();
      painted = performance.now();
      return turn === training;
    },
  });
  if (turn !== training) return;
  training++;
  by("run").textContent = "Train again";
  canvas.dataset.state = "done";
}

/** Runs, and says on the page what went wrong, if anything. */
async function guarded() {
  by("message").textContent = "";
  try {
    await run();
  } catch (error) {
    canvas.dataset.state = "failed";
    by("message").textContent = String(error);
    by("run").textContent = "Train again";
  }
}

/** Makes the link to the playground one with the function that is chosen. */
async function linked() {
  const { hash } = by("open"),
    text = await unpacked(hash);
  by("open").hash = await packed(text.replace(/FUNCTIONS\["[^"]*"\]/, () => `FUNCTIONS["${by("function").value}"]`));
}

new MutationObserver(() => redraw?.()).observe(document.documentElement, { attributeFilter: ["data-theme"] });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => redraw?.());

by("function").append(...Object.keys(FUNCTIONS).map((name) => new Option(name)));
by("function").addEventListener("change", () => {
  guarded();
  linked();
});
by("run").addEventListener("click", () => {
  if (by("run").textContent === "Stop") {
    training++;
    by("run").textContent = "Train again";
  } else guarded();
});
draw(sampled(FUNCTIONS[by("function").value]));
// When the page has been painted.
requestAnimationFrame(() => setTimeout(guarded));
