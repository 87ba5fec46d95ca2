// Mathematics of kernels: functions that WGSL lacks, or lets a device compute too loosely, with PyTorch's
// answers for NaN, infinities and signed zeros.  Kernels take the functions they need (prelude.py).
// Polynomials are least-squares fits with equal errors; an infinity or NaN is always made from a value at run
// time, since constants that are not finite are refused.  Blank lines separate functions, and only those.

//= is_nan:
// Tests by bits: a compiler may assume that NaN does not occur.
fn is_nan(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }

//= is_infinite:
fn is_infinite(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) == 0x7f800000u; }

//= is_finite:
fn is_finite(x: f32) -> bool { return (bitcast<u32>(x) & 0x7f800000u) != 0x7f800000u; }

//= sign_bit:
fn sign_bit(x: f32) -> bool { return bitcast<u32>(x) >= 0x80000000u; }

//= nan_from:
// NaN, and an infinity with the sign of x.
fn nan_from(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) | 0x7fc00000u); }

//= infinity_like:
fn infinity_like(x: f32) -> f32 { return bitcast<f32>((bitcast<u32>(x) & 0x80000000u) | 0x7f800000u); }

//= copy_sign:
fn copy_sign(x: f32, y: f32) -> f32 {
  return bitcast<f32>((bitcast<u32>(x) & 0x7fffffffu) | (bitcast<u32>(y) & 0x80000000u));
}

//= nothing_of: copy_sign nan_from is_finite
// 0 * x: NaN where x is not finite.
fn nothing_of(x: f32) -> f32 { return select(copy_sign(0.0, x), nan_from(x), !is_finite(x)); }

//= sign_of:
fn sign_of(x: f32) -> f32 { return f32(select(0, 1, x > 0.0) - select(0, 1, x < 0.0)); }

//= upper_half:
// The upper 12 bits of a mantissa: products of two such numbers are exact, fused or not.
fn upper_half(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) & 0xfffff000u); }

//= larger: is_nan
// Maximum and minimum that hand NaN on, and those that prefer numbers.
fn larger(x: f32, y: f32) -> f32 { return select(select(max(x, y), y, is_nan(y)), x, is_nan(x)); }

//= smaller: is_nan
fn smaller(x: f32, y: f32) -> f32 { return select(select(min(x, y), y, is_nan(y)), x, is_nan(x)); }

//= larger_number: is_nan
fn larger_number(x: f32, y: f32) -> f32 { return select(select(max(x, y), x, is_nan(y)), y, is_nan(x)); }

//= smaller_number: is_nan
fn smaller_number(x: f32, y: f32) -> f32 { return select(select(min(x, y), x, is_nan(y)), y, is_nan(x)); }

//= square:
fn square(x: f32) -> f32 { return x * x; }

//= divide: divide_edge
// x / y by the reciprocal, corrected by what the quotient leaves over: 91 / 13 is 7.  Where the reciprocal or the quotient
// is no normal number, with care.  One return and no && or ||, which software for GPUs makes branches of: SwiftShader took
// minutes and 15 GB to compile a formula of fifty divisions.
fn divide(x: f32, y: f32) -> f32 {
  let inverse = 1.0 / y;
  let q = x * inverse;
  let better = fma(fma(-q, y, x), inverse, q);
  let normal = (bitcast<u32>(inverse) & 0x7fffffffu) - 0x00800000u < 0x7e000000u;
  let usual = normal & ((bitcast<u32>(better) & 0x7fffffffu) - 0x00800000u < 0x7e000000u);
  var quotient = better;
  if (!usual) { quotient = divide_edge(x, y, inverse); }
  return quotient;
}

//= ratio:
// x / y where y and the quotient are normal numbers or the quotient is 0, without a branch.
fn ratio(x: f32, y: f32) -> f32 {
  let inverse = 1.0 / y;
  let q = x * inverse;
  return fma(fma(-q, y, x), inverse, q);
}

