"""The functions of formulas as formulas of what processors have, in the notation of codegen/data/written.py.

What is written here serves one number and two at once alike, in doubles.  `name:formula|` names a part; the last part
is the value.  Functions that are missing are asked of who runs the module."""

from __future__ import annotations

from dataclasses import dataclass

from ..data.nodes import Node
from ..data.written import read_formula


@dataclass
class Definition:
    """parameters: their names; parts: names and formulas, the last one without a name."""

    parameters: list[str]
    names: list[str]
    parts: list[Node]


def horner(x: str, coefficients: str) -> str:
    """A polynomial of x; its coefficients from the highest power's to the constant one."""
    out = ""
    for c in coefficients.split(" "):
        out = c if out == "" else f"(({out}*{x})+{c})"
    return out


# e**r for r from -ln(2)/2 to ln(2)/2, less 1 + r, over r * r.
EXP_REST = horner(
    "r",
    "1.6059043836821613e-10 2.08767569878681e-9 2.505210838544172e-8 2.755731922398589e-7 2.7557319223985893e-6 "
    "2.48015873015873e-5 1.984126984126984e-4 1.388888888888889e-3 8.333333333333333e-3 4.1666666666666664e-2 "
    "0.16666666666666666 0.5",
)
# log(1 + f) less f for a fraction from sqrt(1/2) to sqrt(2), as fdlibm has it.
LOG_PARTS = (
    "t:{x*18014398509481984.0,x,x>=2.2250738585072014e-308}|m:fraction_of(t)|up:m>1.4142135623730951|"
    "k:(exponent_of(t)+{0.0,1.0,up})-{54.0,0.0,x>=2.2250738585072014e-308}|f:({m,m*0.5,up})-1.0|s:divide(f,f+2.0)|"
    "z:s*s|w:z*z|"
    "ra:w*((((w*0.15313837699209373)+0.22222198432149784)*w)+0.3999999999940942)|"
    "rb:z*((((((w*0.14798198605116586)+0.1818357216161805)*w)+0.2857142874366239)*w)+0.6666666666666735)|"
    "h:(f*f)*0.5|"
)

