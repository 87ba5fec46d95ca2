// The page: a picture is painted in the manner of another, and shown as it changes.
// python3 build.py serve shows where it is, and brings the network's weights;
// ?steps=40&device=cpu&picture=hills&manner=ink&strength=2 in the address choose.
import * as torch from "../../dist/index.js";
import { draw, NAMES } from "../field/pictures.mjs";
import {
  asked,
  by,
  controlled,
  guarded,
  lossChart,
  offer,
  offerDevices,
  paced,
  published,
  show,
} from "../shared/page.mjs";
import { load } from "../teach/efficientnet.mjs";
import { MANNERS } from "./pictures.mjs";
import { repaint } from "./style.mjs";

const steps = Number(asked("steps", 300)),
  OWN = "your own",
  own = {}, // the visitor's pictures, by the canvas that shows them
  networks = new Map(); // by device
let losses = null;

/** The network on a device, brought once. */
async function networkOn(device) {
  if (!networks.has(device)) {
    const weights = new URL("efficientnet-lite0.pth", await published("teach/lite0"));
    const loaded = ({ loaded, total }) => show({ step: `network: ${Math.round((100 * loaded) / total)} %` });
    networks.set(device, await load(weights, device, loaded));
  }
  return networks.get(device);
}

/** The picture that a menu says, drawn into a canvas: [1, 3, side, side] from 0 to 1. */
function pictureOf(canvas, menu, drawn, device) {
  const wanted = by(menu).value;
  draw(by(canvas), wanted === OWN ? own[canvas] : wanted, drawn);
  return torch.from_pixels(by(canvas), { layout: "NCHW", device });
}

async function run(going) {
  const device = by("device").value,
    strength = Number(by("strength").value);
  losses?.destroy();
  losses = lossChart(by("losses"), steps);
  show({ where: device === "webgpu" ? "WebGPU" : "CPU", step: `0 / ${steps}`, loss: "–", speed: "–" });
  const content = pictureOf("content", "picture", undefined, device),
    style = pictureOf("style", "manner", MANNERS, device),
    network = await networkOn(device);
  await repaint(network, content, style, {
    steps,
    strength,
    report: paced(steps, losses, 150, going, async (_step, loss, speed, picture) => {
      show({ loss: loss.toPrecision(3), speed: speed?.toPrecision(2) ?? "–" });
      await torch.to_pixels(picture.squeeze(0), by("painted"));
    }),
  });
}

for (const [file, canvas, menu] of [
  ["file", "content", "picture"],
  ["styleFile", "style", "manner"],
])
  by(file).addEventListener("change", () =>
    guarded(async () => {
      if (!own[canvas]) offer(menu, [[OWN, OWN]]);
      own[canvas] = await createImageBitmap(by(file).files[0]);
      by(menu).value = OWN;
      by("stop").click();
      by("start").click();
    }),
  );
const named = (names) => names.map((name) => [name, name]);
offer("picture", named(NAMES));
offer("manner", named(Object.keys(MANNERS)));
offer("strength", [
  ["4", "much"],
  ["1", "less"],
  ["16", "most"],
]);
await guarded(() => offerDevices(torch));
await controlled(run, ["picture", "manner", "strength", "device"]);
