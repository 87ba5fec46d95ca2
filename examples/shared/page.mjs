// What the example pages share: finding the device, the figures at the top, charts.  The charts are uPlot's, which the build
// copies into uplot/ here; it is no part of the package.
import uPlot from "./uplot/uPlot.esm.js";

export const by = (id) => document.getElementById(id);

/** A number of the page's address (`?steps=60`), or what is usual. */
export const asked = (name, usual) => Number(new URLSearchParams(location.search).get(name) ?? usual);

/** Puts the devices there are into the menu `#device`, the GPU first; `?device=cpu` chooses. */
export async function offerDevices(torch) {
  const names = await torch.initWebGPUAsync() ? ["webgpu", "cpu"] : ["cpu"];
  by("device").append(...names.map((name) => new Option({ webgpu: "WebGPU", cpu: "CPU" }[name], name)));
  const wanted = new URLSearchParams(location.search).get("device");
  if (names.includes(wanted)) by("device").value = wanted;
}

/** Shows figures: `show({ step: "12", loss: "0.01" })` writes into the elements of these ids. */
export function show(figures) {
  for (const [id, text] of Object.entries(figures)) by(id).textContent = text;
}

/** The next frame, so that the page stays alive while it trains.  A page in the background has no frames: then a moment. */
export const frame = () => new Promise((done) => (document.hidden ? setTimeout(done) : requestAnimationFrame(done)));

/** Runs the page's program and says on the page what went wrong, if anything. */
export async function guarded(program) {
  by("message").textContent = "";
  try {
    await program();
  } catch (error) {
    by("message").textContent = String(error);
    throw error;
  }
}

const AXIS = { stroke: "#667085", grid: { stroke: "#eef0f3", width: 1 }, ticks: { stroke: "#e4e7ec", width: 1, size: 5 } };

/** A chart as wide as its element.  `series`: uPlot's; `y`: its scale; answers the chart, for `setData`. */
export function chart(element, { series, x = {}, y = {}, labels = ["", ""], height = 300, data }) {
  const plot = new uPlot({
    width: element.clientWidth, height,
    scales: { x: { time: false, ...x }, y },
    axes: [{ ...AXIS, label: labels[0], labelSize: 22 }, { ...AXIS, size: 56, label: labels[1], labelSize: 22 }],
    cursor: { points: { show: false } },
    series,
  }, data, element);
  new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height })).observe(element);
  return plot;
}

/** The curve of a loss over steps, on a logarithmic scale. */
export function lossChart(element, steps) {
  return chart(element, {
    labels: ["step", "loss"], height: 240, data: [[1], [null]], x: { range: () => [0, steps] }, y: { distr: 3 },
    series: [{ label: "step" }, { label: "loss", stroke: "#d9480f", width: 2, points: { show: false }, value: (_, v) => v?.toPrecision(3) ?? "–" }],
  });
}
