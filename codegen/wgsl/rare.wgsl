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