TEXTS: dict[str, str] = {
    "square": "x|x*x",
    "reciprocal_root": "x|divide(1.0,square_root(x))",
    "is_nan": "x|!(x==x)",
    "is_infinite": "x|abs(x)==1e999",
    "sign_bit": "x|(x<0.0)||((x==0.0)&&(divide(1.0,x)<0.0))",
    "sign_of": "x|{{0.0,-1.0,x<0.0},1.0,x>0.0}",
    "nothing_of": "x|0.0*x",
    "copy_sign": "x,y|{-x,x,sign_bit(x)==sign_bit(y)}",
    "larger_number": "x,y|{{larger(x,y),x,!(y==y)},y,!(x==x)}",
    "smaller_number": "x,y|{{smaller(x,y),x,!(y==y)},y,!(x==x)}",
    "allowed": "x,y|x",
    "exp_of": (
        "x|c:smaller(larger(x,-746.0),710.0)|n:round(c*1.4426950408889634)|"
        f"r:(c-(n*0.6931471803691238))-(n*1.9082149292705877e-10)|p:1.0+(r+((r*r)*{EXP_REST}))|a:trunc(n*0.5)|"
        "(p*power_of_two(a))*power_of_two(n-a)"
    ),
    "exp2_of": (
        "x|c:smaller(larger(x,-1080.0),1025.0)|n:round(c)|r:(c-n)*0.6931471805599453|"
        f"p:1.0+(r+((r*r)*{EXP_REST}))|a:trunc(n*0.5)|(p*power_of_two(a))*power_of_two(n-a)"
    ),
    "expm1_of": (
        "x|c:smaller(larger(x,-746.0),710.0)|n:round(c*1.4426950408889634)|"
        f"r:(c-(n*0.6931471803691238))-(n*1.9082149292705877e-10)|q:r+((r*r)*{EXP_REST})|a:trunc(n*0.5)|"
        "s:power_of_two(a)|u:power_of_two(n-a)|"
        "{{((s*q)*u)+((s*u)-1.0),((1.0+q)*s)*u,x>40.0},{x,q,!(x==0.0)},n==0.0}"
    ),
    "log_of": (
        f"x|{LOG_PARTS}y:(k*0.6931471803691238)-((h-((s*(h+(ra+rb)))+(k*1.9082149292705877e-10)))-f)|"
        "{{y,x,x==1e999},{0.0-1e999,(0.0-1e999)*0.0,!(x==0.0)},!(x>0.0)}"
    ),
    "log1p_of": "x|u:1.0+x|{{log_of(u)+divide(x-(u-1.0),u),x,(u==1e999)||(x==0.0)},log_of(u),!(u>0.0)}",
    "tanh_of": (
        "x|a:abs(x)|e:expm1_of(2.0*smaller(a,22.0))|t:{1.0-divide(2.0,e+2.0),divide(e,e+2.0),a<1.0}|"
        "{{-t,t,x>0.0},x,!((x<0.0)||(x>0.0))}"
    ),
    "sinh_of": (
        "x|a:abs(x)|e:expm1_of(a)|l:exp_of(a*0.5)|t:{(l*0.5)*l,(e+divide(e,e+1.0))*0.5,a<22.0}|"
        "{{-t,t,x>0.0},x,!((x<0.0)||(x>0.0))}"
    ),
    "cosh_of": "x|a:abs(x)|e:exp_of(a)|l:exp_of(a*0.5)|{(l*0.5)*l,(e+divide(1.0,e))*0.5,a<22.0}",
    # Whole numbers.
    "floor_divide_whole": (
        "x,y|s:{y,1,(y==0)||(y==(-1))}|q:quotient(x,s)|{{{q,q-1,(!((q*s)==x))&&(!((x<0)==(s<0)))},0-x,y==(-1)},0,y==0}"
    ),
    "remainder_whole": ("x,y|s:{y,1,(y==0)||(y==(-1))}|r:x-(quotient(x,s)*s)|{r,r+y,(!(r==0))&&(!((r<0)==(s<0)))}"),
    "fmod_whole": "x,y|s:{y,1,(y==0)||(y==(-1))}|x-(quotient(x,s)*s)",
    "shift_left": "x,y|{0,shifted(x,y),(y>=0)&&(y<32)}",
    "shift_right": "x,y|shifted_down(x,{31,y,(y>=0)&&(y<32)})",
    # Whole numbers of T, which must fit into 32 bits.
    "add_checked": "x,y|narrow_checked(wide_sum(widened(x),widened(y)))",
    "subtract_checked": "x,y|narrow_checked(wide_difference(widened(x),widened(y)))",
    "multiply_checked": "x,y|narrow_checked(wide_product(x,y))",
    "abs_checked": "x|max(x,subtract_checked(0,min(x,0)))",
    "floor_divide_checked": "x,y|{floor_divide_whole(x,y),subtract_checked(0,x),y==(-1)}",
    "trunc_divide_checked": "x,y|s:{y,1,(y==0)||(y==(-1))}|{{quotient(x,s),0,y==0},subtract_checked(0,x),y==(-1)}",
    "shift_left_checked": "x,y|{narrow_checked(wide_shift(widened(x),min(y,32))),0,(y<0)||(x==0)}",
}

KNOWN: dict[str, Definition] = {}


def definition(name: str) -> Definition | None:
    """What a function is, if it is one of these."""
    if name not in TEXTS:
        return None
    if name not in KNOWN:
        parts = TEXTS[name].replace("||", "&or").split("|")
        parameters = parts[0].split(",")
        names: list[str] = []
        formulas: list[Node] = []
        for part in parts[1:]:
            text = part.replace("&or", "||")
            colon = text.find(":")
            found = read_formula(text[colon + 1 :], [*parameters, *names])
            if found is not None:
                formulas.append(found)
            if colon >= 0:
                names.append(text[:colon])
        KNOWN[name] = Definition(parameters, names, formulas)
    return KNOWN[name]


# What functions answer, where that is not of their first operand's kind.  "w": a whole number of 64 bits.
ANSWERS: dict[str, str] = {
    "to_whole": "i",
    "cut": "i",
    "cut_checked": "i",
    "narrow_checked": "i",
    "widened": "w",
    "wide_product": "w",
}
# Functions of floats that are one instruction.
DIRECT: dict[str, str] = {
    "abs": "abs",
    "floor": "floor",
    "ceil": "ceil",
    "trunc": "trunc",
    "round": "nearest",
    "square_root": "sqrt",
    "divide": "div",
    "larger": "max",  # both hand NaN on
    "smaller": "min",
}
