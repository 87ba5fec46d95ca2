// What the page learns: pictures in classes of the user's own, told apart by a linear layer over the features of a
// network that has seen ImageNet, and by its last block, too, if that is to learn.
import * as torch from "../../dist/index.js";
import { FEATURES, SIDE } from "./efficientnet.mjs";

const { nn, optim } = torch,
  F = nn.functional,
  BATCH = 16,
  SMOOTHED = 0.05; // of a label goes to the other classes: few pictures make a network too sure

/** The middle square of what has pixels (a picture, a video, a canvas), [1, 3, 224, 224] on a device. */
export function pictureOf(source, device) {
  const width = source.videoWidth || source.naturalWidth || source.width,
    height = source.videoHeight || source.naturalHeight || source.height,
    side = Math.min(width, height);
  const canvas = new OffscreenCanvas(SIDE, SIDE),
    paint = canvas.getContext("2d", { willReadFrequently: device === "cpu" });
  paint.drawImage(source, (width - side) / 2, (height - side) / 2, side, side, 0, 0, SIDE, SIDE);
  return { canvas, pixels: torch.from_pixels(canvas, { layout: "NCHW", device }) };
}

/** `network`: an EfficientNetLite0 on `device`. */
export function learner(network, device) {
  let kept = []; // {label, early}: what each picture is before the last block
  let head = null;
  const late = [[...network._blocks].at(-1), network._conv_head, network._bn1],
    tunable = late.flatMap((part) => [...part.parameters()]),
    published = tunable.map((parameter) => parameter.detach().clone());
  const early = torch.compile((pixels) => torch.no_grad(() => network.early(pixels)));
  const scores = torch.compile((x, top) => torch.no_grad(() => F.softmax(top(network.late(x)), 1)));

  return {
    /** Keeps a picture as one of a class; answers what `forget` takes. */
    add(pixels, label) {
      const one = { label, early: early(pixels) };
      kept.push(one);
      return one;
    },
    forget(gone) {
      kept = kept.filter((one) => !gone(one));
      head = null;
    },
    count: (label) => kept.filter((one) => one.label === label).length,

    /**
     * Learns anew, `steps` times a batch, what the pictures' labels are; `whole`: the last block learns, too.  Each step
     * answers {loss, right}, the share of its batch that was told right; `going()` is false once it is to stop.
     */
    async *train(labels, { steps, whole }) {
      const classes = labels.length,
        layer = nn.Linear(FEATURES, classes, { device });
      nn.init.zeros_(layer.weight);
      nn.init.zeros_(layer.bias);
      for (const parameter of network.parameters()) parameter.requires_grad = false;
      for (const [n, parameter] of tunable.entries()) {
        parameter.copy_(published[n]); // what an earlier lesson made of it is forgotten
        parameter.requires_grad = whole;
      }
      const optimizer = optim.AdamW(
        [{ params: [...layer.parameters()], lr: 0.01 }, ...(whole ? [{ params: tunable, lr: 2e-4 }] : [])],
        { weight_decay: 1e-3 },
      );
      const targets = kept.map(({ label }) => labels.indexOf(label)),
        features = whole ? null : torch.no_grad(() => torch.cat(kept.map((one) => network.late(one.early))));
      const step = torch.compile(async (x, wanted) => {
        optimizer.zero_grad();
        const said = layer(whole ? network.late(x) : x),
          loss = F.cross_entropy(said, wanted, { label_smoothing: SMOOTHED });
        loss.backward();
        await optimizer.step();
        return [loss.detach(), said.argmax(1).eq(wanted).float().mean()];
      });
      for (let n = 0; n < steps; n++) {
        // As many of each class, whichever has more pictures.
        const chosen = Array.from({ length: BATCH }, (_, i) => {
          const of = targets.flatMap((target, place) => (target === (i + n) % classes ? [place] : []));
          return of[Math.floor(Math.random() * of.length)];
        });
        const x = whole
            ? torch.cat(chosen.map((place) => kept[place].early))
            : features.index_select(0, torch.tensor(chosen, { dtype: torch.long, device })),
          wanted = torch.tensor(
            chosen.map((place) => targets[place]),
            { dtype: torch.long, device },
          ),
          [loss, right] = await step(x, wanted);
        yield { loss: await loss.item(), right: await right.item() };
      }
      head = layer;
    },

    get ready() {
      return head !== null;
    },
    /** How sure it is of each class, for a picture. */
    async tell(pixels) {
      return (await scores(early(pixels), head).tolist())[0];
    },
  };
}
