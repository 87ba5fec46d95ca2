"""The instructions of WebAssembly that kernels use, by their names in its text format, with their numbers in its binary
format (https://webassembly.github.io/spec/core/binary/instructions.html)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Form:
    """How an instruction is encoded.  prefix: the byte before its number, 0 for none.  immediate: what follows:

    ""        nothing
    block     the type that a block leaves, NO_RESULT for none
    index     a whole number without sign
    integer   one with sign
    f64       a constant of eight bytes
    memory    alignment and offset
    stored    these, then a lane
    lane      a lane
    lanes     sixteen bytes"""

    prefix: int
    number: int
    immediate: str


@dataclass
class Instruction:
    """One instruction, and the numbers that follow it."""

    name: str
    values: list[float]


@dataclass
class Group:
    """Neighbours in the table of the specification: names of consecutive numbers, `-` for one that is not used."""

    prefix: int
    immediate: str
    first: int
    names: str


SIMD = 0xFD  # the byte before the numbers of vector instructions
SATURATING = 0xFC  # and before those of conversions that do not trap

GROUPS: list[Group] = [
    Group(0, "", 0x00, "unreachable"),
    Group(0, "block", 0x02, "block loop if"),
    Group(0, "", 0x05, "else"),
    Group(0, "", 0x0B, "end"),
    Group(0, "index", 0x0C, "br br_if"),
    Group(0, "", 0x0F, "return"),
    Group(0, "index", 0x10, "call"),
    Group(0, "", 0x1A, "drop select"),
    Group(0, "index", 0x20, "local.get local.set local.tee global.get global.set"),
    Group(0, "memory", 0x28, "i32.load i64.load f32.load f64.load i32.load8_s i32.load8_u i32.load16_s i32.load16_u"),
    Group(0, "memory", 0x36, "i32.store i64.store f32.store f64.store i32.store8 i32.store16"),
    Group(0, "integer", 0x41, "i32.const i64.const"),
    Group(0, "f64", 0x44, "f64.const"),
    Group(0, "", 0x45, "i32.eqz i32.eq i32.ne i32.lt_s i32.lt_u i32.gt_s i32.gt_u i32.le_s i32.le_u i32.ge_s i32.ge_u"),
    Group(0, "", 0x50, "i64.eqz i64.eq i64.ne i64.lt_s i64.lt_u i64.gt_s i64.gt_u i64.le_s i64.le_u i64.ge_s i64.ge_u"),
    Group(0, "", 0x61, "f64.eq f64.ne f64.lt f64.gt f64.le f64.ge"),
    Group(0, "", 0x6A, "i32.add i32.sub i32.mul i32.div_s i32.div_u i32.rem_s i32.rem_u i32.and i32.or i32.xor"),
    Group(0, "", 0x74, "i32.shl i32.shr_s i32.shr_u"),
    Group(
        0,
        "",
        0x7C,
        "i64.add i64.sub i64.mul i64.div_s - i64.rem_s - i64.and i64.or i64.xor i64.shl i64.shr_s i64.shr_u",
    ),
    Group(0, "", 0x99, "f64.abs f64.neg f64.ceil f64.floor f64.trunc f64.nearest f64.sqrt f64.add f64.sub f64.mul"),
    Group(0, "", 0xA3, "f64.div f64.min f64.max f64.copysign i32.wrap_i64"),
    Group(0, "", 0xAC, "i64.extend_i32_s i64.extend_i32_u"),
    Group(0, "", 0xB6, "f32.demote_f64 f64.convert_i32_s f64.convert_i32_u f64.convert_i64_s - f64.promote_f32"),
    Group(0, "", 0xBC, "i32.reinterpret_f32 i64.reinterpret_f64 f32.reinterpret_i32 f64.reinterpret_i64"),
    Group(SATURATING, "", 2, "i32.trunc_sat_f64_s i32.trunc_sat_f64_u - - i64.trunc_sat_f64_s"),
    Group(SATURATING, "index", 11, "memory.fill"),
    Group(SIMD, "memory", 0x00, "v128.load"),
    Group(SIMD, "memory", 0x09, "v128.load32_splat v128.load64_splat v128.store"),
    Group(SIMD, "lanes", 0x0C, "v128.const i8x16.shuffle"),
    Group(SIMD, "", 0x11, "i32x4.splat i64x2.splat f32x4.splat f64x2.splat"),
    Group(SIMD, "lane", 0x1B, "i32x4.extract_lane i32x4.replace_lane i64x2.extract_lane i64x2.replace_lane"),
    Group(SIMD, "lane", 0x1F, "f32x4.extract_lane f32x4.replace_lane f64x2.extract_lane f64x2.replace_lane"),
    Group(SIMD, "", 0x37, "i32x4.eq i32x4.ne i32x4.lt_s - i32x4.gt_s - i32x4.le_s - i32x4.ge_s"),
    Group(SIMD, "", 0x41, "f32x4.eq f32x4.ne f32x4.lt f32x4.gt f32x4.le f32x4.ge"),
    Group(SIMD, "", 0x47, "f64x2.eq f64x2.ne f64x2.lt f64x2.gt f64x2.le f64x2.ge"),
    Group(SIMD, "", 0x4D, "v128.not v128.and v128.andnot v128.or v128.xor v128.bitselect v128.any_true"),
    Group(SIMD, "stored", 0x56, "v128.load32_lane"),
    Group(SIMD, "stored", 0x5A, "v128.store32_lane v128.store64_lane"),
    Group(SIMD, "memory", 0x5C, "v128.load32_zero v128.load64_zero"),
    Group(SIMD, "", 0x5E, "f32x4.demote_f64x2_zero f64x2.promote_low_f32x4"),
    Group(SIMD, "", 0x67, "f32x4.ceil f32x4.floor f32x4.trunc f32x4.nearest"),
    Group(SIMD, "", 0x74, "f64x2.ceil f64x2.floor - - - - f64x2.trunc"),
    Group(SIMD, "", 0x87, "i16x8.extend_low_i8x16_s - i16x8.extend_low_i8x16_u"),
    Group(SIMD, "", 0x94, "f64x2.nearest"),
    Group(SIMD, "", 0xA0, "i32x4.abs i32x4.neg - i32x4.all_true i32x4.bitmask"),
    Group(SIMD, "", 0xA7, "i32x4.extend_low_i16x8_s - i32x4.extend_low_i16x8_u"),
    Group(SIMD, "", 0xAB, "i32x4.shl i32x4.shr_s i32x4.shr_u i32x4.add - - i32x4.sub - - - i32x4.mul"),
    Group(SIMD, "", 0xB6, "i32x4.min_s - i32x4.max_s"),
    Group(SIMD, "", 0xC7, "i64x2.extend_low_i32x4_s"),
    Group(SIMD, "", 0xCB, "i64x2.shl i64x2.shr_s i64x2.shr_u i64x2.add - - i64x2.sub"),
    Group(SIMD, "", 0xEA, "f32x4.pmin f32x4.pmax"),
    Group(SIMD, "", 0xF6, "f64x2.pmin f64x2.pmax"),
    Group(
        SIMD,
        "",
        0xE0,
        "f32x4.abs f32x4.neg - f32x4.sqrt f32x4.add f32x4.sub f32x4.mul f32x4.div f32x4.min f32x4.max",
    ),
    Group(
        SIMD,
        "",
        0xEC,
        "f64x2.abs f64x2.neg - f64x2.sqrt f64x2.add f64x2.sub f64x2.mul f64x2.div f64x2.min f64x2.max",
    ),
    Group(
        SIMD,
        "",
        0xF8,
        "i32x4.trunc_sat_f32x4_s - f32x4.convert_i32x4_s - i32x4.trunc_sat_f64x2_s_zero - f64x2.convert_low_i32x4_s",
    ),
    # Relaxed SIMD, which not every engine has.
    Group(
        SIMD,
        "",
        0x105,
        "f32x4.relaxed_madd f32x4.relaxed_nmadd f64x2.relaxed_madd f64x2.relaxed_nmadd - - - i64x2.relaxed_laneselect",
    ),
]

KNOWN: dict[str, Form] = {}


def form(name: str) -> Form:
    """How an instruction is encoded."""
    if name not in KNOWN:
        for group in GROUPS:
            names = group.names.split(" ")
            for n in range(len(names)):
                KNOWN[names[n]] = Form(group.prefix, group.first + n, group.immediate)
    return KNOWN[name]
