"""The functions of formulas as formulas of what processors have, in the notation of codegen/data/written.py.

What is written here serves one number and two at once alike, in doubles.  `name:formula|` names a part; the last part
is the value.  Functions that are missing are asked of who runs the module."""

from __future__ import annotations

from dataclasses import dataclass

from ...data.nodes import Node
from ...data.written import read_formula


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
        one = f"(0.0-{c.removeprefix('-')})" if c.startswith("-") else c
        out = f"(({out}*{x})+{one})" if out != "" else one
    return out


# e**r for r from -ln(2)/2 to ln(2)/2, less 1 + r, over r * r.
EXP_REST = horner(
    "r",
    "1.6059043836821613e-10 2.08767569878681e-9 2.505210838544172e-8 2.755731922398589e-7 2.7557319223985893e-6 "
    "2.48015873015873e-5 1.984126984126984e-4 1.388888888888889e-3 8.333333333333333e-3 4.1666666666666664e-2 "
    "0.16666666666666666 0.5",
)
# The same to ten digits, all that float32 has a use for.
EXP_SHORT = horner(
    "r",
    "1.979034444719193e-4 1.3944660227530603e-3 8.333497072622518e-3 4.166629493817885e-2 0.16666665866926994 "
    "0.500000006768508",
)
# To twelve, where 1 is taken away.
EXP_LESS_ONE = horner(
    "r",
    "2.470826798704804e-5 1.990895289566974e-4 1.388919726025889e-3 8.33328178679076e-3 4.166666440366322e-2 "
    "0.16666666784515158 0.5000000000427167",
)
# What makes a sum's last bits a whole number, and that number an exponent.
WHOLE_PART = "6755399441056767.0"
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
    "check_value": "x,y|x",
    "trunc_divide": "x,y|trunc(divide(x,y))",
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
    "floor_divide_int": (
        "x,y|s:{y,1,(y==0)||(y==(-1))}|q:quotient(x,s)|{{{q,q-1,(!((q*s)==x))&&(!((x<0)==(s<0)))},0-x,y==(-1)},0,y==0}"
    ),
    "remainder_int": ("x,y|s:{y,1,(y==0)||(y==(-1))}|r:x-(quotient(x,s)*s)|{r,r+y,(!(r==0))&&(!((r<0)==(s<0)))}"),
    "fmod_int": "x,y|s:{y,1,(y==0)||(y==(-1))}|x-(quotient(x,s)*s)",
    "shift_left": "x,y|{0,shifted(x,y),(y>=0)&&(y<32)}",
    "shift_right": "x,y|shifted_down(x,{31,y,(y>=0)&&(y<32)})",
    # Whole numbers of T, which must fit into 32 bits.
    "multiply_checked": "x,y|narrow_checked(wide_product(x,y))",
    "abs_checked": "x|max(x,subtract_checked(0,min(x,0)))",
    "floor_divide_checked": "x,y|{floor_divide_int(x,y),subtract_checked(0,x),y==(-1)}",
    "trunc_divide_checked": "x,y|s:{y,1,(y==0)||(y==(-1))}|{{quotient(x,s),0,y==0},subtract_checked(0,x),y==(-1)}",
    "shift_left_checked": "x,y|{narrow_checked(wide_shift(widened(x),min(y,32))),0,(y<0)||(x==0)}",
}

# Of 64 bits, which wrap.
LONG: dict[str, str] = {
    "abs": "x|max(x,0-x)",
    "sign": "x|{{0,-1,x<0},1,x>0}",
    "shift_left": "x,y|{0,shifted(x,y),(y>=0)&&(y<64)}",
    "shift_left_checked": "x,y|shift_left(x,y)",
    "shift_right": "x,y|shifted_down(x,{63,y,(y>=0)&&(y<64)})",
    "power_checked": "x,y|power_long(x,y)",
    "power_int": "x,y|power_long(x,y)",
    "add_checked": "x,y|x+y",
    "subtract_checked": "x,y|x-y",
    "multiply_checked": "x,y|x*y",
    "wide_sum": "x,y|x+y",
    "wide_difference": "x,y|x-y",
    "wide_product": "x,y|x*y",
    "wide_times": "x,y|x*y",
    "widened": "x|x",
    "narrow_checked": "x|x",
    "to_int": "x|cut_long(x)",
    "cut_checked": "x|cut_long(x)",
}

