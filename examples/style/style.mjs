// One picture in the manner of another: the pixels themselves are trained, until a network that knows pictures finds in
// them what the first shows, and the textures of the second.
// Gatys, Ecker, Bethge, A Neural Algorithm of Artistic Style, 2015, with EfficientNet-Lite0 in VGG's place.
import * as torch from "../../dist/index.js";

const { nn, optim } = torch,
  F = nn.functional;
const TEXTURES = [0, 1, 3, 5, 8], // whose layers' textures count: the stem's, and those of some of the blocks
  SHAPES = 5; // in which layer pictures must be alike place by place

/** What layers of the network say of pictures [1, 3, height, width] from 0 to 1: the stem, then block by block. */
function layers(network, pictures) {
  let x = F.relu6(network._bn0(network._conv_stem(pictures.mul(255).sub(127).div(128))));
  const found = [x];
  for (const block of [...network._blocks].slice(0, Math.max(...TEXTURES))) found.push((x = block(x)));
  return found;
}

/** Which channels go together, wherever they do: [1, channels, height, width] to [channels, channels]. */
function texture(x) {
  const rows = x.flatten(2).squeeze(0);
  return rows.matmul(rows.t()).div(rows.shape[1]);
}

/** How far apart two tensors are, where 1 is as far as the second is from zero. */
const apart = (x, wanted) => F.mse_loss(x, wanted).div(wanted.square().mean());

/** How much neighbouring pixels differ: what the network does not see is not to be noise. */
const rough = (x) =>
  x
    .diff({ dim: 2 })
    .square()
    .mean()
    .add(x.diff({ dim: 3 }).square().mean());

/**
 * Paints `content` in the manner of `style`, both [1, 3, height, width] from 0 to 1.  strength: how much the manner
 * counts beside what is shown.  `report(step, loss, picture)` is awaited after each step, and ends the work when it
 * answers false; `loss()` reads the loss, `picture` is [1, 3, height, width] from 0 to 1.
 */
export async function repaint(network, content, style, { steps, strength = 1, report }) {
  const [shapes, textures] = torch.no_grad(() => [
    layers(network, content)[SHAPES],
    TEXTURES.map((n, of) => [n, texture(layers(network, style)[n]), of]),
  ]);
  // The network's own weights stay as they are.
  for (const weight of network.parameters()) weight.requires_grad_(false);
  const picture = nn.Parameter(content.clone()),
    optimizer = optim.Adam([picture], { lr: 0.02 });
  const step = torch.compile(async () => {
    optimizer.zero_grad();
    const found = layers(network, picture);
    let loss = apart(found[SHAPES], shapes).add(rough(picture).mul(2));
    for (const [n, wanted] of textures) loss = loss.add(apart(texture(found[n]), wanted).mul(strength));
    loss.backward();
    await optimizer.step();
    torch.no_grad(() => picture.clamp_(0, 1));
    return loss.detach();
  });
  for (let n = 1; n <= steps; n++) {
    const loss = await step();
    if ((await report(n, () => loss.item(), picture.detach())) === false) break;
  }
  return picture.detach();
}