//= divide_edge: is_finite nan_from
// Drivers' compilers take x / x for 1 whatever x is: of 0 / 0 and infinity / infinity it is said that they are none.
fn divide_edge(x: f32, y: f32, inverse: f32) -> f32 {
  let q = x * inverse;
  let rest = fma(-q, y, x);
  let better = fma(rest, inverse, q);
  let normal = (bitcast<u32>(inverse) & 0x7fffffffu) - 0x00800000u < 0x7e000000u;
  var quotient = select(better, q, rest == 0.0);
  if (!(normal & is_finite(better))) {
    let scale = select(16.0, 0.0625, abs(y) > 1.0);
    quotient = (x * scale) / (y * scale);
  }
  let none = ((x == 0.0) & (y == 0.0)) | (!is_finite(x) & !is_finite(y));
  return select(quotient, nan_from(y), none);
}

//= square_root: is_finite nan_from
fn square_root(x: f32) -> f32 {
  let s = sqrt(x);
  let better = s + fma(-s, s, x) / (2.0 * s);
  return select(select(s, better, is_finite(better)), nan_from(x), x < 0.0);
}

//= reciprocal_root: infinity_like nan_from divide square_root
fn reciprocal_root(x: f32) -> f32 {
  if (x == 0.0) { return infinity_like(x); }
  if (x < 0.0) { return nan_from(x); }
  return divide(1.0, square_root(x));
}

//= scaled:
// 2 to the power n, for n from -252 to 254, times x, in two steps so that neither overflows.
fn scaled(x: f32, n: i32) -> f32 {
  let half = n / 2;
  return x * bitcast<f32>((half + 127) << 23u) * bitcast<f32>((n - half + 127) << 23u);
}

//= exp_scaled: is_nan infinity_like scaled
// exp(x) times 2 to the power n.
fn exp_scaled(x: f32, by: i32) -> f32 {
  if (is_nan(x)) { return x; }
  if (x > 90.0) { return infinity_like(abs(x)); }
  if (x < -104.0) { return 0.0; }
  let n = round(x * 1.44269504);
  let r = fma(n, 2.12194440e-4, fma(n, -0.693359375, x));
  let tail = fma(fma(fma(fma(fma(0.000198581232, r, 0.00139344865), r, 0.00833336182), r, 0.0416664575), r, 0.166666665), r, 0.5);
  return scaled(1.0 + fma(r * r, tail, r), i32(n) + by);
}

//= exp_inside:
// exp(x) from -87 to 87.  x is n times log(2), and r.  A number so large that its last binary place counts ones takes the
// rounding, so that no conversion is needed, which GPUs do a quarter as often as sums; the mask keeps compilers from
// taking that number off again before it has rounded.
fn exp_inside(x: f32) -> f32 {
  let rounded = bitcast<u32>(fma(x, 1.44269504, 12582912.0)) & 0x7fffffffu;
  let n = bitcast<f32>(rounded) - 12582912.0;
  let r = fma(n, 2.12194440e-4, fma(n, -0.693359375, x));
  let tail = fma(fma(fma(fma(fma(0.000198581232, r, 0.00139344865), r, 0.00833336182), r, 0.0416664575), r, 0.166666665), r, 0.5);
  return (1.0 + fma(r * r, tail, r)) * bitcast<f32>((rounded << 23u) + 0x3f800000u);
}

//= exp_of: exp_edge exp_inside
fn exp_of(x: f32) -> f32 {
  if ((bitcast<u32>(x) & 0x7fffffffu) > 0x42ae0000u) { return exp_edge(x); }
  return exp_inside(x);
}

//= exp_edge: infinity_like exp_scaled
// exp(x) below -87, above 87, and of NaN.
fn exp_edge(x: f32) -> f32 {
  if (x > 88.8) { return infinity_like(abs(x)); }
  return exp_scaled(x, 0);
}

//= exp_below:
// exp(x) of what is at most about 32, without a branch: where it would be less than the least normal number, 0.  The
// power of two is split off as in exp_inside, as the device's own exponential loses digits with the size of its argument.
fn exp_below(x: f32) -> f32 {
  let rounded = bitcast<u32>(fma(x, 1.44269504, 12582912.0)) & 0x7fffffffu;
  let n = bitcast<f32>(rounded) - 12582912.0;
  let r = fma(x, 1.92596303e-8, fma(x, 1.44269504, -n));
  return select(exp2(r) * bitcast<f32>((rounded << 23u) + 0x3f800000u), 0.0, x < -87.0);
}

