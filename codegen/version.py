"""The version of the compiler and of the package, which are released together."""

VERSION = "0.1.0"


def numbers(version: str) -> tuple[int, int, int]:
    """Raises ValueError for what is no version of three numbers."""
    major, minor, patch = version.partition("-")[0].split(".")
    return int(major), int(minor), int(patch)


def runs_with(compiler: str, package: str) -> bool:
    """Whether ops that a compiler made run with a package: docs/releases.md says for how long."""
    made, there = numbers(compiler), numbers(package)
    fixed = 1 if made[0] else 2
    return made[:fixed] == there[:fixed] and made <= there
