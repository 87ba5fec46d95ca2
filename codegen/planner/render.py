"""The kernels' templates as functions: here Jinja; the package has the same functions, translated.

This file is not translated: `wgsl/templates.ts` takes its place."""

from __future__ import annotations

import importlib

from ..data.model import Function
from .strategies.attention import AttentionText
from .strategies.interleaved import InterleavedText
from .strategies.map import MapText
from .strategies.matrix_units import MatrixUnitText
from .strategies.pair_blocks import PairFactsText, PairSumText
from .strategies.pair_tiles import PairTileText
from .strategies.raw import RawBody
from .strategies.reduction import ReductionText
from .strategies.scan import ScanText
from .strategies.tiled import TiledText
from .strategies.window_text import WindowText

KernelText = (
    AttentionText
    | MapText
    | MatrixUnitText
    | ReductionText
    | RawBody
    | ScanText
    | TiledText
    | InterleavedText
    | WindowText
    | PairFactsText
    | PairSumText
    | PairTileText
)


def map_kernel(c: MapText) -> str:
    return shown("map.wgsl.j2", c)


def row_kernel(c: ReductionText) -> str:
    return shown("reduction.wgsl.j2", c)


def raw_kernel(c: RawBody) -> str:
    return shown("raw.wgsl.j2", c)


def scan_kernel(c: ScanText) -> str:
    return shown("scan.wgsl.j2", c)


def tiled_kernel(c: TiledText) -> str:
    return shown("tiled.wgsl.j2", c)


def matrix_unit_kernel(c: MatrixUnitText) -> str:
    return shown("matrix_units.wgsl.j2", c)


def interleaved_kernel(c: InterleavedText) -> str:
    return shown("interleaved.wgsl.j2", c)


def attention_kernel(c: AttentionText) -> str:
    return shown("attention.wgsl.j2", c)


def pair_facts_kernel(c: PairFactsText) -> str:
    return shown("pair_facts.wgsl.j2", c)


def pair_sums_kernel(c: PairSumText) -> str:
    return shown("pair_sums.wgsl.j2", c)


def pair_tiles_kernel(c: PairTileText) -> str:
    return shown("pair_tiles.wgsl.j2", c)


def window_kernel(c: WindowText) -> str:
    return shown("window.wgsl.j2", c)


def prelude_text(helpers: list[str], routines: list[Function]) -> str:
    """The functions of the prelude that are named, then of the routines, with all that they call; other names are
    WGSL's own functions."""
    made: str = importlib.import_module("codegen.wgsl.prelude").text(helpers, routines)
    return made


def shown(name: str, c: KernelText) -> str:
    """A template with the fields of a context as its names."""
    made: str = importlib.import_module("codegen.wgsl.templates").show(name, vars(c))
    return made