//= exp2_of: is_nan infinity_like scaled
fn exp2_of(x: f32) -> f32 {
  if (is_nan(x)) { return x; }
  if (x > 128.0) { return infinity_like(abs(x)); }
  if (x < -151.0) { return 0.0; }
  let n = round(x);
  let r = (x - n) * 0.693147181;
  let tail = fma(fma(fma(fma(fma(0.000198581232, r, 0.00139344865), r, 0.00833336182), r, 0.0416664575), r, 0.166666665), r, 0.5);
  return scaled(1.0 + fma(r * r, tail, r), i32(n));
}

//= expm1_of: is_nan exp_of
fn expm1_of(x: f32) -> f32 {
  if (x == 0.0) { return x; }
  if (abs(x) > 0.5 || is_nan(x)) { return exp_of(x) - 1.0; }
  let tail = fma(fma(fma(fma(fma(fma(2.48416704e-05, x, 0.000199619568), x, 0.00138890402), x, 0.00833318276), x, 0.0416666643), x, 0.166666671), x, 0.5);
  return fma(x * x, tail, x);
}

//= log_tail:
// log(1 + m) - m for m from sqrt(1/2) - 1 to sqrt(2) - 1.
fn log_tail(m: f32) -> f32 {
  let p = fma(fma(fma(fma(fma(fma(fma(fma(0.070357204, m, -0.115140381), m, 0.116773979), m, -0.124202343), m, 0.142492961), m, -0.166680534), m, 0.200007154), m, -0.24999994), m, 0.333333312);
  return m * m * fma(m, p, -0.5);
}

//= split_exponent:
// A positive number as 2**y * (1 + x), x from sqrt(1/2) - 1 to sqrt(2) - 1.
fn split_exponent(x: f32) -> vec2<f32> {
  var bits = bitcast<u32>(x);
  var e = 0;
  if (bits < 0x00800000u) {
    let shift = 23u - firstLeadingBit(bits);
    bits = bits << shift;
    e = 1 - i32(shift);
    bits = (bits & 0x007fffffu) | 0x00800000u;
  }
  e += i32(bits >> 23u) - 127;
  var m = bitcast<f32>((bits & 0x007fffffu) | 0x3f800000u);
  if (m > 1.41421356) {
    m *= 0.5;
    e += 1;
  }
  return vec2(m - 1.0, f32(e));
}

//= log_edge: infinity_like is_nan sign_bit nan_from
// What a logarithm of something that is no positive finite number is.
fn log_edge(x: f32) -> f32 {
  if ((bitcast<u32>(x) & 0x7fffffffu) == 0u) { return -infinity_like(abs(x)); }
  if (is_nan(x) || sign_bit(x)) { return nan_from(x); }
  return x;
}

//= is_positive:
fn is_positive(x: f32) -> bool { return bitcast<u32>(x) - 1u < 0x7f7fffffu; }

//= log_of: is_positive log_edge split_exponent log_tail
fn log_of(x: f32) -> f32 {
  if (!is_positive(x)) { return log_edge(x); }
  let s = split_exponent(x);
  return fma(s.y, 0.693359375, s.x + fma(s.y, -2.12194440e-4, log_tail(s.x)));
}

//= log2_of: is_positive log_edge split_exponent log_tail
fn log2_of(x: f32) -> f32 {
  if (!is_positive(x)) { return log_edge(x); }
  let s = split_exponent(x);
  let t = log_tail(s.x);
  return s.y + fma(s.x, 1.44269504, t * 1.44269504);
}

//= log10_of: is_positive log_edge split_exponent log_tail
fn log10_of(x: f32) -> f32 {
  if (!is_positive(x)) { return log_edge(x); }
  let s = split_exponent(x);
  let t = log_tail(s.x);
  let low = fma(s.y, 0.000248745664, fma(t, 0.000700731903, s.x * 0.000700731903));
  return fma(s.y, 0.30078125, fma(s.x, 0.43359375, fma(t, 0.43359375, low)));
}

//= log1p_of: log_tail is_positive log_of
fn log1p_of(x: f32) -> f32 {
  if (x > -0.29 && x < 0.41) { return x + log_tail(x); }
  let u = 1.0 + x;
  let y = log_of(u);
  return select(y, y + (x - (u - 1.0)) / u, is_positive(u));
}

//= two_over_pi:
// --- Angles ---
// 2/pi, 32 bits an element.
const two_over_pi = array<u32, 7>(0x00000000u, 0x28be60dbu, 0x9391054au, 0x7f09d5f4u, 0x7d4d3770u, 0x36d8a566u, 0x4f10e410u);

