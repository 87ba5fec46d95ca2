"""The order in which bundles have the package's modules: bundlers keep that of imports, and gzip finds again what stood
at most 32 kB before, so kin stand beside each other.  Who imports all ops, or most, imports such an order first."""

from __future__ import annotations

from collections.abc import Collection

from dsl.text.places import OPS

FILES = (OPS / "order.names").read_text(encoding="utf-8").partition("\n\n")[2].split()
COMPILER = ("dsl", "codegen", "host", "wgsl", "wasm", "fusion")  # folders
FIRST = ("bodies", "routines", "callees")  # what the data of many ops names


def order_module(modules: Collection[str], files: Collection[str]) -> str:
    """modules: of the package; files: those of the definitions that are imported."""
    of = lambda folder: sorted(m.removesuffix(".ts") for m in modules if m.startswith(folder + "/"))
    data = [f"ops/data/{f}" for f in (*FIRST, *(f for f in FILES if f in files))]
    lines = [f'export {{}} from "./{m}.js";\n' for m in (*(m for folder in COMPILER for m in of(folder)), *data)]
    return "// Bundlers keep this order.  Generated; see codegen/api/order.py.\n\n" + "".join(lines)
