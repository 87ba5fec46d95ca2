"""EfficientNet-Lite0 with its published weights (examples/teach): the scores of the program that they were published
for, and lessons of both kinds from a few drawn pictures."""

import json

from buildtools import gpu, node, weights
from buildtools.paths import ROOT

BEGIN = f"""
import {{ readFileSync }} from "node:fs";
import * as torch from "{ROOT}/dist/index.js";
import {{ load }} from "{ROOT}/examples/teach/efficientnet.mjs";
import {{ learner }} from "{ROOT}/examples/teach/teach.mjs";
torch.manual_seed(0);
torch.set_slow_warnings(false);
const network = await load(new URL("file://{ROOT}/examples/teach/lite0/efficientnet-lite0.pth"), "cpu");
const [rows, columns] = torch.meshgrid([torch.arange(224).float(), torch.arange(224).float()], {{ indexing: "ij" }});
const waves = (by = 0) => torch.stack([0, 1, 2].map((c) => rows.mul((c + 1) / 19).add(columns.div(7 + c)).add(by).sin()));
const circles = (by = 0) => {{
  const rings = torch.hypot(rows.sub(100 + by), columns.sub(120));
  return torch.stack([0, 1, 2].map((c) => rings.div(5 + 3 * c).cos().mul(rings.lt(90))));
}};
const picture = (values) => values.div(2).add(0.5).unsqueeze(0);
"""
SCORES = f"""
const wanted = torch.tensor(JSON.parse(readFileSync("{ROOT}/examples/teach/answers.json", "utf8"))),
  found = torch.no_grad(() => network(torch.cat([picture(waves()), picture(circles())])));
console.log(JSON.stringify([await found.sub(wanted).abs().max().item(), await wanted.abs().max().item()]));
"""
LESSONS = """
const teacher = learner(network, "cpu"), out = [];
for (let n = 0; n < 4; n++) {
  teacher.add(picture(waves(n)), "waves");
  teacher.add(picture(circles(9 * n)), "circles");
}
for (const whole of [false, true]) {
  const steps = [];
  for await (const step of teacher.train(["waves", "circles"], { steps: whole ? 6 : 20, whole })) steps.push(step);
  out.push([steps[0], steps.at(-1), await teacher.tell(picture(waves(7))), await teacher.tell(picture(circles(40)))]);
}
console.log(JSON.stringify(out));
"""


def ran(script: str):
    weights.bring(weights.EFFICIENTNET)
    done = node.run(["--input-type=module", "--eval", BEGIN + script], env=gpu.variables())
    assert done.returncode == 0, done.stdout
    return json.loads(done.stdout.splitlines()[-1])


def test_scores_are_those_of_the_program_that_the_weights_are_of(dist):
    far, largest = ran(SCORES)
    assert far < 2e-5 * largest, (far, largest)


def test_a_layer_and_the_last_block_learn_classes(dist):
    for first, last, of_waves, of_circles in ran(LESSONS):
        assert abs(first["loss"] - 0.693) < 0.01  # nothing is known yet
        assert last["loss"] < 0.4 and last["right"] > 0.9
        assert of_waves[0] > 0.7 and of_circles[1] > 0.7
