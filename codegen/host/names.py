"""Names in kernels: those of a definition that a shading language or a kernel's own text keeps for itself.

This file is not translated: `wgsl/names.ts` takes its place, with those of the names that the package's ops use."""

from __future__ import annotations

# Keywords and reserved words of WGSL that a definition's names could be, and names the kernels' skeletons use.
RESERVED: list[str] = [
    "alias", "break", "case", "const", "continue", "default", "diagnostic", "discard", "else", "enable", "false", "fn", "for", "if",
    "let", "loop", "override", "requires", "return", "struct", "switch", "true", "var", "while", "as", "async", "auto", "await",
    "become", "class", "common", "compile", "delete", "do", "enum", "explicit", "export", "extern", "external", "filter", "final",
    "from", "get", "goto", "handle", "impl", "import", "inline", "interface", "layout", "lowp", "macro", "match", "meta", "mod",
    "module", "move", "mut", "mutable", "namespace", "new", "nil", "noexcept", "null", "of", "operator", "package", "packoffset",
    "partition", "pass", "patch", "precise", "precision", "private", "protected", "ptr", "pub", "public", "readonly", "ref", "register",
    "resource", "self", "set", "shared", "sizeof", "smooth", "static", "std", "super", "target", "template", "this", "throw",
    "trait", "try", "type", "typedef", "typeof", "union", "unless", "unsafe", "use", "using", "virtual", "volatile", "where", "with",
    "yield", "array", "atomic", "bool", "f16", "f32", "i32", "u32", "vec2", "vec3", "vec4", "bitcast", "select", "main", "abs", "max",
    "min", "floor", "ceil", "round", "trunc", "sqrt", "exp", "log", "sin", "cos", "p", "lane", "group", "local", "flat", "rows", "row",
    "columns", "column", "depth", "total", "block", "place", "points", "inner", "outer", "first", "last", "at", "value", "best", "tile",
    "is_bool", "Words", "scratch", "fault", "teller",
    # Functions of the prelude (codegen/wgsl/prelude.wgsl, rare.wgsl).
    "is_nan", "is_infinite", "is_finite", "sign_bit", "nan_from", "infinity_like", "copy_sign", "nothing_of", "sign_of", "upper_half", "larger",
    "smaller", "larger_number", "smaller_number", "square", "divide", "divide_edge", "square_root", "reciprocal_root", "scaled",
    "exp_scaled", "exp_of", "exp_edge", "exp2_of", "expm1_of", "log_tail", "split_exponent", "log_edge", "is_positive", "log_of",
    "log2_of", "log10_of", "log1p_of", "high_product", "large_angle", "reduced_angle", "sine_near_zero", "cosine_near_zero", "sin_of",
    "cos_of", "tan_of", "asin_of", "acos_of", "atan_of", "atan2_of", "sinh_of", "cosh_of", "tanh_of", "asinh_of", "acosh_of", "atanh_of",
    "exp_minus_square", "erf_of", "erfc_positive", "erfc_of", "erfinv_of", "lgamma_positive", "lgamma_of", "digamma_of", "power_positive",
    "power", "power_whole", "floor_divide_whole", "remainder_whole", "fmod_whole", "fmod_of", "remainder", "floor_divide", "shift_left",
    "shift_right", "invert", "cut", "to_whole", "philox", "uniform_random", "tell", "reached", "inside", "allowed",
    "is_narrow", "beyond", "add_checked", "subtract_checked", "multiply_checked", "abs_checked", "floor_divide_checked", "trunc_divide_checked",
    "power_checked", "shift_left_checked", "cut_checked", "narrow_checked", "widened", "is_short", "wide_sum", "wide_product", "wide_times"]


def safe_name(name: str) -> str:
    """A name from a definition as a kernel writes it."""
    return name + "_" if name in RESERVED else name
