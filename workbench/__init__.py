"""What an author of definitions tries them out with.

    import workbench
    f = workbench.op("op relu3(input: Num) = max(input, 0) ** 3")     # an op as a Python function; see function.py
    f([-1.0, 2.0]), f.grad([2.0]), f.check(), f.explain()

It stands on the language (dsl/) and on the compiler (codegen/).  Importing the package loads nothing yet."""

PUBLIC = ("op", "Function", "DefinitionError")


def __getattr__(name: str):
    if name not in PUBLIC:
        raise AttributeError(f"module 'workbench' has no attribute '{name}'")
    from . import function

    return getattr(function, name)
