// Functions of the prelude that only few ops need: those bring them (codegen/api/opdata.py).

//= tan_of: is_finite nan_from reduced_angle sine_near_zero cosine_near_zero divide
fn tan_of(x: f32) -> f32 {
  if (!is_finite(x)) { return nan_from(x); }
  if (x == 0.0) { return x; }
  let a = reduced_angle(x);
  let s = sine_near_zero(a.x);
  let c = cosine_near_zero(a.x);
  return select(divide(s, c), -divide(c, s), (i32(a.y) & 1) == 1);
}

//= asin_of: is_nan nan_from square_root copy_sign
fn asin_of(x: f32) -> f32 {
  let a = abs(x);
  if (a > 1.0 || is_nan(x)) { return nan_from(x); }
  let outside = a > 0.5;
  let z = select(a * a, 0.5 * (1.0 - a), outside);
  let r = select(a, square_root(z), outside);
  let p = fma(fma(fma(fma(fma(0.0534649155, z, 0.00498400236), z, 0.0337094052), z, 0.0443723633), z, 0.0750078085), z, 0.16666663);
  let y = fma(r * z, p, r);
  return copy_sign(select(y, 1.57079633 - 2.0 * y, outside), x);
}

//= acos_of: asin_of square_root
fn acos_of(x: f32) -> f32 {
  if (x < -0.5) { return 3.14159265 - 2.0 * asin_of(square_root(0.5 * (1.0 + x))); }
  if (x > 0.5) { return 2.0 * asin_of(square_root(0.5 * (1.0 - x))); }
  return 1.57079633 - asin_of(x);
}

//= atan_of: is_nan copy_sign
fn atan_of(x: f32) -> f32 {
  if (is_nan(x)) { return x; }
  let a = abs(x);
  var base = 0.0;
  var t = a;
  if (a > 2.41421356) {
    base = 1.57079633;
    t = -1.0 / a;
  } else if (a > 0.414213562) {
    base = 0.785398163;
    t = (a - 1.0) / (a + 1.0);
  }
  let z = t * t;
  let p = fma(fma(fma(fma(-0.0731948186, z, 0.11052355), z, -0.142988181), z, 0.200008403), z, -0.3333334);
  return copy_sign(base + fma(t * z, p, t), x);
}

//= atan2_of: is_nan nan_from copy_sign sign_bit is_infinite atan_of divide
fn atan2_of(y: f32, x: f32) -> f32 {
  if (is_nan(x) || is_nan(y)) { return nan_from(x + y); }
  let flat = bitcast<u32>(abs(y)) == 0u;
  if (flat) { return copy_sign(select(0.0, 3.14159265, sign_bit(x)), y); }
  if (x == 0.0) { return copy_sign(1.57079633, y); }
  if (is_infinite(x) && is_infinite(y)) { return copy_sign(select(0.785398163, 2.35619449, sign_bit(x)), y); }
  let a = atan_of(divide(abs(y), abs(x)));
  return copy_sign(select(a, 3.14159265 - a, sign_bit(x)), y);
}

//= sinh_of: exp_scaled copy_sign
// --- Hyperbolic functions ---
fn sinh_of(x: f32) -> f32 {
  let a = abs(x);
  if (a < 1.0) {
    let z = x * x;
    return fma(x * z, fma(fma(fma(2.8060321e-06, z, 0.000198381418), z, 0.0083333395), z, 0.166666666), x);
  }
  let half = exp_scaled(a, -1);
  return copy_sign(half - select(0.0, 0.25 / half, a < 20.0), x);
}

//= cosh_of: exp_scaled
fn cosh_of(x: f32) -> f32 {
  let half = exp_scaled(abs(x), -1);
  return half + select(0.0, 0.25 / half, abs(x) < 40.0);
}

//= asinh_of: copy_sign log1p_of square_root
fn asinh_of(x: f32) -> f32 {
  let a = abs(x);
  let large = a > 1e8; // its square may be infinite
  let y = log1p_of(select(a + a * a / (1.0 + square_root(fma(a, a, 1.0))), a, large));
  return copy_sign(select(y, y + 0.693147181, large), x);
}

//= acosh_of: nan_from log1p_of square_root
fn acosh_of(x: f32) -> f32 {
  if (x < 1.0) { return nan_from(x); }
  let large = x > 1e8;
  let t = x - 1.0;
  let y = log1p_of(select(t + square_root(fma(t, t, 2.0 * t)), t, large));
  return select(y, y + 0.693147181, large);
}

//= atanh_of: nan_from infinity_like copy_sign log1p_of
fn atanh_of(x: f32) -> f32 {
  let a = abs(x);
  if (a > 1.0) { return nan_from(x); }
  if (a == 1.0) { return infinity_like(x); }
  return copy_sign(0.5 * log1p_of(2.0 * a / (1.0 - a)), x);
}

