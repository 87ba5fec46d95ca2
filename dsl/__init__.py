"""The op language: from text to an op's meaning, its gradient and its numpy evaluation.

`dsl.op(text or name)` makes an op a Python function; see dsl/api.py.  Importing the package loads nothing yet."""

PUBLIC = ("op", "Function", "DefinitionError")


def __getattr__(name: str):
    if name not in PUBLIC:
        raise AttributeError(f"module 'dsl' has no attribute '{name}'")
    from . import api

    return getattr(api, name)
