"""Pages in headless Chromium: a server of folders on localhost, and a browser with WebGPU (SwiftShader).

For tests and the showcase; every page it shows comes from this machine."""

from __future__ import annotations

import contextlib
import functools
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import gpu
from .environment import SetupError

if TYPE_CHECKING:  # a heavy import, made where it is needed
    from playwright.sync_api import Browser

WEBGPU = [
    "--enable-unsafe-webgpu",
    "--use-webgpu-adapter=swiftshader",
    # The compositor is on Vulkan, too: a canvas that a GPU shows is a texture of both.
    "--enable-features=Vulkan",
    "--use-angle=vulkan",
    # Shared memory is cleared by a loop: by SwiftShader's extension, compiling a reduction takes thrice as long.
    "--disable-dawn-features=use_vulkan_zero_initialize_workgroup_memory_extension",
]
FLAGS = [
    "--no-sandbox",  # a container often runs as root, where Chromium's sandbox does not start
    # Nothing but localhost is meant to be reached.
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # A webcam is a test pattern, and pages that ask get it.
    "--use-fake-device-for-media-stream",
    "--use-fake-ui-for-media-stream",
]


# Neither eval nor inline scripts run.
POLICY = "default-src 'self'; style-src 'self' 'unsafe-inline'"
# The same, but WebAssembly may be compiled, as the CPU's kernels are, and workers and images may be made in the page.
COMPILING = f"{POLICY}; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self' blob:; img-src 'self' blob: data:"
# The same for pages in which one may write code: it runs as a module, so still without eval.
CODE_POLICY = COMPILING.replace("script-src 'self'", "script-src 'self' blob:")


class _Files(http.server.SimpleHTTPRequestHandler):
    """A folder's files under a Content-Security-Policy, to pages that share memory with workers or do not."""

    def __init__(self, *args: Any, policy: str = POLICY, isolated: bool = False, **rest: Any) -> None:
        self.policy, self.isolated = policy, isolated
        super().__init__(*args, **rest)

    extensions_map = {
        **http.server.SimpleHTTPRequestHandler.extensions_map,
        ".js": "text/javascript",
        ".mjs": "text/javascript",
        ".wasm": "application/wasm",
    }

    def end_headers(self) -> None:
        if self.policy:
            self.send_header("Content-Security-Policy", self.policy)
        if self.isolated:
            self.send_header("Cross-Origin-Opener-Policy", "same-origin")
            self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def serve(folder: Path, port: int = 0, policy: str = POLICY, isolated: bool = False) -> Iterator[str]:
    """Serve a folder on localhost while the block runs; gives its address without a final slash."""
    handler = functools.partial(_Files, directory=str(folder), policy=policy, isolated=isolated)
    with http.server.ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@contextlib.contextmanager
def chromium(webgpu: bool = True) -> Iterator[Browser]:
    """A headless Chromium while the block runs, with WebGPU or as one that has none."""
    from playwright.sync_api import Error, sync_playwright

    folder = gpu.chromium()
    libraries = ":".join([str(folder), *_libraries(folder)])
    env: dict[str, str | float | bool] = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(folder),
        "XDG_RUNTIME_DIR": str(folder),
        "LD_LIBRARY_PATH": libraries,
        "LANG": "en_US.UTF-8",  # without a locale of the system, navigator.language would be no language tag
        "VK_ICD_FILENAMES": str(folder / "vk_swiftshader_icd.json"),
        "FONTCONFIG_FILE": str(_fonts(folder)),
    }
    with sync_playwright() as player:
        try:
            browser = player.chromium.launch(
                executable_path=folder / "chromium",
                args=[*FLAGS, *WEBGPU * webgpu],
                env=env,
                headless=True,
                ignore_default_args=["--disable-gpu"],
            )
        except Error as error:
            raise SetupError(f"headless Chromium does not start:\n{error}") from None
        try:
            yield browser
        finally:
            browser.close()


def _fonts(folder: Path) -> Path:
    # The parcel's own settings name folders of the system it was made for, and this Chromium ends itself where it
    # finds no font at all.
    settings = folder / "fonts" / "fonts.conf"
    settings.write_text(
        f"<fontconfig><dir>{folder / 'fonts'}</dir><cachedir>{folder / 'fonts' / 'cache'}</cachedir></fontconfig>\n"
    )
    return settings


def _libraries(folder: Path) -> list[str]:
    # The parcel's own copies of NSS and the like serve only where the system has none: a system's are newer.
    import ctypes.util

    return [] if ctypes.util.find_library("nss3") and ctypes.util.find_library("nspr4") else [str(folder / "lib")]