//= erfinv_of: is_nan nan_from infinity_like log_of square_root
fn erfinv_of(x: f32) -> f32 {
  let a = abs(x);
  if (is_nan(x) || a > 1.0) { return nan_from(x); }
  if (a == 1.0) { return infinity_like(x); }
  let w = -log_of((1.0 - a) * (1.0 + a));
  if (w < 5.0) {
    let u = w - 2.5;
    return x * fma(fma(fma(fma(fma(fma(fma(fma(2.85347896e-08, u, 3.43727059e-07), u, -3.52885954e-06), u, -4.39678125e-06), u, 0.000218602194), u, -0.00125370752), u, -0.00417770774), u, 0.246640726), u, 1.50140942);
  }
  let u = square_root(w) - 3.0;
  return x * fma(fma(fma(fma(fma(fma(fma(fma(-0.000150348472, u, 7.59404593e-05), u, 0.00127898), u, -0.00364980442), u, 0.00577180976), u, -0.00762806417), u, 0.00943404025), u, 1.00167433), u, 2.83297703);
}

//= lgamma_positive: log_of
// The logarithm of the gamma function for x >= 0.5.  There is one logarithm: compilers put its text where it is called.
fn lgamma_positive(x: f32) -> f32 {
  let large = x >= 8.0;
  var y = select(x, 2.5, large);
  var product = 1.0;
  while (y >= 3.5) {
    y -= 1.0;
    product *= y;
  }
  let small = y < 1.5; // and the product is 1
  let logarithm = log_of(select(select(product, y, small), x, large));
  if (large) {
    let i = 1.0 / x;
    return fma(x - 0.5, logarithm, -x) + 0.918938533 + i * fma(i * i, fma(i * i, 7.93650794e-04, -2.77777778e-03), 0.0833333333);
  }
  let from_two = select(y - 2.0, y - 1.0, small);
  let u = from_two - 0.5;
  let p = fma(fma(fma(fma(fma(fma(fma(fma(fma(fma(6.1063818e-06, u, -1.59362562e-05), u, 2.66317967e-05), u, -7.55844098e-05), u, 0.000230492515), u, -0.000661249847), u, 0.00194871349), u, -0.00601829022), u, 0.019905184), u, -0.0746635985), u, 0.37957716);
  return fma((from_two + 1.0) * from_two, p, select(logarithm, -logarithm, small));
}

//= lgamma_of: is_nan is_infinite lgamma_positive infinity_like log_of sine_near_zero cosine_near_zero
fn lgamma_of(x: f32) -> f32 {
  if (is_nan(x)) { return x; }
  if (is_infinite(x)) { return abs(x); }
  let part = abs(x - round(x));
  let left = x < 0.5;
  if (left && part == 0.0) { return infinity_like(1.0 + abs(x)); }
  let right = lgamma_positive(select(x, 1.0 - x, left));
  if (!left) { return right; }
  let sine = select(sine_near_zero(3.14159265 * part), cosine_near_zero(3.14159265 * (0.5 - part)), part > 0.25);
  return log_of(3.14159265 / sine) - right;
}

//= digamma_of: infinity_like nan_from copy_sign sine_near_zero cosine_near_zero log_of
fn digamma_of(x: f32) -> f32 {
  if (x == 0.0) { return -infinity_like(x); }
  var y = x;
  var sum = 0.0;
  if (x < 0.0) {
    let part = x - round(x);
    if (part == 0.0) { return nan_from(x); }
    let inside = abs(part) <= 0.25;
    let angle = 3.14159265 * select(0.5 - abs(part), abs(part), inside);
    let s = sine_near_zero(angle);
    let c = cosine_near_zero(angle);
    sum = copy_sign(3.14159265 * select(s / c, c / s, inside), -part);
    y = 1.0 - x;
  }
  while (y < 6.0) {
    sum -= 1.0 / y;
    y += 1.0;
  }
  let z = 1.0 / (y * y);
  return sum + log_of(y) - 0.5 / y - z * fma(z, fma(z, 0.00396825397, -0.00833333333), 0.0833333333);
}

//= fmod_int:
fn fmod_int(x: i32, y: i32) -> i32 {
  if (y == 0) { return 0; }
  return x - x / y * y;
}

//= beyond: report
// --- Whole numbers of T, which must fit into 32 bits where they are int32; others wrap ---
fn beyond() { if (!is_narrow) { report(0u, 0xfffffffeu); } }

//= add_checked: beyond
fn add_checked(a: i32, b: i32) -> i32 {
  let r = a + b;
  if (((a ^ r) & (b ^ r)) < 0) { beyond(); }
  return r;
}

//= subtract_checked: beyond
fn subtract_checked(a: i32, b: i32) -> i32 {
  let r = a - b;
  if (((a ^ b) & (a ^ r)) < 0) { beyond(); }
  return r;
}

