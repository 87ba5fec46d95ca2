"""The kernels' templates, expanded with Jinja; codegen/api/package.py translates them for the package."""

from __future__ import annotations

import functools

from ..translator.template import environment


@functools.cache
def template(name: str):
    return environment().get_template(name)


def show(name: str, values: dict) -> str:
    return template(name).render(**values)
