"""Names of a definition as a body's kernel writes them: as they are, but for what WGSL has for itself."""

from __future__ import annotations

from collections.abc import Iterable

# Keywords, reserved words and the types and functions that kernels of bodies use.
RESERVED = frozenset(
    """
alias break case const const_assert continue continuing default diagnostic discard else enable false fn for if let
loop override requires return struct switch true var while NULL Self abstract active alignas alignof as asm
asm_fragment async attribute auto await become cast catch class co_await co_return co_yield coherent column_major
common compile compile_fragment concept const_cast consteval constexpr constinit crate debugger decltype delete
demote demote_to_helper do dynamic_cast enum explicit export extends extern external fallthrough filter final
finally friend from fxgroup get goto groupshared highp impl implements import inline instanceof interface layout
lowp macro macro_rules match mediump meta mod module move mut mutable namespace new nil noexcept noinline
nointerpolation non_coherent noncoherent noperspective null nullptr of operator package packoffset partial pass
patch pixelfragment precise precision premerge priv protected pub public readonly ref regardless register
reinterpret_cast require resource restrict self set shared sizeof smooth snorm static static_assert static_cast std
subroutine super target template this thread_local throw trait try type typedef typeid typename typeof union unless
unorm unsafe unsized use using varying virtual volatile wgsl where with writeonly yield T p main floating f16 f32
i32 u32 bool vec2 vec3 vec4 array atomic select min max abs sqrt floor ceil trunc round exp log pow sign
""".split()
)


def plain_name(name: str) -> str:
    """The name of a tensor, which the kernel binds."""
    return f"{name}_" if name in RESERVED else name


class Names:
    """The names of one function; taken: what its module has besides."""

    def __init__(self, taken: Iterable[str]) -> None:
        self.taken = set(taken)
        self.known: dict[str, str] = {}

    def of(self, name: str) -> str:
        """A local, a loop or a base: `s.2` is the second local `s`, of another block, which may have the first one's
        name; `s_` and `s_.2` nobody named, and they may stand in one block."""
        base, _, more = name.partition(".")
        if more == "at":
            known, shown = name, f"{base}_at"
        else:
            known, shown = name if base.endswith("_") else base, base.rstrip("_")
        if known not in self.known:
            self.known[known] = self.fresh(shown)
        return self.known[known]

    def fresh(self, base: str) -> str:
        made, n = base, 1
        while made in self.taken or made in RESERVED:
            n += 1
            made = f"{base}{n}"
        self.taken.add(made)
        return made
