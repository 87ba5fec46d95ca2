// MobileNetV2 as torchvision has it, with random weights, for images of 32 by 32, bundled: node mobile_net.mjs OUT
// Its outputs must be the model's.  Prints the bytes of its module, gzipped, as JSON.
import { gzipSync } from "node:zlib";
import { pathToFileURL } from "node:url";

const [out] = process.argv.slice(2);
const torch = await import("../../dist/in-node/index.js"),
  { bundle } = await import("../../dist/in-node/runtime/bundle/index.js"),
  { nn } = torch;
torch.manual_seed(1);

const conv = (i, o, k = 3, stride = 1, groups = 1) => [
  nn.Conv2d(i, o, k, { stride, padding: (k - 1) / 2, groups, bias: false }),
  nn.BatchNorm2d(o),
];
class Block extends nn.Module {
  constructor(i, o, stride, expand) {
    super();
    const hidden = i * expand;
    this.residual = stride === 1 && i === o;
    this.conv = nn.Sequential(
      ...(expand === 1 ? [] : [...conv(i, hidden, 1), nn.ReLU6()]),
      ...conv(hidden, hidden, 3, stride, hidden),
      nn.ReLU6(),
      ...conv(hidden, o, 1),
    );
  }
  forward(x) {
    return this.residual ? x.add(this.conv(x)) : this.conv(x);
  }
}
/** expansion, channels, how many, stride of the first */
const PLAN = [
  [1, 16, 1, 1],
  [6, 24, 2, 2],
  [6, 32, 3, 2],
  [6, 64, 4, 2],
  [6, 96, 3, 1],
  [6, 160, 3, 2],
  [6, 320, 1, 1],
];
const layers = [...conv(3, 32, 3, 2), nn.ReLU6()];
let channels = 32;
for (const [expand, o, count, stride] of PLAN)
  for (let n = 0; n < count; n++, channels = o) layers.push(new Block(channels, o, n === 0 ? stride : 1, expand));
layers.push(...conv(320, 1280, 1), nn.ReLU6(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1280, 1000));
const net = nn.Sequential(...layers).eval(),
  x = torch.randn([1, 3, 32, 32]);

const made = await bundle(net, [x], { name: "MobileNetV2" });
await made.save(out);
const model = await (await import(`${pathToFileURL(out)}/model.mjs`)).load({ device: "cpu" }),
  { output } = await model.run([await x.data()]),
  wanted = await torch.no_grad(() => net(x)).data(),
  most = wanted.reduce((n, v) => Math.max(n, Math.abs(v)), 0),
  far = wanted.reduce((n, v, k) => Math.max(n, Math.abs(v - output[k])), 0) / most;
if (!(far < 2e-5)) throw new Error(`its output is ${far} away`);
console.log(JSON.stringify({ gzipped: gzipSync(made.files.get("model.mjs"), { level: 9 }).length }));
process.exit(0);
