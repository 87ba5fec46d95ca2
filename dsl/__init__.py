"""The op language: from text to an op's meaning, its gradient and its numpy evaluation.  It knows no target.

`dsl.op(text or name)` makes an op a Python function: a door to workbench/, which stands on the language and on the
compiler.  Importing the package loads nothing yet."""


def __getattr__(name: str) -> object:
    import workbench

    if name not in workbench.PUBLIC:
        raise AttributeError(f"module 'dsl' has no attribute '{name}'")
    return getattr(workbench, name)
