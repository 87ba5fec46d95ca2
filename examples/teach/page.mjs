// The page: classes that the user names and fills with pictures, and a network that learns to tell them apart.
// python3 build.py serve shows where it is, and brings the weights; ?device=cpu&steps=40&what=whole in the address choose.
import * as torch from "../../dist/index.js";
import { asked, by, frame, guarded, lossChart, offer, offerDevices, published, show } from "../shared/page.mjs";
import { load } from "./efficientnet.mjs";
import { learner, pictureOf } from "./teach.mjs";

const steps = Number(asked("steps", 60)),
  OFTEN = 120, // milliseconds between two pictures of a webcam that are kept
  plot = lossChart(by("losses"), steps),
  video = by("video"),
  classes = []; // {card, name, thumbs, count}
let teacher = null,
  device = null,
  going = false,
  shown = null; // the picture that is asked about, where no webcam runs

const megabytes = (bytes) => Math.round(bytes / 1e6);

/** Brings the network; pictures that were there for another device are gone. */
async function begin() {
  device = by("device").value;
  document.body.dataset.state = "running";
  teacher = null;
  for (const one of classes) one.thumbs.replaceChildren();
  show({ where: device === "webgpu" ? "WebGPU" : "CPU", step: "–", loss: "–", right: "–", took: "–" });
  const weights = new URL("efficientnet-lite0.pth", await published("teach/lite0"));
  const network = await load(weights, device, ({ loaded, total }) =>
    show({ loaded: loaded === total ? `${megabytes(total)} MB` : `${megabytes(loaded)} / ${megabytes(total)} MB` }),
  );
  teacher = learner(network, device);
  counted();
  document.body.dataset.state = "done";
}

// --- Classes and their pictures ---------------------------------------------------------------------

function addClass(title) {
  const card = document.createElement("section");
  card.className = "card";
  card.innerHTML = `<input type="text" maxlength="40" aria-label="the name of a class">
    <div class="row"><label><small>Files, or drop some here</small><br><input type="file" accept="image/*" multiple></label></div>
    <div class="row"><button class="quiet hold" disabled>Hold for the webcam</button>
      <button class="quiet clear">Clear</button><small class="count"></small></div>
    <div class="thumbs"></div>`;
  const find = (what) => card.querySelector(what),
    one = { card, name: find("[type=text]"), thumbs: find(".thumbs"), count: find(".count"), hold: find(".hold") };
  one.name.value = title;
  find("[type=file]").addEventListener("change", (event) =>
    guarded(() => addFiles(one, [...event.target.files])).finally(() => {
      event.target.value = "";
    }),
  );
  find(".clear").addEventListener("click", () => {
    teacher?.forget(({ label }) => label === one);
    one.thumbs.replaceChildren();
    counted();
  });
  one.name.addEventListener("change", () => guarded(answer));
  for (const kind of ["dragover", "dragleave", "drop"])
    card.addEventListener(kind, (event) => {
      event.preventDefault();
      card.classList.toggle("over", kind === "dragover");
      if (kind === "drop") guarded(() => addFiles(one, [...event.dataTransfer.files]));
    });
  held(one);
  classes.push(one);
  by("classes").append(card);
  counted();
}

/** Pictures of the webcam become a class's as long as its button is held. */
function held(one) {
  let holding = false;
  const release = () => {
    holding = false;
  };
  one.hold.addEventListener("pointerdown", () =>
    guarded(async () => {
      holding = true;
      do {
        await addPicture(one, video);
        await new Promise((done) => setTimeout(done, OFTEN));
      } while (holding);
    }),
  );
  for (const kind of ["pointerup", "pointerleave", "pointercancel"]) one.hold.addEventListener(kind, release);
  one.hold.addEventListener("keydown", (event) => event.key === "Enter" && guarded(() => addPicture(one, video)));
}

async function addFiles(one, files) {
  for (const file of files.filter(({ type }) => type.startsWith("image/"))) {
    const bitmap = await createImageBitmap(file);
    await addPicture(one, bitmap);
    bitmap.close();
  }
}