//= multiply_checked: narrow_checked wide_product
fn multiply_checked(a: i32, b: i32) -> i32 { return narrow_checked(wide_product(a, b)); }

//= abs_checked: subtract_checked
fn abs_checked(x: i32) -> i32 { return max(x, subtract_checked(0, min(x, 0))); }

//= floor_divide_checked: subtract_checked floor_divide_int
fn floor_divide_checked(a: i32, b: i32) -> i32 {
  if (b == -1) { return subtract_checked(0, a); }
  return floor_divide_int(a, b);
}

//= trunc_divide_checked: subtract_checked
fn trunc_divide_checked(a: i32, b: i32) -> i32 {
  if (b == -1) { return subtract_checked(0, a); }
  return select(a / b, 0, b == 0);
}

//= power_checked: power_int multiply_checked
fn power_checked(x: i32, y: i32) -> i32 {
  if (y < 0 || is_narrow) { return power_int(x, y); }
  var base = x;
  var out = 1;
  for (var left = y; left > 0;) {
    if ((left & 1) == 1) { out = multiply_checked(out, base); }
    left >>= 1u;
    if (left > 0) { base = multiply_checked(base, base); }
  }
  return out;
}

//= shift_left_checked: shift_left beyond
fn shift_left_checked(x: i32, n: i32) -> i32 {
  let r = shift_left(x, n);
  if (n >= 0 && x != 0 && (n > 31 || (r >> (u32(n) & 31u)) != x)) { beyond(); }
  return r;
}

//= cut_checked: is_nan beyond cut
// A float as a whole number.
fn cut_checked(x: f32) -> i32 {
  if (is_nan(x)) { return 0; }
  if (!(x >= -2147483648.0 && x < 2147483648.0)) { beyond(); }
  return cut(x);
}

//= widened:
// Sums and products are kept in 64 bits, the lower half first: they may leave 32 bits and come back.
fn widened(x: i32) -> vec2<u32> { return vec2<u32>(u32(x), u32(x >> 31u)); }

//= is_short:
fn is_short(a: vec2<u32>) -> bool { return a.y == u32(i32(a.x) >> 31u); }

//= narrow_checked: is_short beyond
fn narrow_checked(a: vec2<u32>) -> i32 {
  if (!is_short(a)) { beyond(); }
  return i32(a.x);
}

//= wide_sum: beyond
fn wide_sum(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let low = a.x + b.x;
  let high = a.y + b.y + select(0u, 1u, low < a.x);
  if ((((a.y ^ high) & (b.y ^ high)) >> 31u) != 0u) { beyond(); }
  return vec2<u32>(low, high);
}

//= wide_difference:
fn wide_difference(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return vec2<u32>(a.x - b.x, a.y - b.y - select(0u, 1u, a.x < b.x));
}

//= wide_product: high_product
fn wide_product(a: i32, b: i32) -> vec2<u32> {
  return vec2<u32>(u32(a * b), high_product(u32(a), u32(b)) - select(0u, u32(b), a < 0) - select(0u, u32(a), b < 0));
}

//= wide_size: wide_difference
fn wide_size(a: vec2<u32>) -> f32 {
  let size = select(a, wide_difference(vec2<u32>(0u, 0u), a), i32(a.y) < 0);
  return f32(size.y) * 4294967296.0 + f32(size.x);
}

//= wide_times: high_product wide_size
// What does not fit into 64 bits stays beyond 32, unless it is multiplied by 0; the lower half is right.
fn wide_times(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let high = high_product(a.x, b.x) + a.x * b.y + a.y * b.x;
  return vec2<u32>(a.x * b.x, select(1u, high, wide_size(a) * wide_size(b) < 4.6e18));
}

//= report:
// --- What the device is told (device.ts, gpu.py) ---
// The first thing that is wrong in this run, in the four words that it was given.
fn report(place: u32, length: u32) {
  let at = 4u * p.fault_at;
  if (atomicAdd(&fault[at], 1u) == 0u) {
    atomicStore(&fault[at + 1u], place);
    atomicStore(&fault[at + 2u], length);
  }
}

//= check_bounds: report
// A place that a tensor names; where it is off its axis, the thread goes on at the first element.
fn check_bounds(at: i32, length: u32) -> u32 {
  if (u32(at) < length) { return u32(at); }
  report(u32(at), length);
  return 0u;
}

//= in_bounds: report
// Whether a place that a tensor names is on its axis; where it is not, nothing is stored.
fn in_bounds(at: i32, length: u32) -> bool {
  if (u32(at) < length) { return true; }
  report(u32(at), length);
  return false;
}

//= check_value: report
// Whether requirement n holds.
fn check_value(fine: bool, n: i32) -> bool {
  if (!fine) { report(u32(n), 0xffffffffu); }
  return fine;
}