# log((1 + s) / (1 - s)) less 2s, over s*s*s, of z = s*s.
LOG_SHORT = horner(
    "z", "0.19584033021369057 0.22176200261809953 0.28572108798230567 0.3999999562604454 0.6666666667578616"
)
# The error function over its operand, of q = x*x up to 4.6**2, from where on it is 1 to ten digits; erfc(a) * e**(a*a)
# up to 10.2, from where on erfc(a) is 0 as a float32; tanh over its operand up to 9.03, from where on it is 1 as one.
# Each is a quotient.
ERROR_OVER = horner(
    "q",
    "2.726506090657343e-9 9.209326935325857e-7 3.323315588676032e-5 6.245119273612875e-4 6.513590469565893e-3 "
    "6.336977877538072e-2 0.23221243828325172 1.1283791669839058",
)
ERROR_UNDER = horner(
    "q",
    "7.628627791701011e-8 6.518640818780004e-6 1.4989373790306505e-4 2.1597765552723194e-3 2.095890031525944e-2 "
    "0.135868789386686 0.5391262438202503 1.0",
)
REST_OVER = horner(
    "a",
    "1.0018766964975624e-2 9.283998415148115e-2 0.40242270031407085 1.0006852927572576 1.4342568358539063 "
    "0.9999999999189172",
)
REST_UNDER = horner(
    "a",
    "1.7757824950861582e-2 0.16455350679831027 0.7221773283782321 1.8556604619420007 2.89231059916489 "
    "2.5626359919402946 1.0",
)
TANH_OVER = horner(
    "q",
    "3.6802044998649016e-11 1.1127834906796299e-7 4.229272415047459e-5 4.426708717399979e-3 0.14099784865964574 1.0",
)
TANH_UNDER = horner(
    "q",
    "2.954797454914598e-9 2.6055712329660554e-6 5.009785888315038e-4 2.920376987951318e-2 0.4743311817239419 1.0",
)
# (sin(r) / r - 1) / z and (cos(r) - 1 + z / 2) / (z * z), of z = r * r up to (pi / 4)**2, as fdlibm has them.
SINE = "-2.5050760253406863e-8 2.7557313707070068e-6 -1.984126982985795e-4 8.33333333332249e-3 -0.16666666666666632"
COSINE = "2.087572321298175e-9 -2.7557314351390663e-7 2.480158728947673e-5 -1.388888888887411e-3 4.1666666666666602e-2"
# A number up to FAR less k quarters of a turn, what is left's sine and cosine; whether k is odd, and half of it.
FAR = "1048576.0"
TURN_PARTS = (
    "k:round(x*0.6366197723675814)|"
    "r:((x-(k*1.5707963267341256))-(k*6.077100506303966e-11))-(k*2.0222662487959506e-21)|z:r*r|"
    f"s:r+((r*z)*{horner('z', SINE)})|c:(1.0-(z*0.5))+((z*z)*{horner('z', COSINE)})|"
    "h:floor(k*0.5)|odd:!((h+h)==k)|g:h*0.5|minus:!(g==floor(g))|"
)
# For float32 and float16: right in doubles to ten digits.
SINGLE: dict[str, str] = {
    "trunc_divide": "x,y|trunc(rounded(divide(x,y)))",  # 1 / 0.1 is 10 in 32 bits
    "exp_of": (
        f"x|c:at_most(at_least(x,-709.08),710.0)|t:(c*1.4426950408889634)+{WHOLE_PART}|"
        f"r:c-((t-{WHOLE_PART})*0.6931471805599453)|(1.0+(r*(1.0+(r*{EXP_SHORT}))))*power_in(t)"
    ),
    "exp2_of": (
        f"x|c:at_most(at_least(x,-1023.0),1024.0)|t:c+{WHOLE_PART}|r:(c-(t-{WHOLE_PART}))*0.6931471805599453|"
        f"(1.0+(r*(1.0+(r*{EXP_SHORT}))))*power_in(t)"
    ),
    "expm1_of": (
        f"x|c:at_most(at_least(x,-709.08),709.0)|t:(c*1.4426950408889634)+{WHOLE_PART}|"
        f"r:c-((t-{WHOLE_PART})*0.6931471805599453)|q:r+((r*r)*{EXP_LESS_ONE})|s:power_in(t)|"
        "{x,(s*q)+(s-1.0),!(x==0.0)}"
    ),
    "log_of": (
        "x|k:near_exponent(x)|f:near_fraction(x)-1.0|s:divide(f,f+2.0)|z:s*s|"
        f"{{log_end(x),(k*0.6931471805599453)+((s+s)+((s*z)*{LOG_SHORT})),(x>0.0)&&(x<1e999)}}"
    ),
    # Of 1 + x; close to 1 what is above it is x itself.  Less -k keeps the sign of zero.
    "log1p_of": (
        "x|u:1.0+x|k:0.0-near_exponent(u)|f:{near_fraction(u)-1.0,x,k==0.0}|s:divide(f,f+2.0)|z:s*s|"
        f"{{log_end(u),((s+s)+((s*z)*{LOG_SHORT}))-(k*0.6931471805599453),(u>0.0)&&(u<1e999)}}"
    ),
    "sin_of": f"x|{TURN_PARTS}v:{{s,c,odd}}|{{{{sin_far(x),{{v,-v,minus}},abs(x)<={FAR}}},x,x==0.0}}",
    "cos_of": f"x|{TURN_PARTS}v:{{c,-s,odd}}|{{cos_far(x),{{v,-v,minus}},abs(x)<={FAR}}}",
    "tan_of": (f"x|{TURN_PARTS}v:divide({{s,-c,odd}},{{c,s,odd}})|{{{{tan_far(x),v,abs(x)<={FAR}}},x,x==0.0}}"),
    "tanh_of": f"x|v:at_most(at_least(x,-9.03),9.03)|q:v*v|divide(v*{TANH_OVER},{TANH_UNDER})",
    "erf_of": f"x|v:at_most(at_least(x,-4.6),4.6)|q:v*v|divide(v*{ERROR_OVER},{ERROR_UNDER})",
    "erfc_of": (f"x|a:at_most(abs(x),10.2)|y:exp_of(-(x*x))*divide({REST_OVER},{REST_UNDER})|{{y,2.0-y,x<0.0}}"),
    "power": (
        "x,y|a:abs(x)|m:{exp_of(y*log_of(a)),1.0,(y==0.0)||(a==1.0)}|whole:y==trunc(y)|"
        "odd:whole&&(!(y==(trunc(y*0.5)*2.0)))|"
        "{{m,-m,odd&&sign_bit(x)},(0.0-1e999)*0.0,((x<0.0)&&(x>(0.0-1e999)))&&(!whole)}"
    ),
}

