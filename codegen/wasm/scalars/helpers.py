"""Functions that kernels call: those written here, and those that a module is given (`kernels.NAME`, of doubles)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...planner.writer import INFINITY
from ..encoder import Function, emit, new_function


@dataclass
class Helper:
    """parameters, results, locals: types, separated by spaces.  code: instructions, separated by semicolons; `get`,
    `set` and `tee` are those of variables, `call` names a helper."""

    parameters: str
    result: str
    locals: str
    code: str


OVERFLOW = "get 0;i32.const 2;i32.const 0;i32.const 0;call fault;end;"

# The first parameter of those that may tell of a fault is the address of the block of parameters, whose first words
# take it: what is wrong, the place, the length.
HELPERS: dict[str, Helper] = {
    "fault": Helper(
        "i32 i32 i32 i32",
        "",
        "",
        "get 0;i32.load 2 0;i32.eqz;if;get 0;get 1;i32.store 2 0;get 0;get 2;i32.store 2 4;"
        "get 0;get 3;i32.store 2 8;end",
    ),
    # A place that a tensor names: the first element where it is off its axis.
    "check_bounds": Helper(
        "i32 i32 i32",
        "i32",
        "",
        "get 1;get 2;i32.lt_u;if;get 1;return;end;get 0;i32.const 1;get 1;get 2;call fault;i32.const 0",
    ),
    # The same of a place that is not looked at where it is off: the nearest element.
    "clamped": Helper(
        "i32 i32",
        "i32",
        "",
        "get 0;get 1;i32.lt_u;if;get 0;return;end;i32.const 0;get 1;i32.const 1;i32.sub;"
        "get 0;i32.const 0;i32.lt_s;select",
    ),
    # The logarithm of what is not above 0 or is infinite, and of NaN: -inf of 0, inf of inf, NaN of others.
    "log_end": Helper("f64", "f64", "", "get 0;f64.sqrt;f64.const 1;get 0;f64.abs;f64.div;f64.sub"),
    # The float16 nearest to the nearest float32, a tie to the even one: PyTorch computes in float32 and then rounds.
    "to_float16": Helper(
        "f64",
        "f64",
        "f64 f64",
        "get 0;f32.demote_f64;f64.promote_f32;tee 0;f64.abs;tee 1;f64.const 65520;f64.lt;i32.eqz;"
        "if;get 0;f64.const inf;f64.mul;return;end;"
        "get 1;f64.const 6.103515625e-05;f64.max;i64.reinterpret_f64;f64.const inf;i64.reinterpret_f64;i64.and;"
        "f64.reinterpret_i64;f64.const 6597069766656;f64.mul;set 2;get 1;get 2;f64.add;get 2;f64.sub;"
        "get 0;f64.copysign",
    ),
    # The bfloat16 nearest to the nearest float32, the same way.
    "to_bfloat16": Helper(
        "f64",
        "f64",
        "i32",
        "get 0;get 0;f64.ne;if;get 0;return;end;get 0;f32.demote_f64;i32.reinterpret_f32;tee 1;i32.const 32767;i32.add;"
        "get 1;i32.const 16;i32.shr_u;i32.const 1;i32.and;i32.add;i32.const -65536;i32.and;f32.reinterpret_i32;"
        "f64.promote_f32",
    ),
    # Whether such a place is on its axis.
    "in_bounds": Helper(
        "i32 i32 i32",
        "i32",
        "",
        "get 1;get 2;i32.lt_u;if;i32.const 1;return;end;get 0;i32.const 1;get 1;get 2;call fault;i32.const 0",
    ),
    "narrow_checked": Helper(
        "i32 i64",
        "i32",
        "",
        f"get 1;i32.wrap_i64;i64.extend_i32_s;get 1;i64.ne;if;{OVERFLOW}get 1;i32.wrap_i64",
    ),
    "wide_sum": Helper(
        "i32 i64 i64",
        "i64",
        "i64",
        "get 1;get 2;i64.add;set 3;get 1;get 3;i64.xor;get 2;get 3;i64.xor;i64.and;i64.const 0;i64.lt_s;if;"
        f"{OVERFLOW}get 3",
    ),
    # What does not fit into 64 bits stays beyond 32; the lower half is right.
    "wide_times": Helper(
        "i64 i64",
        "i64",
        "i64",
        "get 0;get 1;i64.mul;set 2;get 0;f64.convert_i64_s;get 1;f64.convert_i64_s;f64.mul;f64.abs;f64.const 4.6e18;"
        "f64.ge;if;get 2;i64.const 4294967295;i64.and;i64.const 4294967296;i64.or;set 2;end;get 2",
    ),
    "cut_checked": Helper(
        "i32 f64",
        "i32",
        "",
        f"get 1;f64.const -2147483648;f64.lt;get 1;f64.const 2147483648;f64.ge;i32.or;if;{OVERFLOW}get 1;call cut",
    ),
    "signed_checked": Helper(
        "i32 i32",
        "i32",
        "",
        "get 0;i32.const 0;i32.lt_s;if;get 1;i32.const 2;i32.const 0;i32.const 0;call fault;end;get 0",
    ),
    # The same as a number without a sign; negative ones count down from the end.
    "cut_unsigned": Helper(
        "f64",
        "i32",
        "",
        "get 0;f64.const 0;f64.ge;get 0;f64.const 4294967296;f64.lt;i32.and;if;get 0;i32.trunc_sat_f64_u;return;end;"
        "get 0;call cut",
    ),
    # The nearest whole number of 32 bits: what has no room is off every axis.
    "shortened": Helper(
        "i64",
        "i32",
        "",
        "get 0;i32.wrap_i64;i32.const 2147483647;i32.const -2147483648;get 0;i64.const 0;i64.ge_s;select;"
        "get 0;get 0;i32.wrap_i64;i64.extend_i32_s;i64.eq;select",
    ),
    "power_long": Helper(
        "i64 i64",
        "i64",
        "i64",
        "i64.const 1;set 2;get 1;i64.const 0;i64.lt_s;if;get 0;i64.const 1;i64.eq;if;i64.const 1;return;end;"
        "get 0;i64.const -1;i64.eq;if;i64.const 1;get 1;i64.const 1;i64.and;i64.const 2;i64.mul;i64.sub;return;end;"
        "i64.const 0;return;end;block;loop;get 1;i64.eqz;br_if 1;get 1;i64.const 1;i64.and;i32.wrap_i64;if;"
        "get 2;get 0;i64.mul;set 2;end;get 0;get 0;i64.mul;set 0;get 1;i64.const 1;i64.shr_s;set 1;br 0;end;end;get 2",
    ),
    "cut_long": Helper(
        "f64",
        "i64",
        "",
        "get 0;i64.trunc_sat_f64_s;i64.const -9223372036854775808;get 0;f64.const 9223372036854775808;f64.lt;get 0;"
        "f64.const -9223372036854775808;f64.ge;i32.and;select",
    ),
    # Towards zero; what does not fit is the least number, as processors have it.
    "cut": Helper(
        "f64",
        "i32",
        "",
        "get 0;i32.trunc_sat_f64_s;i32.const -2147483648;get 0;f64.const 2147483648;f64.lt;get 0;f64.const -2147483648;"
        "f64.ge;i32.and;get 0;get 0;f64.ne;i32.or;select",
    ),
    "power_int": Helper(
        "i32 i32",
        "i32",
        "i32",
        "i32.const 1;set 2;get 1;i32.const 0;i32.lt_s;if;get 0;i32.const 1;i32.eq;if;i32.const 1;return;end;"
        "get 0;i32.const -1;i32.eq;if;i32.const 1;get 1;i32.const 1;i32.and;i32.const 2;i32.mul;i32.sub;return;end;"
        "i32.const 0;return;end;block;loop;get 1;i32.eqz;br_if 1;get 1;i32.const 1;i32.and;if;"
        "get 2;get 0;i32.mul;set 2;"
        "end;get 0;get 0;i32.mul;set 0;get 1;i32.const 1;i32.shr_s;set 1;br 0;end;end;get 2",
    ),
    "power_checked": Helper(
        "i32 i32 i32",
        "i32",
        "i32",
        "get 2;i32.const 0;i32.lt_s;if;get 1;get 2;call power_int;return;end;i32.const 1;set 3;"
        "block;loop;get 2;i32.eqz;br_if 1;get 2;i32.const 1;i32.and;if;"
        "get 0;get 3;i64.extend_i32_s;get 1;i64.extend_i32_s;i64.mul;call narrow_checked;set 3;end;"
        "get 2;i32.const 1;i32.shr_s;tee 2;if;"
        "get 0;get 1;i64.extend_i32_s;get 1;i64.extend_i32_s;i64.mul;call narrow_checked;set 1;end;br 0;end;end;get 3",
    ),
    # Philox 4x32-10 of two seeds, the call, the draw and the place; see dsl/reference/random.py.
    "uniform_random": Helper(
        "i32 i32 i32 i32 i32",
        "f64",
        "i32 i32 i32 i32 i32 i64 i64",
        "get 4;i32.const 2;i32.shr_u;set 5;get 3;set 6;get 2;set 7;i32.const 10;set 9;loop;"
        "get 5;i64.extend_i32_u;i64.const 3528531795;i64.mul;set 10;"
        "get 7;i64.extend_i32_u;i64.const 3449720151;i64.mul;set 11;"
        "get 11;i64.const 32;i64.shr_u;i32.wrap_i64;get 6;i32.xor;get 0;i32.xor;set 5;get 11;i32.wrap_i64;set 6;"
        "get 10;i64.const 32;i64.shr_u;i32.wrap_i64;get 8;i32.xor;get 1;i32.xor;set 7;get 10;i32.wrap_i64;set 8;"
        "get 0;i32.const -1640531527;i32.add;set 0;get 1;i32.const -1150833019;i32.add;set 1;"
        "get 9;i32.const 1;i32.sub;tee 9;br_if 0;end;"
        "get 8;get 6;get 4;i32.const 2;i32.and;select;get 7;get 5;get 4;i32.const 2;i32.and;select;"
        "get 4;i32.const 1;i32.and;select;i32.const 8;i32.shr_u;f64.convert_i32_u;"
        "f64.const 5.960464477539063e-08;f64.mul",
    ),
}
REPORTING = ["check_bounds", "in_bounds", "narrow_checked", "wide_sum", "cut_checked", "power_checked"]
VARIABLES: dict[str, str] = {"get": "local.get", "set": "local.set", "tee": "local.tee"}
OWN = 1 << 20  # from here on numbers of functions count those of the module itself, until `resolve`


class Functions:
    """The functions of a module.  given: what it imports.  routines: the names of those that it may have besides
    helpers; write: makes the function of one."""

    def __init__(self) -> None:
        self.own: list[Function] = []
        self.given: list[Function] = []
        self.routines: list[str] = []
        self.write: Callable[[str], Function] | None = None

    def is_own(self, name: str) -> bool:
        """Whether a function takes and answers numbers of their own kinds: what a module is given knows doubles."""
        return name in HELPERS or name in self.routines

    def number(self, name: str, operands: int) -> int:
        """The number of a function; it is taken up where it is not known."""
        for known in self.own + self.given:
            if known.name == name:
                return known.number
        if name in self.routines and self.write is not None:
            return self.write(name).number
        if name not in HELPERS:
            found = new_function(name, ["f64" for _ in range(operands)], ["f64"], len(self.given))
            self.given.append(found)
            return found.number
        h = HELPERS[name]
        f = self.add(name, types(h.parameters), types(h.result))
        f.locals = types(h.locals)
        for line in h.code.split(";"):
            words = line.split(" ")
            if words[0] == "call":
                emit(f, "call", self.number(words[1], 0))
            else:
                how = words[0]
                emit(f, VARIABLES[how] if how in VARIABLES else how, *[number(w) for w in words[1:]])
        return f.number

    def named(self, name: str, parameters: list[str]) -> Function:
        """The module's own function of a name, empty where there is none yet."""
        for known in self.own:
            if known.name == name:
                return known
        return self.add(name, parameters, [])

    def add(self, name: str, parameters: list[str], results: list[str]) -> Function:
        f = new_function(name, parameters, results, OWN + len(self.own))
        self.own.append(f)
        return f

    def resolve(self) -> None:
        """Numbers as modules have them, imported functions first."""
        moved = len(self.given) - OWN
        for f in self.own:
            f.number += moved
            for i in f.code:
                if i.name == "call" and i.values[0] >= OWN:
                    i.values[0] += moved


def number(text: str) -> float:
    return INFINITY if text == "inf" else float(text)


def types(text: str) -> list[str]:
    return [] if text == "" else text.split(" ")
