// The page of the example: trains in the browser, draws the loss and shows what the network says of test images.
// Serve the checkout (python3 -m http.server) and open /examples/digits/. Needs dist/.
import * as torch from "../../dist/index.js";
import { readDigits, train } from "./digits.mjs";

const by = (id) => document.getElementById(id);
const data = readDigits(new Uint8Array(await (await fetch("digits.bin")).arrayBuffer()));
const steps = Number(new URLSearchParams(location.search).get("steps") ?? 100);
const devices = await torch.initWebGPUAsync() ? ["webgpu", "cpu"] : ["cpu"];
by("device").append(...devices.map((name) => new Option(name)));

by("start").addEventListener("click", async () => {
  by("start").disabled = true;
  const device = by("device").value, losses = [], began = performance.now();
  const { accuracy, model } = await train(torch, by("how").value, data, {
    device,
    steps,
    report(step, loss) {
      losses.push(loss);
      by("state").textContent = `step ${step + 1}, loss ${loss.toFixed(3)}`;
      drawCurve(losses);
      return new Promise(requestAnimationFrame);
    },
  });
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  by("state").textContent = `${(100 * accuracy).toFixed(1)} % right on ${device}, ${seconds} s`;
  const images = data.test.images.slice(0, 30);
  const said = await torch.no_grad(() => model(torch.tensor(images, { device })).argmax(1)).tolist();
  by("digits").replaceChildren(...images.map((image, i) => figure(image, said[i], data.test.labels[i])));
  by("start").disabled = false;
});

function drawCurve(losses) {
  const canvas = by("curve"), pen = canvas.getContext("2d");
  pen.clearRect(0, 0, canvas.width, canvas.height);
  pen.beginPath();
  losses.forEach((loss, step) => pen.lineTo(step * canvas.width / steps, canvas.height * (1 - loss / 2.5)));
  pen.stroke();
}

function figure(image, said, truth) {
  const canvas = Object.assign(document.createElement("canvas"), { width: 8, height: 8 });
  canvas.style.width = "48px";
  const pixels = new ImageData(8, 8);
  image.forEach((ink, i) => pixels.data.set([0, 0, 0, (ink + 1.25) / 4 * 255], 4 * i));
  canvas.getContext("2d").putImageData(pixels, 0, 0);
  const caption = document.createElement("figcaption");
  caption.textContent = said === truth ? said : `${said} (is ${truth})`;
  const element = document.createElement("figure");
  element.className = said === truth ? "" : "wrong";
  element.append(canvas, caption);
  return element;
}
