"""The compiler of tensorloom for projects with ops of their own: `tensorloom build`, and ops as Python functions.

    import tensorloom
    f = tensorloom.op("op swish(x: Float, b: real = 1) = x * sigmoid(b * x)")
    f([0.0, 1.0]), f.grad([1.0]), print(f.check())

Importing the package loads nothing yet."""

from codegen.version import VERSION as __version__


def __getattr__(name: str) -> object:
    import workbench

    if name not in workbench.PUBLIC:
        raise AttributeError(f"module 'tensorloom' has no attribute '{name}'")
    return getattr(workbench, name)


__all__ = ["DefinitionError", "Function", "__version__", "op"]  # noqa: F822  # made when they are asked for