//= high_product:
// The high word of a product.
fn high_product(a: u32, b: u32) -> u32 {
  let al = a & 0xffffu;
  let ah = a >> 16u;
  let bl = b & 0xffffu;
  let bh = b >> 16u;
  let mid = ah * bl + ((al * bl) >> 16u);
  let mid2 = al * bh + (mid & 0xffffu);
  return ah * bh + (mid >> 16u) + (mid2 >> 16u);
}

//= large_angle: two_over_pi high_product sign_bit
// A large angle as (what is left of it, number of quarter turns modulo 4): the mantissa times 2/pi in whole numbers.
fn large_angle(x: f32) -> vec2<f32> {
  let bits = bitcast<u32>(x);
  let mantissa = (bits << 8u) | 0x80000000u;
  let e = ((bits >> 23u) & 0xffu) - 126u;
  let w = e >> 5u;
  let shift = e & 31u;
  var table = two_over_pi;
  var hi = table[w];
  var mid = table[w + 1u];
  var lo = table[w + 2u];
  if (shift != 0u) {
    let next = table[min(w + 3u, 6u)];
    hi = (hi << shift) | (mid >> (32u - shift));
    mid = (mid << shift) | (lo >> (32u - shift));
    lo = (lo << shift) | (next >> (32u - shift));
  }
  let carry = high_product(mantissa, lo);
  let low = mantissa * mid + carry;
  var high = mantissa * hi + high_product(mantissa, mid) + select(0u, 1u, low < carry);
  var q = high >> 30u;
  high = high & 0x3fffffffu;
  var size = 1.0;
  var below = low;
  if ((high & 0x20000000u) != 0u) {
    q += 1u;
    below = ~low + 1u;
    high = (0x40000000u - high) - select(1u, 0u, low == 0u);
    size = -1.0;
  }
  let part = fma(f32(high), 9.31322575e-10, f32(below) * 2.16840434e-19);
  var turn = f32(q & 3u);
  var rest = size * part * 1.57079633;
  if (sign_bit(x)) {
    rest = -rest;
    turn = -turn;
  }
  return vec2(rest, turn);
}

//= reduced_angle: large_angle
fn reduced_angle(x: f32) -> vec2<f32> {
  if (abs(x) > 1000.0) { return large_angle(x); }
  let q = round(x * 0.636619772);
  return vec2(fma(q, -7.54978995e-08, fma(q, -4.83751297e-04, fma(q, -1.5703125, x))), q);
}

//= sine_near_zero:
fn sine_near_zero(r: f32) -> f32 {
  let z = r * r;
  return fma(r * z, fma(fma(fma(2.7248804e-06, z, -0.000198400802), z, 0.00833333187), z, -0.166666667), r);
}

//= cosine_near_zero:
fn cosine_near_zero(r: f32) -> f32 {
  let z = r * r;
  return fma(z * z, fma(fma(fma(-2.75573192e-07, z, 2.48015873e-05), z, -0.00138888889), z, 0.0416666667), fma(z, -0.5, 1.0));
}

//= sin_of: is_finite nan_from reduced_angle sine_near_zero cosine_near_zero
fn sin_of(x: f32) -> f32 {
  if (!is_finite(x)) { return nan_from(x); }
  if (x == 0.0) { return x; }
  let a = reduced_angle(x);
  let q = i32(a.y) & 3;
  let y = select(sine_near_zero(a.x), cosine_near_zero(a.x), (q & 1) == 1);
  return select(y, -y, q >= 2);
}

//= cos_of: is_finite nan_from reduced_angle cosine_near_zero sine_near_zero
fn cos_of(x: f32) -> f32 {
  if (!is_finite(x)) { return nan_from(x); }
  let a = reduced_angle(x);
  let q = i32(a.y) & 3;
  let y = select(cosine_near_zero(a.x), sine_near_zero(a.x), (q & 1) == 1);
  return select(y, -y, q == 1 || q == 2);
}

