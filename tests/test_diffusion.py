"""Digits drawn out of noise (examples/diffusion): they are the digits that were asked for and no copies of those it
learned from; a network that begins from nothing learns."""

import json

from buildtools import gpu, node
from buildtools.paths import ROOT

BEGIN = f"""
import * as torch from "{ROOT}/dist/index.js";
import {{ readDigits }} from "{ROOT}/examples/digits/digits.mjs";
import {{ read }} from "{ROOT}/examples/read.mjs";
import {{ Denoiser, draw, trainer }} from "{ROOT}/examples/diffusion/diffusion.mjs";
torch.manual_seed(1);
torch.set_slow_warnings(false);
const data = readDigits(await read(new URL("file://{ROOT}/examples/digits/digits.bin"))), model = new Denoiser();
"""
DRAWN = f"""
await model.load_state_dict(new URL("file://{ROOT}/examples/diffusion/weights.safetensors"));
const digits = Array.from({{ length: 40 }}, (_, n) => n % 10);
let last = null;
for await (const pictures of draw(model, digits, "cpu")) last = pictures;
const known = [...data.train.images, ...data.test.images], labels = [...data.train.labels, ...data.test.labels],
  near = torch.cdist(last.flatten(1), torch.tensor(known).add(1.25).div(2).sub(1));
const read_as = (await near.argmin(1).tolist()).map((place) => labels[place]);
console.log(JSON.stringify([read_as, await near.min(1).values.tolist()]));
"""
LEARNS = """
const { train } = trainer(model, data.train, "cpu"), losses = [];
for (let n = 0; n < 40; n++) losses.push(await train());
console.log(JSON.stringify(losses));
"""


def ran(script: str):
    done = node.run(["--input-type=module", "--eval", BEGIN + script], env=gpu.variables())
    assert done.returncode == 0, done.stdout
    return json.loads(done.stdout.splitlines()[-1])


def test_digits_are_those_that_were_asked_for(dist, figure):
    read_as, distances = ran(DRAWN)
    right = sum(digit == n % 10 for n, digit in enumerate(read_as))
    figure(f"diffusion: {right} of 40 drawn digits are nearest to a real one of their kind")
    assert right >= 36
    # Two pictures of the same digit by different hands are about 2 apart.
    assert min(distances) > 0.8 and max(distances) < 4, distances


def test_a_network_learns_from_nothing(dist):
    losses = ran(LEARNS)
    assert sum(losses[-5:]) / 5 < 0.75 * losses[0], losses
