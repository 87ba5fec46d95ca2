"""Links to the playgrounds with a text in them."""

from __future__ import annotations

import base64
import zlib


def link(page: str, text: str) -> str:
    """A page of a playground with a text, as scripts/playground/share.mjs packs it."""
    packer = zlib.compressobj(9, wbits=-15)
    packed = packer.compress(text.encode()) + packer.flush()
    return f"{page}#code={base64.urlsafe_b64encode(packed).decode().rstrip('=')}"
