// Whole numbers that must fit into 32 bits, and indices and elements that must be allowed: what is not is reported
// through a buffer of the device, and reading what was computed throws (runtime/devices/webgpu/deferred-errors.ts).

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

//= cut_long: is_finite cut_checked cut
// A float as an element of int64: what is not finite is the least number, as processors have it.
fn cut_long(x: f32) -> i32 {
  if (is_finite(x)) { return cut_checked(x); }
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
