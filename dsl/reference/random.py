"""Random numbers: Philox 4x32-10 as a pure function, the same bits on every target.

The number that `rand()` number `site` of an op draws is

    block = philox(key = (seed0, seed1), counter = (place >> 2, site, call, 0))
    u     = (block[place & 3] >> 8) * 2**-24                    in [0, 1), 24 bits, exact in float32

seed0, seed1   low and high 32 bits of the generator's seed
call           number, modulo 2**32, of the call of an op that draws, counted from 0 since the seed was
               set; a gradient program uses its forward call's number and draws the same
site           number of the `rand()` within its definition (`Random(site)`)
place          row-major place of the point among the statement's `loops`, packs expanded

So four neighbours share one block.  WGSL and TypeScript copies of this file must match bit for bit."""

from __future__ import annotations

import numpy as np

MASK = np.uint64(0xFFFFFFFF)
SHIFT = np.uint64(32)


def philox(key: tuple[int, int], counter: tuple) -> list[np.ndarray]:
    """Philox 4x32-10: a key of two words and a counter of four arrays (or ints) to four uint32 arrays."""
    c = [np.asarray(x, np.uint64) & MASK for x in counter]
    k0, k1 = int(key[0]) & 0xFFFFFFFF, int(key[1]) & 0xFFFFFFFF
    for _ in range(10):
        p0, p1 = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [(p1 >> SHIFT) ^ c[1] ^ np.uint64(k0), p1 & MASK, (p0 >> SHIFT) ^ c[3] ^ np.uint64(k1), p0 & MASK]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return [x.astype(np.uint32) for x in np.broadcast_arrays(*c)]


def uniform(seed: tuple[int, int], call: int, site: int, place: np.ndarray) -> np.ndarray:
    """The draws of one site at these places, as float64 that float32 holds exactly."""
    place = np.asarray(place, np.int64)
    blocks = np.stack(philox(seed, (place >> 2, site, call, 0)))
    word = np.take_along_axis(blocks, (place & 3)[None], 0)[0]
    return (word >> np.uint32(8)).astype(np.float64) * 2.0**-24
