// What the example pages share: finding the device, the figures at the top, charts.  The charts are uPlot's, which the
// build copies into uplot/ here; it is no part of the package.
import uPlot from "./uplot/uPlot.esm.js";

export const by = (id) => document.getElementById(id);

/** What the page's address asks for (`?steps=60`), or what is usual. */
export const asked = (name, usual) => new URLSearchParams(location.search).get(name) ?? usual;

/**
 * Fills a menu; the page's address may choose (`?device=cpu`).  `offered`: pairs of a value and what is shown of it.
 */
export function offer(id, offered) {
  by(id).append(...offered.map(([value, shown]) => new Option(shown, value)));
  const wanted = asked(id, null);
  if (offered.some(([value]) => value === wanted)) by(id).value = wanted;
}

/** Fills the menu `#device` with the devices there are, the GPU first. */
export async function offerDevices(torch) {
  const cpu = ["cpu", "CPU"];
  offer("device", (await torch.initWebGPUAsync()) ? [["webgpu", "WebGPU"], cpu] : [cpu]);
}

/** Shows figures: `show({ step: "12", loss: "0.01" })` writes into the elements of these ids. */
export function show(figures) {
  for (const [id, text] of Object.entries(figures)) by(id).textContent = text;
}

/**
 * The next frame, so that the page stays alive while it trains.  A page in the background has no frames: then a moment.
 */
export const frame = () => new Promise((done) => (document.hidden ? setTimeout(done) : requestAnimationFrame(done)));

/** What a page lacks by no fault of a program. */
class Missing extends Error {
  toString = () => this.message;
}

const asking = new Map(); // folders of weights: a promise that the visitor asks for them

/**
 * Where published weights are, a folder below examples/, once the visitor has asked for them: they are large.  A site
 * may lack them: then the page says so.
 */
export async function published(folder) {
  const { [folder]: weights } = await (await fetch(new URL("weights.json", import.meta.url))).json();
  if (!weights.there)
    throw new Missing(
      `This copy of the site lacks the network's weights (${weights.megabytes} MB): python3 build.py docs brings them.`,
    );
  document.body.dataset.state = "asking";
  if (!asking.has(folder)) asking.set(folder, clicked(`Load the network, ${weights.megabytes} MB`));
  await asking.get(folder);
  document.body.dataset.state = "running";
  return new URL(`../${folder}/`, import.meta.url);
}

/** Shows a button above the message until it is pressed. */
async function clicked(text) {
  const button = Object.assign(document.createElement("button"), { id: "asking", textContent: text });
  by("message").before(button);
  await new Promise((done) => button.addEventListener("click", done));
  button.remove();
}

/** Runs the page's program and says on the page what went wrong, if anything. */
export async function guarded(program) {
  by("message").textContent = "";
  try {
    return await program();
  } catch (error) {
    document.body.dataset.state = error instanceof Missing ? "missing" : "failed";
    by("message").textContent = String(error);
    if (!(error instanceof Missing)) throw error;
  }
}

/**
 * A page's program under the buttons `#start` and `#stop`.  `run(going)` is the program: `going()` is false once it is to
 * stop.  A choice in one of `menus` begins anew.  `body[data-state]` says "running", "done" or "failed",
 * "asking" or "missing" where it wants weights.
 */
export async function controlled(run, menus = []) {
  const buttons = ["start", ...menus].map(by);
  let running = false;
  const start = async () => {
    running = true;
    document.body.dataset.state = "running";
    for (const button of buttons) button.disabled = true;
    by("stop").disabled = false;
    try {
      await guarded(() => run(() => running));
      if (document.body.dataset.state === "running") document.body.dataset.state = "done";
    } finally {
      running = false;
      for (const button of buttons) button.disabled = false;
      by("stop").disabled = true;
    }
  };
  by("start").addEventListener("click", start);
  by("stop").addEventListener("click", () => {
    running = false;
  });
  for (const menu of menus) by(menu).addEventListener("change", start);
  await start();
}

/** A colour of style.css by its name there, as it is in the page's light or dark appearance now. */
export function colour(name) {
  const probe = document.createElement("span");
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

/** Calls `paint` whenever the page turns light or dark. */
export function whenColoursChange(paint) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
  new MutationObserver(paint).observe(document.documentElement, { attributeFilter: ["data-theme"] });
}

const axis = () => ({
  stroke: () => colour("soft"),
  grid: { stroke: () => colour("line"), width: 1 },
  ticks: { stroke: () => colour("line"), width: 1, size: 5 },
});

/**
 * A chart as wide as its element.  `series`: uPlot's, colours as functions, which are asked again when the page turns
 * light or dark; `y`: its scale; answers the chart, for `setData`.
 */
export function chart(element, { series, x = {}, y = {}, height = 300, data }) {
  const plot = new uPlot(
    {
      width: element.clientWidth,
      height,
      scales: { x: { time: false, ...x }, y },
      axes: [
        { ...axis(), size: 34 },
        { ...axis(), size: 48 },
      ],
      cursor: { points: { show: false } },
      series,
    },
    data,
    element,
  );
  whenColoursChange(() => plot.redraw(false));
  new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height })).observe(element);
  return plot;
}

/** The curve of a loss over steps, on a logarithmic scale. */
export function lossChart(element, steps) {
  return chart(element, {
    height: 230,
    data: [[1], [null]],
    x: { range: () => [0, steps] },
    y: { distr: 3 },
    series: [
      { label: "step", value: (_, v) => v ?? "–" },
      {
        label: "loss",
        stroke: () => colour("loss"),
        width: 2,
        points: { show: false },
        value: (_, v) => v?.toPrecision(3) ?? "–",
      },
    ],
  });
}

/**
 * The `report` of a training of so many steps: its loss goes into a chart and `shown(step, loss, speed, ...rest)` shows
 * the rest, speed in steps a second and undefined in the first.  The first and the last step are always shown, others
 * `pause` milliseconds after the one before; answers whether to go on.
 */
export function paced(steps, losses, pause, going, shown) {
  const seen = [[], []];
  let began = performance.now(),
    painted = -Infinity;
  return async (step, read, ...rest) => {
    if (step > 1 && step < steps && going() && performance.now() - painted < pause) return true;
    const loss = await read();
    if (step === 1) began = performance.now(); // the first step compiles
    seen[0].push(step);
    seen[1].push(loss);
    losses.setData(seen);
    show({ step: `${step} / ${steps}` });
    await shown(step, loss, step > 1 ? (1000 * (step - 1)) / (performance.now() - began) : undefined, ...rest);
    await frame();
    painted = performance.now();
    return going();
  };
}
