// EfficientNet-Lite0 with its published weights, written as efficientnet_lite_pytorch names its parts: what a picture
// shows, as 1280 numbers.
import * as torch from "../../dist/index.js";

const { nn } = torch,
  F = nn.functional;
export const SIDE = 224, // of the pictures that it learned from
  FEATURES = 1280;
// Of each stage: blocks, kernel, stride of the first of them, how much wider inside, channels in and out.
const STAGES = [
  [1, 3, 1, 1, 32, 16],
  [2, 3, 2, 6, 16, 24],
  [2, 5, 2, 6, 24, 40],
  [3, 3, 2, 6, 40, 80],
  [3, 5, 1, 6, 80, 112],
  [4, 5, 2, 6, 112, 192],
  [1, 3, 1, 6, 192, 320],
];
const norm = (channels) => nn.BatchNorm2d(channels, { eps: 1e-3, momentum: 0.01 });

/** A convolution padded as TensorFlow's "SAME" is: where a stride leaves an odd number of zeros, one more behind. */
class Same extends nn.Conv2d {
  constructor(from, to, kernel, { stride = 1, groups = 1 } = {}) {
    super(from, to, kernel, { stride, groups, padding: stride === 1 ? kernel >> 1 : 0, bias: false });
    const zeros = kernel - 2;
    this.around = stride === 1 ? null : [zeros >> 1, (zeros + 1) >> 1, zeros >> 1, (zeros + 1) >> 1];
  }

  forward(x) {
    return super.forward(this.around ? F.pad(x, this.around) : x);
  }
}

class Block extends nn.Module {
  constructor(kernel, stride, wider, from, to) {
    super();
    const width = from * wider;
    if (wider > 1) {
      this._expand_conv = new Same(from, width, 1);
      this._bn0 = norm(width);
    }
    this._depthwise_conv = new Same(width, width, kernel, { stride, groups: width });
    this._bn1 = norm(width);
    this._project_conv = new Same(width, to, 1);
    this._bn2 = norm(to);
    this.residual = stride === 1 && from === to;
  }

  forward(x) {
    let y = this._expand_conv ? F.relu6(this._bn0(this._expand_conv(x))) : x;
    y = F.relu6(this._bn1(this._depthwise_conv(y)));
    y = this._bn2(this._project_conv(y));
    return this.residual ? y.add(x) : y;
  }
}

export class EfficientNetLite0 extends nn.Module {
  constructor() {
    super();
    this._conv_stem = new Same(3, 32, 3, { stride: 2 });
    this._bn0 = norm(32);
    this._blocks = nn.ModuleList(
      STAGES.flatMap(([count, kernel, stride, wider, from, to]) =>
        Array.from({ length: count }, (_, n) => new Block(kernel, n ? 1 : stride, wider, n ? to : from, to)),
      ),
    );
    this._conv_head = new Same(320, FEATURES, 1);
    this._bn1 = norm(FEATURES);
    this._fc = nn.Linear(FEATURES, 1000);
  }

  /** Pictures, [n, 3, 224, 224] from 0 to 1, to what comes before the last block, [n, 192, 7, 7]. */
  early(pictures) {
    let x = F.relu6(this._bn0(this._conv_stem(pictures.mul(255).sub(127).div(128))));
    for (const block of [...this._blocks].slice(0, -1)) x = block(x);
    return x;
  }

  /** That to [n, 1280]. */
  late(x) {
    x = [...this._blocks].at(-1)(x);
    return F.relu6(this._bn1(this._conv_head(x))).mean([2, 3]);
  }

  /** Scores of ImageNet's thousand kinds, [n, 1000]. */
  forward(pictures) {
    return this._fc(this.late(this.early(pictures)));
  }
}

/** The network with the weights at an address. */
export async function load(address, device, progress = () => {}) {
  const weights = await torch.load(address, { map_location: device, progress }),
    before = torch.get_default_device();
  torch.set_default_device("meta"); // no memory is taken for weights that are replaced
  const network = new EfficientNetLite0();
  torch.set_default_device(before);
  await network.load_state_dict(weights, { assign: true });
  return network.eval();
}
