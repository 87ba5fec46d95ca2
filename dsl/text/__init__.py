"""Text to syntax tree and back, and how mistakes in it are shown."""
