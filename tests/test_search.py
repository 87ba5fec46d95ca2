"""MiniLM with its published weights (examples/search): the same tokens and points as sentence-transformers, and how long
its first answer takes."""

import json

import pytest

from buildtools import gpu, node, pages, weights
from buildtools.paths import ROOT

SCRIPT = """
import { readFileSync } from "node:fs";
import * as torch from "ROOT/dist/index.js";
import { load } from "ROOT/examples/search/minilm.mjs";
const { sentences, tokens, embedded } = JSON.parse(readFileSync("ROOT/examples/search/answers.json", "utf8"));
if ("DEVICE" === "webgpu") await torch.initWebGPUAsync();
const began = performance.now(), phases = new Set(),
  network = await load(new URL("file://ROOT/examples/search/minilm/"), "DEVICE", ({ loaded, total }) => phases.add(loaded / total)),
  found = await network.embed(sentences.slice(0, 1)).tolist(),
  seconds = (performance.now() - began) / 1000;
found.push(...(await network.embed(sentences.slice(1, COUNT)).tolist()));
const wrong = sentences.filter((sentence, n) => network.tokens(sentence).join() !== tokens[n].join());
const far = Math.max(...found.flatMap((row, n) => row.map((x, k) => Math.abs(x - embedded[n][k]))));
console.log(JSON.stringify({ wrong, far, seconds, steps: phases.size, last: Math.max(...phases) }));
process.exit(0);
"""


@pytest.mark.parametrize("device, count", [("cpu", 6), ("webgpu", 2)])
def test_points_of_sentences(device, count, dist, figure):
    weights.bring(weights.MINILM)
    pages.prepare()
    script = SCRIPT.replace("ROOT", str(ROOT)).replace("DEVICE", device).replace("COUNT", str(count))
    done = node.run(["--input-type=module", "--eval", script], env=gpu.variables())
    assert done.returncode == 0, done.stdout
    said = json.loads(done.stdout.splitlines()[-1])
    figure(f"MiniLM on {device}: the first answer {said['seconds']:.1f} s after its files were asked for")
    assert said["wrong"] == []
    assert said["far"] < 2e-6, said
    assert said["steps"] > 1 and said["last"] == 1
