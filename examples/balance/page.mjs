// The page: an agent learns to balance a pole, and drives a cart of its own meanwhile, which the visitor may push.
// python3 build.py serve shows where it is; ?updates=20&device=cpu&seed=1 in the address choose.
import * as torch from "../../dist/index.js";
import { asked, by, chart, colour, controlled, frame, guarded, offerDevices, show } from "../shared/page.mjs";
import { learn } from "./agent.mjs";
import { EDGE, fallen, fresh, LONGEST, moved } from "./cart.mjs";

const updates = Number(asked("updates", 120)),
  SCALE = 150, // pixels of a metre
  KICK = 0.9; // radians a second that a push gives the pole
let model = null,
  kick = 0,
  plot = null;

/** One cart, driven by the agent as it is now, for as long as the page is open; a fallen one begins anew. */
async function drive(canvas) {
  let cart = null,
    age = 0;
  for (;;) {
    await frame();
    if (!model) continue;
    cart ??= fresh(torch, 1, by("device").value);
    cart = torch.no_grad(() => {
      const pushed = cart.add(torch.tensor([0, 0, 0, kick], { device: cart.device }));
      return moved(torch, pushed, model(pushed)[0].gt(0).float());
    });
    kick = 0;
    const [[place, , angle]] = await cart.tolist(),
      over = await fallen(cart).item();
    paint(canvas, place, angle);
    show({ age: `${(++age / 50).toFixed(1)} s` });
    if (over || cart.device !== by("device").value) [cart, age] = [null, 0];
  }
}

function paint(canvas, place, angle) {
  const paint = canvas.getContext("2d"),
    [middle, ground] = [canvas.width / 2, canvas.height - 50],
    x = middle + place * SCALE;
  paint.clearRect(0, 0, canvas.width, canvas.height);
  paint.lineCap = "round";
  paint.fillStyle = colour("edge");
  paint.fillRect(middle - EDGE * SCALE, ground + 24, 2 * EDGE * SCALE, 3);
  for (const side of [-1, 1]) paint.fillRect(middle + side * EDGE * SCALE - 2, ground + 4, 4, 20);
  paint.fillStyle = colour("ink");
  paint.beginPath();
  paint.roundRect(x - 38, ground - 18, 76, 34, 7);
  paint.fill();
  for (const wheel of [-22, 22]) {
    paint.beginPath();
    paint.arc(x + wheel, ground + 17, 8, 0, 2 * Math.PI);
    paint.fill();
  }
  paint.strokeStyle = colour("loss");
  paint.lineWidth = 11;
  paint.beginPath();
  paint.moveTo(x, ground - 18);
  paint.lineTo(x + Math.sin(angle) * SCALE, ground - 18 - Math.cos(angle) * SCALE);
  paint.stroke();
}

async function run(going) {
  const device = by("device").value,
    seen = [[], []];
  torch.manual_seed(Number(asked("seed", Math.floor(Math.random() * 1e6))));
  model = null;
  plot?.destroy();
  plot = chart(by("stood-curve"), {
    height: 230,
    data: [[1], [null]],
    x: { range: () => [0, updates] },
    y: { range: (_, __, most) => [0, Math.max(50, Math.min(most ?? 0, LONGEST))] },
    series: [
      { label: "update", value: (_, v) => v ?? "–" },
      {
        label: "steps",
        stroke: () => colour("series"),
        width: 2,
        points: { show: false },
        value: (_, v) => v?.toFixed(0) ?? "–",
      },
    ],
  });
  show({ where: device === "webgpu" ? "WebGPU" : "CPU", update: `0 / ${updates}`, stood: "–" });
  await learn(torch, {
    device,
    updates,
    async report(update, age, learned) {
      model = learned;
      const stood = Math.min(await age(), LONGEST);
      seen[0].push(update);
      seen[1].push(stood);
      plot.setData(seen);
      show({ update: `${update} / ${updates}`, stood: `${stood.toFixed(0)} steps` });
      await frame();
      return going();
    },
  });
}

by("cart").addEventListener("pointerdown", (event) => {
  const box = event.target.getBoundingClientRect();
  kick = event.clientX < box.left + box.width / 2 ? KICK : -KICK;
});
addEventListener("keydown", ({ key }) => {
  if (key === "ArrowLeft") kick = -KICK;
  if (key === "ArrowRight") kick = KICK;
});
await guarded(() => offerDevices(torch));
guarded(() => drive(by("cart")));
await controlled(run, ["device"]);
