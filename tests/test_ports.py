"""Programs as PyTorch's users write them: three steps of training beside PyTorch's recorded numbers.  See
tests/ports/README.md."""

import json
from pathlib import Path

from day import TODAY

from buildtools import gpu, node

HERE = Path(__file__).parent / "ports"
RECORDED = json.loads((HERE / "recorded.json").read_text(encoding="utf-8"))
# Those whose kernels a software GPU compiles in about a second.
QUICK = [
    "language mamba",
    "generative vae",
    "generative wgan",
    "generative vqvae",
    "decisions dqn",
    "decisions sac",
    "decisions maml",
    "decisions siamese",
    "science neural_ode",
    "science nerf",
    "inference experts",
    "operators equilibrium",
    "operators lagrangian",
    "practices graph_bags",
    "practices compression",
    "practices remembering",
    "solvers adjoint",
]
SLOW = [name for name in RECORDED if name not in QUICK]


def replayed(device: str, names: list[str], figure):
    done = node.run([HERE / "replay.mjs", device, *names], env=gpu.variables(), timeout=300)
    assert done.returncode == 0, done.stdout
    results = json.loads(done.stdout.splitlines()[-1])
    assert list(results) == [n for n in RECORDED if n in names]
    wrong = {name: result["error"] for name, result in results.items() if result["error"]}
    assert not wrong, "\n".join(f"{name}: {error}" for name, error in wrong.items())
    figure(f"programs of PyTorch on {device}: {len(results)} in {sum(r['ms'] for r in results.values())} ms")


def test_on_the_cpu(dist, figure):
    replayed("cpu", list(RECORDED), figure)


def test_on_webgpu(dist, figure):
    replayed("webgpu", QUICK, figure)


def test_another_on_webgpu_today(dist, figure, todays):
    with todays():
        replayed("webgpu", [SLOW[TODAY % len(SLOW)]], figure)
