"""The kernels' templates: expanded here, and as TypeScript for the package."""

from __future__ import annotations

import functools
import json

from ..host.template import environment, templates_module
from . import prelude

# File, its function in TypeScript, the type of its context and the host module that has the type.
TEMPLATES = [("map.wgsl.j2", "map_kernel", "MapText", "map"), ("row.wgsl.j2", "row_kernel", "RowText", "row")]


@functools.cache
def template(name: str): return environment().get_template(name)


def show(name: str, values: dict) -> str: return template(name).render(**values)


def typescript() -> str:
    """The module that stands for host/render.py: the templates, and the prelude with `prelude_text`."""
    text = templates_module([t[:3] for t in TEMPLATES], {t[2]: f"../host/{t[3]}.js" for t in TEMPLATES})
    functions = json.dumps(prelude.functions(), indent=2)
    calls = json.dumps(prelude.calls(), indent=2)
    return text + f"""
const functions: Readonly<Record<string, string>> = {functions};

const calls: Readonly<Record<string, readonly string[]>> = {calls};

/** The functions of the prelude that are named, with all that they call, in the prelude's order. */
export function prelude_text(helpers: readonly string[]): string {{
  const wanted = new Set<string>(), waiting = [...helpers];
  while (waiting.length) {{
    const name = waiting.pop()!;
    if (wanted.has(name)) continue;
    wanted.add(name);
    waiting.push(...calls[name]!);
  }}
  return Object.keys(functions).filter((name) => wanted.has(name)).map((name) => functions[name]).join("\\n");
}}
"""
