"""The reference: a page for every op with all its names, and for everything else that the package exports."""

from .write import write as write
