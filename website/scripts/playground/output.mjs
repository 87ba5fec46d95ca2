// What a program prints, as elements: lines, tables of tensors, pictures, curves.
import uPlot from "uplot";

export const element = (name, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
};
const shown = (value) =>
  typeof value !== "number" || Number.isInteger(value) ? String(value) : Number(value.toPrecision(5)).toString();

/** A tensor: what it is, and its numbers as tables of its last two axes. */
function tensor({ shape, dtype, device, rows, more }) {
  const caption = element("figcaption", { textContent: `${dtype} [${shape.join(", ")}] on ${device}` });
  const tables = rows.map(({ title, cells }) => {
    const table = element(
      "table",
      {},
      ...cells.map((row) => element("tr", {}, ...row.map((v) => element("td", { textContent: shown(v) })))),
    );
    const parts = title ? [element("figcaption", { textContent: title }), table] : [table];
    return element("div", { className: "table" }, ...parts);
  });
  const rest = more ? [element("figcaption", { textContent: "… and more" })] : [];
  return element("figure", {}, caption, ...tables, ...rest);
}

function picture({ width, height, data, caption }) {
  const canvas = element("canvas", { className: "picture", width, height, role: "img", ariaLabel: caption });
  canvas.getContext("2d").putImageData(new ImageData(new Uint8ClampedArray(data), width, height), 0, 0);
  return element("figure", {}, canvas, element("figcaption", { textContent: caption }));
}

/** A colour of the site, as the theme has it now. */
const resolved = (name) => {
  const probe = element("span", { style: `color: var(--${name})` });
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
};
const STROKES = ["accent", "wrong", "right", "soft"];

function curve({ x, series }, output) {
  const figure = element("figure", { className: "curve" });
  const axis = {
    stroke: resolved("soft"),
    grid: { stroke: resolved("line"), width: 1 },
    ticks: { stroke: resolved("line") },
  };
  new uPlot(
    {
      width: Math.max(220, Math.min(560, output.clientWidth - 40)),
      height: 240,
      scales: { x: { time: false } },
      axes: [axis, axis],
      legend: { live: false },
      series: [
        { label: "x" },
        ...series.map(({ label, values }, i) => ({
          label,
          stroke: resolved(STROKES[i % 4]),
          width: 2,
          points: values.includes(null) ? { show: true, size: 4 } : {}, // between gaps stands a point, not a line
        })),
      ],
    },
    [x, ...series.map(({ values }) => values)],
    figure,
  );
  return figure;
}

const PARTS = {
  text: ({ text }) => document.createTextNode(text),
  tensor,
  picture,
  curve,
};

/** Puts messages of a program into `output` in the order in which they were sent. */
export class Output {
  constructor(output) {
    this.output = output;
  }

  clear() {
    this.output.replaceChildren();
  }

  /** A line: its parts side by side, tables and pictures below them. */
  add({ level = "log", parts }) {
    const line = element("div", { className: `line ${level}` });
    for (const [i, part] of parts.entries()) {
      if (i && part.kind === "text" && parts[i - 1].kind === "text") line.append(" ");
      line.append(PARTS[part.kind](part, this.output));
    }
    const atEnd = this.output.scrollHeight - this.output.scrollTop - this.output.clientHeight < 60;
    this.output.append(line);
    if (atEnd) this.output.scrollTop = this.output.scrollHeight;
  }
}