async function addPicture(one, source) {
  if (!teacher || going) return;
  const { canvas, pixels } = pictureOf(source, device),
    small = Object.assign(document.createElement("canvas"), { width: 96, height: 96 }),
    kept = teacher.add(pixels, one);
  small.getContext("2d").drawImage(canvas, 0, 0, 96, 96);
  small.title = "click: forget it";
  small.addEventListener("click", () => {
    teacher.forget((other) => other === kept);
    small.remove();
    counted();
  });
  one.thumbs.prepend(small);
  counted();
  await frame();
}

/** How many pictures there are; learning takes some of two classes. */
function counted() {
  let sum = 0;
  for (const one of classes) {
    const own = teacher?.count(one) ?? 0;
    one.count.textContent = `${own} ${own === 1 ? "picture" : "pictures"}`;
    sum += own;
  }
  show({ count: `${sum}` });
  by("learn").disabled = going || filled().length < 2;
}

const filled = () => classes.filter((one) => teacher?.count(one));

// --- Learning and answering -------------------------------------------------------------------------

let taught = []; // the classes of the last lesson

async function learn() {
  const lesson = filled(),
    losses = [];
  going = true;
  document.body.dataset.state = "running";
  by("learn").disabled = true;
  by("stop").disabled = false;
  try {
    for await (const { loss, right } of teacher.train(lesson, { steps, whole: by("what").value === "whole" })) {
      losses.push(loss);
      show({
        step: `${losses.length} / ${steps}`,
        loss: loss.toFixed(3),
        right: `${Math.round(100 * right)} %`,
      });
      plot.setData([losses.map((_, n) => n + 1), losses]);
      await frame();
      if (!going) break;
    }
    taught = lesson;
  } finally {
    going = false;
    by("stop").disabled = true;
    counted();
  }
  await answer();
  document.body.dataset.state = "done";
}

/** Says of the webcam's picture, or of the one that was chosen, what it is. */
async function answer() {
  const source = video.hidden ? shown : video;
  if (!source || !teacher?.ready || going) return;
  const began = performance.now(),
    { canvas, pixels } = pictureOf(source, device),
    sure = await teacher.tell(pixels);
  show({ took: `${Math.round(performance.now() - began)} ms` });
  by("shown").getContext("2d").drawImage(canvas, 0, 0);
  const order = sure.map((_, n) => n).sort((a, b) => sure[b] - sure[a]);
  by("said").replaceChildren(...order.map((n) => row(taught[n].name.value, sure[n])));
}

function row(name, sure) {
  const item = document.createElement("li"),
    bar = document.createElement("span");
  bar.style.width = `${100 * sure}%`;
  item.append(
    name,
    Object.assign(document.createElement("small"), { textContent: `${Math.round(100 * sure)} %` }),
    bar,
  );
  return item;
}

/** The webcam runs, or ends. */
async function camera() {
  const running = !video.hidden;
  if (running) for (const track of video.srcObject.getTracks()) track.stop();
  else {
    video.srcObject = await navigator.mediaDevices.getUserMedia({ video: { width: 320, height: 320 } });
    await video.play();
  }
  video.hidden = running;
  by("shown").hidden = !running;
  by("camera").textContent = running ? "Start the webcam" : "Stop the webcam";
  for (const one of classes) one.hold.disabled = running;
  while (!video.hidden) {
    await answer();
    await frame();
  }
}

async function tried(file) {
  shown = await createImageBitmap(file);
  by("shown").getContext("2d").drawImage(pictureOf(shown, "cpu").canvas, 0, 0);
  await answer();
}

offer("what", [
  ["head", "a layer over its features"],
  ["whole", "its last block, too"],
]);
for (const title of ["Class 1", "Class 2", "Class 3"]) addClass(title);
by("more").addEventListener("click", () => {
  addClass(`Class ${classes.length + 1}`);
  classes.at(-1).hold.disabled = video.hidden;
});
by("learn").addEventListener("click", () => guarded(learn));
by("stop").addEventListener("click", () => {
  going = false;
});
by("camera").addEventListener("click", () => guarded(camera));
by("try").addEventListener("change", (event) => event.target.files[0] && guarded(() => tried(event.target.files[0])));
by("device").addEventListener("change", () => guarded(begin));
await guarded(() => offerDevices(torch));
await guarded(begin);