//= tanh_of: copy_sign
// 1 - 2t / (1 + t), where t is exp(-2a), and near 0 its series: what a GPU's own power of two is wrong by counts less the
// larger `a` is.  Both without a branch, in few instructions: a GPU's memory waits for its arithmetic here.
fn tanh_of(x: f32) -> f32 {
  let a = abs(x);
  let t = exp2(a * -2.88539008);
  let far = fma(t / (1.0 + t), -2.0, 1.0);
  let z = a * a;
  let tail = fma(fma(fma(fma(-0.00589516, z, 0.02079597), z, -0.05378383), z, 0.13331924), z, -0.33333298);
  return copy_sign(select(fma(a * z, tail, a), far, a >= 0.6), x);
}

//= exp_minus_square: upper_half
// --- Error function and gamma function ---
// exp(-x * x) up to 9.3, as exp_inside has it: the part of the square that would be rounded off is added to the rest.
fn exp_minus_square(x: f32) -> f32 {
  let h = upper_half(x);
  let rounded = bitcast<u32>(fma(-h * h, 1.44269504, 12582912.0)) & 0x7fffffffu;
  let n = bitcast<f32>(rounded) - 12582912.0;
  let r = fma(n, 2.12194440e-4, fma(n, -0.693359375, -h * h)) + (h - x) * (h + x);
  let tail = fma(fma(fma(fma(fma(0.000198581232, r, 0.00139344865), r, 0.00833336182), r, 0.0416664575), r, 0.166666665), r, 0.5);
  return (1.0 + fma(r * r, tail, r)) * bitcast<f32>((rounded << 23u) + 0x3f800000u);
}

//= erf_of: is_nan copy_sign erfc_positive
// Both ways are gone and one is taken: GPUs wait longer where neighbours go different ones.
fn erf_of(x: f32) -> f32 {
  let z = x * x;
  let near = x * fma(fma(fma(fma(fma(fma(fma(-9.64151595e-06, z, 0.000112569479), z, -0.000848282884), z, 0.00522094543), z, -0.0268654), z, 0.11283782), z, -0.376126384), z, 1.12837917);
  let far = copy_sign(1.0 - erfc_positive(abs(x)), x);
  return select(select(far, near, abs(x) < 1.0), x, is_nan(x));
}

//= erfc_positive: exp_minus_square
// exp(-x * x) times a polynomial of (x - 2) / (x + 2), over x + 2; 0 where it would be less than the least normal number.
fn erfc_positive(x: f32) -> f32 {
  let a = min(x, 9.3);
  let about = 1.0 / (a + 2.0);
  let inverse = fma(fma(-about, a + 2.0, 1.0), about, about);
  let t = fma(-4.0, inverse, 1.0);
  let p = fma(fma(fma(fma(fma(fma(fma(fma(fma(-5.66708259e-05, t, -0.000545648043), t, -0.000724272046), t, 0.00305620721), t, 0.00643718336), t, -0.0215062462), t, -0.0364364758), t, 0.279471815), t, -0.687160909), t, 1.02158272);
  return select(exp_minus_square(a) * (p * inverse), 0.0, x > 9.3);
}

//= erfc_of: is_nan erfc_positive
fn erfc_of(x: f32) -> f32 {
  let y = erfc_positive(abs(x));
  return select(select(y, 2.0 - y, x < 0.0), x, is_nan(x));
}

//= power_positive: split_exponent log_tail infinity_like upper_half scaled
// --- Powers ---
// x to the power y for a positive finite x.  log2(x) is e + upper + lower; products of halves of mantissas are exact, so
// the whole number in y * log2(x) comes off before anything is rounded.
fn power_positive(x: f32, y: f32) -> f32 {
  let s = split_exponent(x);
  let t = log_tail(s.x);
  let about = y * (s.y + (s.x + t) * 1.44269504);
  if (about > 130.0) { return infinity_like(abs(x)); }
  if (about < -160.0) { return 0.0; }
  let m = upper_half(s.x);
  let upper = upper_half((s.x + t) * 1.44269504);
  let lower = (m * 1.4423828125 - upper) + (m * 0.000312228389 + ((s.x - m) + t) * 1.44269504);
  let y1 = upper_half(y);
  let y2 = y - y1;
  let a = y1 * s.y;
  let b = y1 * upper;
  let whole = round(a) + round(b);
  let rest = (a - round(a)) + (b - round(b)) + (y2 * s.y + (y2 * upper + y * lower));
  let n = round(rest);
  let r = (rest - n) * 0.693147181;
  let tail = fma(fma(fma(fma(fma(0.000198581232, r, 0.00139344865), r, 0.00833336182), r, 0.0416664575), r, 0.166666665), r, 0.5);
  return scaled(1.0 + fma(r * r, tail, r), i32(whole + n));
}

