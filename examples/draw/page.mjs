// The page: reads the digit that is being drawn, and learns from those whose name it is told.
// python3 build.py serve shows where it is; ?steps=60&device=cpu&seed=1 in the address choose.
import * as torch from "../../dist/index.js";
import { readDigits } from "../digits/digits.mjs";
import { asked, by, controlled, frame, guarded, offerDevices, show } from "../shared/page.mjs";
import { reader, scanned } from "./reader.mjs";

const steps = Number(asked("steps", 120)),
  MORE = 25, // steps after each digit that it is told
  canvas = by("drawing"),
  paint = canvas.getContext("2d", { willReadFrequently: true });
let network = null,
  image = null,
  reading = false,
  data = null;

by("bars").append(
  ...Array.from({ length: 10 }, (_, digit) => {
    const row = document.createElement("button");
    row.className = "guess";
    row.disabled = true;
    row.title = `this is a ${digit}: learn it`;
    row.append(`${digit}`, document.createElement("span"));
    row.addEventListener("click", () => guarded(() => learn(digit)));
    return row;
  }),
);
const bars = [...by("bars").children];

/** Says what the drawing looks like; while one is being read, only the last of those that follow is. */
async function look() {
  if (reading || !network) return;
  reading = true;
  by("bars").ariaBusy = "true";
  for (let seen; seen !== image; ) {
    seen = image;
    const sure = seen ? await network.read(seen) : null;
    for (const [digit, row] of bars.entries()) {
      row.lastChild.style.width = `${100 * (sure?.[digit] ?? 0)}%`;
      row.classList.toggle("first", !!sure && sure[digit] === Math.max(...sure));
      row.disabled = !sure;
    }
    show({ said: sure ? `${sure.indexOf(Math.max(...sure))}` : "–" });
    await frame();
  }
  reading = false;
  by("bars").ariaBusy = "false";
}

/** Takes the drawing as that digit, and trains for a moment. */
async function learn(digit) {
  network.keep(image, digit);
  by("own").append(thumbnail(image, digit));
  for (let n = 1; n <= MORE; n++) {
    show({ loss: (await network.train()).toPrecision(3), step: `${n} / ${MORE}` });
    await frame();
  }
  clear();
}

function thumbnail(pixels, digit) {
  const small = Object.assign(document.createElement("canvas"), { width: 8, height: 8 }),
    figure = document.createElement("figure"),
    caption = document.createElement("figcaption"),
    drawn = new ImageData(8, 8);
  pixels.forEach((ink, n) => drawn.data.set([28, 36, 48, ((ink + 1.25) / 4) * 255], 4 * n));
  small.getContext("2d").putImageData(drawn, 0, 0);
  caption.textContent = digit;
  figure.append(small, caption);
  return figure;
}

function clear() {
  paint.clearRect(0, 0, canvas.width, canvas.height);
  image = null;
  look();
}

/** Ink follows the pointer; after each stroke and on the way the drawing is read. */
function drawing() {
  let last = null;
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return [
      ((event.clientX - box.left) / box.width) * canvas.width,
      ((event.clientY - box.top) / box.height) * canvas.height,
    ];
  };
  const stroke = (event) => {
    const to = place(event);
    paint.lineWidth = canvas.width / 10;
    paint.lineCap = paint.lineJoin = "round";
    paint.strokeStyle = "#1c2430";
    paint.beginPath();
    paint.moveTo(...(last ?? to));
    paint.lineTo(...to);
    paint.stroke();
    last = to;
    const { data: pixels } = paint.getImageData(0, 0, canvas.width, canvas.height);
    image = scanned((x, y) => pixels[4 * (canvas.width * y + x) + 3] / 255, canvas.width);
    look();
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    last = null;
    stroke(event);
  });
  canvas.addEventListener("pointermove", (event) => event.buttons && stroke(event));
}

async function run(going) {
  const device = by("device").value;
  by("own").replaceChildren();
  show({ where: device === "webgpu" ? "WebGPU" : "CPU", step: `0 / ${steps}`, loss: "–" });
  network = null;
  torch.manual_seed(Number(asked("seed", Math.floor(Math.random() * 1e6))));
  const made = reader(torch, data.train, device);
  await made.ready();
  for (let n = 1; n <= steps && going(); n++) {
    show({ loss: (await made.train()).toPrecision(3), step: `${n} / ${steps}` });
    await frame();
  }
  network = made;
  look();
}

by("clear").addEventListener("click", clear);
drawing();
await guarded(() => offerDevices(torch));
data = await guarded(async () => readDigits(new Uint8Array(await (await fetch("../digits/digits.bin")).arrayBuffer())));
await controlled(run, ["device"]);