# For rows in single floats (planning/rows.py): (e**r - 1 - r) / (r * r) to nine digits, and a number whose last bits as
# a float32 are 254 more than a whole one that is added to it, or 127 more.  What comes to 0, where scores are masked,
# say, is not computed: processors take long for numbers that small.
#
# exp_below: of what is not above 0; what is below the normal numbers is 0.
FLOAT: dict[str, str] = {
    "exp_below": (
        "x|low:x<(0.0-87.33654)|c:{x,0.0,low}|t:to_float((c*1.4426950408889634)+12583039.0)|n:t-12583039.0|"
        "r:(c-(n*0.693359375))+(n*2.121944400546906e-4)|z:r*r|"
        "q:((r*0.16666520398687454)+0.49999993432084905)+"
        "(z*(((r*8.368745141911327e-3)+4.16683907924035e-2)+(z*1.381453975387783e-3)))|"
        "{times_power_in(1.0+(r+(z*q)),t),0.0,low}"
    ),
    "exp_of": (
        "x|low:x<(0.0-104.0)|c:at_most({x,0.0,low},89.0)|t:to_float((c*1.4426950408889634)+12583166.0)|n:t-12583166.0|"
        "r:(c-(n*0.693359375))+(n*2.121944400546906e-4)|z:r*r|"
        "q:((r*0.16666520398687454)+0.49999993432084905)+"
        "(z*(((r*8.368745141911327e-3)+4.16683907924035e-2)+(z*1.381453975387783e-3)))|"
        "{times_power(1.0+(r+(z*q)),t),0.0,low}"
    ),
}

# Of what hardly any number is: left out where no point asks for it, and cheap enough to be computed where one does not.
RARE = ["log_end"]

KNOWN: dict[str, Definition] = {}


def definition(name: str, how: str) -> Definition | None:
    """What a function is, if it is one of these.  how: "single" for single floats, "float" for those that four points
    are computed in, "long" for whole numbers of 64 bits, "" for others."""
    if how == "float" and name not in FLOAT:
        return definition(name, "single")
    own = how == "single" and name in SINGLE or how == "long" and name in LONG or how == "float"
    if not own and name not in TEXTS:
        return None
    key = f"{name} {how}" if own else name
    if key not in KNOWN:
        texts = {"single": SINGLE, "float": FLOAT, "long": LONG}
        text = texts[how][name] if own else TEXTS[name]
        parts = text.replace("||", "&or").split("|")
        parameters = parts[0].split(",")
        names: list[str] = []
        formulas: list[Node] = []
        for part in parts[1:]:
            formula = part.replace("&or", "||")
            colon = formula.find(":")
            found = read_formula(formula[colon + 1 :], [*parameters, *names])
            if found is not None:
                formulas.append(found)
            if colon >= 0:
                names.append(formula[:colon])
        KNOWN[key] = Definition(parameters, names, formulas)
    return KNOWN[key]


# What functions answer, where that is not of their first operand's kind.  "w": a whole number of 64 bits.
ANSWERS: dict[str, str] = {
    "to_int": "i",
    "cut": "i",
    "cut_checked": "i",
    "narrow_checked": "i",
    "widened": "w",
    "wide_product": "w",
    "cut_long": "l",
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
    "at_least": "pmax",  # both hand the first on that is NaN
    "at_most": "pmin",
}