//= power: is_nan nan_from is_infinite infinity_like sign_bit power_positive
// C's pow.
fn power(x: f32, y: f32) -> f32 {
  if (y == 0.0 || x == 1.0) { return 1.0; }
  if (is_nan(x) || is_nan(y)) { return nan_from(x + y); }
  let a = abs(x);
  let whole = abs(y) >= 16777216.0 || y == trunc(y);
  let odd = abs(y) < 16777216.0 && whole && (i32(y) & 1) != 0;
  if (is_infinite(y)) {
    if (a == 1.0) { return 1.0; }
    return select(0.0, infinity_like(abs(y)), (a > 1.0) == (y > 0.0));
  }
  var out = 0.0;
  if (a == 0.0 || is_infinite(x)) { out = select(0.0, infinity_like(a), (a != 0.0) == (y > 0.0)); }
  else if (sign_bit(x) && !whole) { return nan_from(x); }
  else { out = power_positive(a, y); }
  return select(out, -out, sign_bit(x) && odd);
}

//= power_int:
fn power_int(x: i32, y: i32) -> i32 {
  if (y < 0) {
    if (x == 1) { return 1; }
    return select(0, 1 - 2 * (y & 1), x == -1);
  }
  var base = x;
  var left = y;
  var out = 1;
  while (left > 0) {
    if ((left & 1) == 1) { out *= base; }
    base *= base;
    left >>= 1u;
  }
  return out;
}

//= floor_divide_int:
// --- Division with remainder, as Python's ---
fn floor_divide_int(x: i32, y: i32) -> i32 {
  if (y == 0) { return 0; }
  let q = x / y;
  return select(q, q - 1, q * y != x && (x < 0) != (y < 0));
}

//= remainder_int:
fn remainder_int(x: i32, y: i32) -> i32 {
  if (y == 0) { return 0; }
  let r = x - x / y * y;
  return select(r, r + y, r != 0 && (r < 0) != (y < 0));
}

//= fmod_of: is_finite is_nan nan_from copy_sign
// What is left of x, with its sign.
fn fmod_of(x: f32, y: f32) -> f32 {
  if (!is_finite(x) || is_nan(y) || y == 0.0) { return nan_from(x + y); }
  let a = bitcast<u32>(x) & 0x7fffffffu;
  let b = bitcast<u32>(y) & 0x7fffffffu;
  if (a < b) { return x; }
  // Long division of whole mantissas, eight bits at a time: exact.
  let divisor = select(b, (b & 0x007fffffu) | 0x00800000u, b >= 0x00800000u);
  let e = max(b >> 23u, 1u);
  var rest = select(a, (a & 0x007fffffu) | 0x00800000u, a >= 0x00800000u) % divisor;
  var bits = max(a >> 23u, 1u) - e;
  while (bits > 0u) {
    let step = min(bits, 8u);
    rest = (rest << step) % divisor;
    bits -= step;
  }
  if (rest == 0u) { return copy_sign(0.0, x); }
  let shift = min(23u - firstLeadingBit(rest), e - 1u);
  rest = rest << shift;
  return copy_sign(bitcast<f32>(select(rest, (rest & 0x007fffffu) | ((e - shift) << 23u), rest >= 0x00800000u)), x);
}

//= remainder: fmod_of sign_bit
// A remainder of 0 has the sign of x, as in PyTorch.
fn remainder(x: f32, y: f32) -> f32 {
  let r = fmod_of(x, y);
  return select(r, r + y, r != 0.0 && sign_bit(r) != sign_bit(y));
}

//= trunc_divide: divide
fn trunc_divide(x: f32, y: f32) -> f32 { return trunc(divide(x, y)); }

