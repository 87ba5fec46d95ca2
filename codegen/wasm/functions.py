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
# The same to eleven digits, which float32 has no use for.
EXP_SHORT = horner(
    "r",
    "2.7557319223985893e-6 2.48015873015873e-5 1.984126984126984e-4 1.388888888888889e-3 8.333333333333333e-3 "
    "4.1666666666666664e-2 0.16666666666666666 0.5",
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
    "multiply_checked": "x,y|narrow_checked(wide_product(x,y))",
    "abs_checked": "x|max(x,subtract_checked(0,min(x,0)))",
    "floor_divide_checked": "x,y|{floor_divide_whole(x,y),subtract_checked(0,x),y==(-1)}",
    "trunc_divide_checked": "x,y|s:{y,1,(y==0)||(y==(-1))}|{{quotient(x,s),0,y==0},subtract_checked(0,x),y==(-1)}",
    "shift_left_checked": "x,y|{narrow_checked(wide_shift(widened(x),min(y,32))),0,(y<0)||(x==0)}",
}

# W. J. Cody's rational approximations of the error function: e near 0, y is erfc(a) elsewhere.
NEAR_ABOVE = horner(
    "q", "0.185777706184603153 3.1611237438705656 113.864154151050156 377.485237685302021 3209.37758913846947"
)
NEAR_BELOW = horner("q", "1.0 23.6012909523441209 244.024637934444173 1282.61652607737228 2844.23683343917062")
ABOVE = horner(
    "a",
    "2.15311535474403846e-8 0.564188496988670089 8.88314979438837594 66.1191906371416295 298.635138197400131 "
    "881.95222124176909 1712.04761263407058 2051.07837782607147 1230.33935479799725",
)
BELOW = horner(
    "a",
    "1.0 15.7449261107098347 117.693950891312499 537.181101862009858 1621.38957456669019 3290.79923573345963 "
    "4362.61909014324716 3439.36767414372164 1230.33935480374942",
)
FAR_ABOVE = horner(
    "z",
    "0.0163153871373020978 0.305326634961232344 0.360344899949804439 0.125781726111229246 0.0160837851487422766 "
    "6.58749161529837803e-4",
)
FAR_BELOW = horner(
    "z",
    "1.0 2.56852019228982242 1.87295284992346725 0.527905102951428412 0.0605183413124413191 0.00233520497626869185",
)
ERROR_PARTS = (
    "v:smaller(larger(x,-0.5),0.5)|q:v*v|a:smaller(larger(abs(x),0.46875),27.0)|z:divide(1.0,a*a)|"
    f"near:abs(x)<=0.46875|e:v*divide({NEAR_ABOVE},{NEAR_BELOW})|m:divide({ABOVE},{BELOW})|"
    f"t:divide({FAR_ABOVE},{FAR_BELOW})|y:exp_of(-(a*a))*{{divide(0.5641895835477563-(z*t),a),m,a<=4.0}}|"
)
# For float32 and float16: right in doubles to eleven digits.
SINGLE: dict[str, str] = {
    "exp_of": (
        "x|c:smaller(larger(x,-709.08),710.0)|n:round(c*1.4426950408889634)|r:c-(n*0.6931471805599453)|"
        f"(1.0+(r+((r*r)*{EXP_SHORT})))*power_of_two(n)"
    ),
    "exp2_of": (
        "x|c:smaller(larger(x,-1023.0),1024.0)|n:round(c)|r:(c-n)*0.6931471805599453|"
        f"(1.0+(r+((r*r)*{EXP_SHORT})))*power_of_two(n)"
    ),
    "expm1_of": (
        "x|c:smaller(larger(x,-709.08),709.0)|n:round(c*1.4426950408889634)|r:c-(n*0.6931471805599453)|"
        f"q:r+((r*r)*{EXP_SHORT})|s:power_of_two(n)|{{(s*q)+(s-1.0),{{x,q,!(x==0.0)}},n==0.0}}"
    ),
    "tanh_of": "x|e:expm1_of(2.0*smaller(larger(x,-22.0),22.0))|divide(e,e+2.0)",
    "erf_of": f"x|{ERROR_PARTS}{{{{y-1.0,1.0-y,x>0.0}},e,near}}",
    "erfc_of": f"x|{ERROR_PARTS}{{{{y,2.0-y,x<0.0}},1.0-e,near}}",
}

KNOWN: dict[str, Definition] = {}


def definition(name: str, single: bool) -> Definition | None:
    """What a function is, if it is one of these."""
    short = single and name in SINGLE
    if not short and name not in TEXTS:
        return None
    key = f"{name} short" if short else name
    if key not in KNOWN:
        parts = (SINGLE[name] if short else TEXTS[name]).replace("||", "&or").split("|")
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
        KNOWN[key] = Definition(parameters, names, formulas)
    return KNOWN[key]


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
