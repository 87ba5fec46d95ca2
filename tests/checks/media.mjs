// torch.from_pixels, to_pixels, from_audio, to_audio: what pages have as tensors, and tensors as what pages have.

/** Three pixels of a row, two rows: red, half-transparent green, white; black, grey, blue. */
const BYTES = Uint8ClampedArray.of(
  ...[255, 0, 0, 255, 0, 255, 0, 128, 255, 255, 255, 255],
  ...[0, 0, 0, 255, 100, 100, 100, 255, 0, 0, 200, 255],
);
const picture = { data: BYTES, width: 3, height: 2 };
const inPage = typeof OffscreenCanvas === "function" && typeof ImageData === "function";

/** A canvas with opaque pixels. */
function painted(width, height, at) {
  const canvas = new OffscreenCanvas(width, height),
    data = new ImageData(width, height);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) data.data.set([...at(x, y), 255], 4 * (y * width + x));
  canvas.getContext("2d").putImageData(data, 0, 0);
  return canvas;
}
const colour = (x, y) => [(37 * x + 11 * y) % 256, (5 * x + 90 * y) % 256, (x * y) % 256];

export default {
  async "bytes become floats from 0 to 1, channels first"({ torch, device, equal, close }) {
    const x = torch.from_pixels(picture, { device });
    equal([...x.shape], [3, 2, 3]);
    equal(x.dtype, "float32");
    close(await x.tolist(), [
      [
        [1, 0, 1],
        [0, 100 / 255, 0],
      ],
      [
        [0, 1, 1],
        [0, 100 / 255, 0],
      ],
      [
        [0, 0, 1],
        [0, 100 / 255, 200 / 255],
      ],
    ]);
  },
  async "layouts, channels and types"({ torch, device, equal, close }) {
    const bytes = torch.from_pixels(picture, { channels: 4, dtype: "uint8", layout: "HWC", device });
    equal([...bytes.shape], [2, 3, 4]);
    equal(bytes.dtype, "uint8");
    equal(await bytes.flatten().tolist(), Array.from(BYTES));
    equal([...torch.from_pixels(picture, { layout: "NHWC", device }).shape], [1, 2, 3, 3]);
    equal([...torch.from_pixels(picture, { layout: "NCHW", channels: 1, device }).shape], [1, 1, 2, 3]);
    close(await torch.from_pixels(picture, { channels: 1, device }).tolist(), [
      [
        [0.299, 0.587, 1],
        [0, 100 / 255, (0.114 * 200) / 255],
      ],
    ]);
    equal(torch.from_pixels(picture, { device, requires_grad: true }).requires_grad, true);
  },
  async "bytes come back as they went"({ torch, device, equal }) {
    for (const layout of ["CHW", "HWC", "NCHW", "NHWC"]) {
      for (const dtype of ["float32", "uint8", "int32"]) {
        const x = torch.from_pixels(picture, { channels: 4, layout, dtype, device }),
          back = await torch.to_pixels(x, null, { layout });
        equal([back.width, back.height], [3, 2]);
        equal(Array.from(back.data), Array.from(BYTES));
      }
    }
  },
  async "what is outside of 0 to 1 is cut off, and NaN is 0"({ torch, tensor, equal }) {
    const { data } = await torch.to_pixels(tensor([[-1, 0.5, 7, NaN]]));
    equal(Array.from(data), [0, 0, 0, 255, 128, 128, 128, 255, 255, 255, 255, 255, 0, 0, 0, 255]);
  },
  async "what is no picture is refused, in words"({ torch, tensor, throws }) {
    await throws(() => torch.from_pixels("a.png"), /from_pixels: argument 'source' must be a canvas.* got "a.png"/);
    await throws(() => torch.from_pixels({ data: new Uint8Array(5), width: 1, height: 1 }), /have 4 bytes.* has 5/);
    await throws(() => torch.from_pixels(picture, { channels: 2 }), /'channels' must be 1, 3 or 4, got 2/);
    await throws(() => torch.from_pixels(picture, { layout: "WHC" }), /'layout' must be one of "CHW".* got "WHC"/);
    await throws(() => torch.from_pixels(picture, { dtype: "bool" }), /cannot be bool/);
    await throws(() => torch.to_pixels(tensor([1, 2])), /to_pixels: expected CHW.* got the shape \[2\]/);
    await throws(() => torch.to_pixels(tensor([[[1]], [[1]]])), /1, 3 or 4 channels, got the shape \[2, 1, 1\]/);
    await throws(() => torch.to_pixels(tensor([[1]]), "canvas"), /'canvas' must be a canvas, got "canvas"/);
  },
  async "canvases, pictures, bitmaps and frames"({ torch, device, equal }) {
    if (!inPage) return;
    const canvas = painted(70, 9, colour),
      wanted = Array.from({ length: 9 }, (_, y) => Array.from({ length: 70 }, (_, x) => colour(x, y))),
      blob = await canvas.convertToBlob(),
      bitmap = await createImageBitmap(canvas),
      sources = { canvas, bitmap, data: canvas.getContext("2d").getImageData(0, 0, 70, 9) };
    if (typeof document === "object") {
      const image = new Image();
      await new Promise((done, failed) => {
        const reader = new FileReader();
        reader.onload = () => Object.assign(image, { onload: done, onerror: failed, src: reader.result });
        reader.readAsDataURL(blob);
      }).then(
        () => (sources.image = image),
        () => undefined, // a page whose policy has no pictures of data
      );
    }
    if (typeof document === "object") {
      const shown = Object.assign(document.createElement("canvas"), { width: 70, height: 9 });
      sources.element = shown;
      shown.getContext("2d").drawImage(canvas, 0, 0);
    }
    if (typeof VideoFrame === "function") sources.frame = new VideoFrame(bitmap, { timestamp: 0 });
    for (const [name, source] of Object.entries(sources)) {
      const x = torch.from_pixels(source, { layout: "HWC", dtype: "int32", device });
      equal([name, ...x.shape], [name, 9, 70, 3]);
      equal(await x.tolist(), wanted);
    }
    sources.frame?.close();
  },
  async "a frame keeps its colours beside alpha, and has the size it is shown in"({ torch, device, equal, close }) {
    if (typeof VideoFrame !== "function") return;
    const data = Uint8Array.from({ length: 4 * 6 * 4 }, (_, i) => (i % 4 === 3 ? 128 : 40 * (i % 4))),
      shape = { codedWidth: 6, codedHeight: 4, timestamp: 0 },
      clear = new VideoFrame(data, { format: "RGBA", ...shape }),
      wide = new VideoFrame(new Uint8Array(36).fill(128).fill(235, 0, 24), {
        format: "I420",
        displayWidth: 12,
        ...shape,
        displayHeight: 4,
      });
    const x = torch.from_pixels(clear, { channels: 4, layout: "HWC", device }).mul(255);
    close(await x.reshape([24, 4]).tolist(), Array(24).fill([0, 40, 80, 128]), { atol: 1.1 });
    const white = torch.from_pixels(wide, { device });
    equal([...white.shape], [3, 4, 12]);
    close(await white.mean([1, 2]).tolist(), [1, 1, 1], { atol: 0.02 });
    clear.close();
    wide.close();
  },
  async "a video's frame, as it is when it is asked for"({ torch, device, equal, close }) {
    if (typeof document !== "object") return;
    const canvas = Object.assign(document.createElement("canvas"), { width: 64, height: 32 }),
      context = canvas.getContext("2d"),
      video = Object.assign(document.createElement("video"), { muted: true, srcObject: canvas.captureStream(30) });
    context.fillStyle = "#ff0000";
    context.fillRect(0, 0, 64, 32);
    await video.play();
    while (video.readyState < 2) await new Promise((done) => setTimeout(done, 10));
    const x = torch.from_pixels(video, { device });
    equal([...x.shape], [3, 32, 64]);
    close(await x.mean([1, 2]).tolist(), [1, 0, 0], { atol: 0.02 });
    for (const track of video.srcObject.getTracks()) track.stop();
  },
  async "a picture that is not there yet is told"({ torch, throws }) {
    if (typeof document !== "object") return;
    await throws(() => torch.from_pixels(new Image()), /HTMLImageElement has no pixels: .*image\.decode\(\)/);
    await throws(() => torch.from_pixels(document.createElement("video")), /no frame yet.*loadeddata/);
  },
  async "a canvas shows a tensor, and takes its size"({ torch, device, equal }) {
    if (!inPage) return;
    const x = torch.from_pixels(painted(70, 9, colour), { device }),
      canvas = new OffscreenCanvas(1, 1);
    if (device === "webgpu") canvas.getContext("webgpu"); // which a software GPU asks for
    for (const times of [1, 2]) {
      await torch.to_pixels(x.mul(times), canvas); // in this task it can be read
      const shown = torch.from_pixels(canvas, { layout: "HWC", dtype: "int32", device: "cpu" });
      equal([canvas.width, canvas.height], [70, 9]);
      equal(
        await shown.tolist(),
        Array.from({ length: 9 }, (_, y) =>
          Array.from({ length: 70 }, (_, x) => colour(x, y).map((v) => Math.min(v * times, 255))),
        ),
      );
    }
    equal(canvas.getContext("webgpu") !== null, device === "webgpu"); // on a GPU nothing was read
  },
  async "a canvas of a page shows a tensor, frame after frame"({ torch, device, equal }) {
    if (typeof document !== "object") return;
    for (const [kind, way] of [
      ["webgpu", "webgpu"],
      [null, "2d"], // a software GPU's; others show this one, too
    ]) {
      const canvas = document.body.appendChild(document.createElement("canvas"));
      if (device === "webgpu" && kind) canvas.getContext(kind);
      for (const level of [0, 0.2, 1]) {
        const x = torch.full([3, 5, 4], level, { device });
        await torch.to_pixels(x, canvas);
        const seen = torch.from_pixels(canvas, { dtype: "int32", device: "cpu" });
        equal([canvas.width, canvas.height, await seen.max().item()], [4, 5, 255 * level]);
        await new Promise((done) => requestAnimationFrame(done));
        equal((await x.sum().item()) > 59 * level, level > 0); // the device is there
      }
      equal(canvas.getContext(device === "webgpu" ? way : "2d") !== null, true);
      canvas.remove();
    }
  },
  async "a canvas with a 2d context shows a tensor of any device"({ torch, device, equal }) {
    if (!inPage) return;
    const canvas = new OffscreenCanvas(3, 3),
      context = canvas.getContext("2d");
    await torch.to_pixels(torch.from_pixels(picture, { device }), canvas);
    equal(Array.from(context.getImageData(0, 0, 1, 1).data), [255, 0, 0, 255]);
  },
  async "channels of sound become rows"({ torch, device, equal, close, throws }) {
    const left = Float32Array.of(0, 0.5, -1),
      right = Float32Array.of(1, 0, 0.25),
      wanted = [
        [0, 0.5, -1],
        [1, 0, 0.25],
      ],
      buffer = new (class {
        numberOfChannels = 2;
        length = 3;
        sampleRate = 8000;
        getChannelData(i) {
          return [left, right][i];
        }
      })();
    for (const source of [[left, right], buffer]) {
      const x = torch.from_audio(source, { device });
      equal([...x.shape], [2, 3]);
      close(await x.tolist(), wanted);
    }
    await throws(() => torch.from_audio([left, right.subarray(1)]), /channel 0 has 3 samples, channel 1 has 2/);
    await throws(() => torch.from_audio(left), /must be an AudioBuffer.* got Float32Array/);
    await throws(() => torch.to_audio(torch.ones([4, 2, 3]), { sample_rate: 8000 }), /got \[4, 2, 3\]/);
    await throws(() => torch.to_audio(torch.ones([3])), /missing required argument 'sample_rate'/);
    if (typeof AudioBuffer === "function") {
      const made = await torch.to_audio(torch.tensor(wanted, { device }), { sample_rate: 8000 });
      equal([made.numberOfChannels, made.length, made.sampleRate], [2, 3, 8000]);
      close(await torch.from_audio(made, { device }).tolist(), wanted);
    } else await throws(() => torch.to_audio(torch.ones([3]), { sample_rate: 8000 }), /no AudioBuffer here/);
    if (typeof AudioData === "function") {
      const data = new AudioData({
        ...{ format: "f32-planar", sampleRate: 8000, numberOfFrames: 3, numberOfChannels: 2, timestamp: 0 },
        data: Float32Array.of(...left, ...right),
      });
      close(await torch.from_audio(data, { device }).tolist(), wanted);
      data.close();
    }
  },
};