//= floor_divide: is_nan is_infinite nan_from copy_sign infinity_like fmod_of sign_bit divide
fn floor_divide(x: f32, y: f32) -> f32 {
  if (is_nan(x) || is_nan(y) || (is_infinite(x) && y != 0.0) || (x == 0.0 && y == 0.0)) { return nan_from(x); }
  if (y == 0.0) { return copy_sign(infinity_like(abs(x)), x) * copy_sign(1.0, y); }
  var r = fmod_of(x, y);
  if (r != 0.0 && sign_bit(r) != sign_bit(y)) { r += y; }
  if (is_infinite(y)) { return select(copy_sign(0.0, x) , -1.0, x != 0.0 && sign_bit(x) != sign_bit(y)); }
  let q = divide(x - r, y);
  let down = round(q);
  return select(copy_sign(0.0, x / y), down, down != 0.0);
}

//= shift_left:
// --- Bits and conversions ---
fn shift_left(x: i32, n: i32) -> i32 { return select(0, x << (u32(n) & 31u), n >= 0 && n < 32); }

//= shift_right:
fn shift_right(x: i32, n: i32) -> i32 { return select(select(0, -1, x < 0), x >> (u32(n) & 31u), n >= 0 && n < 32); }

//= invert:
// `~`: for a bool type, not.
fn invert(x: i32) -> i32 { return select(~x, 1 - x, is_bool); }

//= cut:
// A float as an element of a whole-number type: towards zero; what does not fit is the least number, as processors have it.
fn cut(x: f32) -> i32 { return select(-2147483647 - 1, i32(x), x >= -2147483648.0 && x < 2147483648.0); }

//= cut_unsigned: cut
// The same for one without a sign; negative ones count down from the end.
fn cut_unsigned(x: f32) -> u32 { return select(u32(cut(x)), u32(x), x >= 0.0 && x < 4294967296.0); }

//= signed_checked: beyond
// A number without a sign as one with it, in ops that bring `beyond` (rare.wgsl).
fn signed_checked(x: u32) -> i32 {
  if (i32(x) < 0) { beyond(); }
  return i32(x);
}

//= to_bfloat16:
// The nearest bfloat16, a tie to the even one.
fn to_bfloat16(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  let near = bitcast<f32>((bits + 0x7fffu + ((bits >> 16u) & 1u)) & 0xffff0000u);
  return select(near, x, (bits & 0x7fffffffu) > 0x7f800000u);
}

//= to_float16: copy_sign
// To nearest even, by bits: drivers take f32(f16(x)) for x.  Below 2^-14 there is no smaller exponent; from 65520 on it is
// infinity.
fn to_float16(x: f32) -> f32 {
  let bits = bitcast<u32>(x) & 0x7fffffffu;
  let near = (bits + 0xfffu + ((bits >> 13u) & 1u)) & 0xffffe000u;
  let tiny = bitcast<f32>(bitcast<u32>(abs(x) + 0.5) & 0x7fffffffu) - 0.5;
  let y = select(bitcast<f32>(select(near, 0x7f800000u, bits >= 0x477ff000u)), tiny, bits < 0x38800000u);
  return select(copy_sign(y, x), x, bits > 0x7f800000u);
}

//= to_int: is_nan
// Towards zero, NaN to 0, kept in range.
fn to_int(x: f32) -> i32 {
  if (is_nan(x)) { return 0; }
  if (x >= 2147483520.0) { return 2147483647; }
  return i32(max(x, -2147483648.0));
}

//= philox: high_product
// --- Random numbers: Philox 4x32-10, see dsl/reference/random.py ---
fn philox(counter: vec4<u32>, key: vec2<u32>) -> vec4<u32> {
  var c = counter;
  var k = key;
  for (var round = 0; round < 10; round++) {
    let high0 = high_product(0xD2511F53u, c.x);
    let high1 = high_product(0xCD9E8D57u, c.z);
    c = vec4(high1 ^ c.y ^ k.x, 0xCD9E8D57u * c.z, high0 ^ c.w ^ k.y, 0xD2511F53u * c.x);
    k += vec2(0x9E3779B9u, 0xBB67AE85u);
  }
  return c;
}

//= random_bits: philox
// Those of a draw at four neighbours, of whose places the first is a multiple of four.
fn random_bits(site: u32, place: u32) -> vec4<u32> {
  return philox(vec4(place >> 2u, site, p.call, 0u), vec2(p.seed0, p.seed1));
}

//= fraction:
fn fraction(bits: u32) -> f32 { return f32(bits >> 8u) * 5.96046448e-08; }

//= uniform_random: random_bits fraction
fn uniform_random(site: u32, place: u32) -> f32 { return fraction(random_bits(site, place)[place & 3u]); }
