// Arithmetic that kernels on the CPU need and JavaScript's Math lacks or does otherwise than PyTorch.
// Everything computes in doubles; nothing here knows tensors.

/** x * x. */
export function square(x: number): number {
  return x * x;
}

/** -1, 0 or 1; 0 for NaN. */
export function sign(x: number): number {
  return x > 0 ? 1 : x < 0 ? -1 : 0;
}

/** The nearest whole number, a half to the even one. */
export function roundHalfEven(x: number): number {
  const whole = Math.floor(x),
    rest = x - whole;
  if (rest < 0.5) return whole === 0 && (x < 0 || Object.is(x, -0)) ? -0 : whole;
  if (rest > 0.5) return whole === -1 ? -0 : whole + 1;
  if (rest !== 0.5) return x; // NaN and infinities
  const even = whole % 2 === 0 ? whole : whole + 1;
  return even === 0 && x < 0 ? -0 : even;
}

/** `x // y` of floats as Python and PyTorch have it: the floor of the exact quotient. */
export function floorDivide(x: number, y: number): number {
  if (y === 0) return x / y;
  const rest = x % y;
  let quotient = (x - rest) / y;
  if (rest !== 0 && rest < 0 !== y < 0) quotient -= 1;
  if (quotient === 0) return copysign(0, x / y);
  const floor = Math.floor(quotient);
  return quotient - floor > 0.5 ? floor + 1 : floor;
}

/** `x % y` of floats with the sign of y. */
export function remainder(x: number, y: number): number {
  const rest = x % y;
  return rest !== 0 && rest < 0 !== y < 0 ? rest + y : rest;
}

/** `x % y` of whole numbers with the sign of y; 0 for y = 0. */
export function modulo(x: number, y: number): number {
  if (y === 0) return 0;
  const rest = x % y;
  return rest !== 0 && rest < 0 !== y < 0 ? rest + y : rest + 0;
}

/** The remainder with the sign of x. */
export function fmod(x: number, y: number): number {
  return x % y;
}

/** x ** y by IEEE 754, where JavaScript says NaN: 1 ** anything and (-1) ** infinity are 1. */
export function power(x: number, y: number): number {
  return x === 1 || (x === -1 && (y === Infinity || y === -Infinity)) ? 1 : Math.pow(x, y);
}

/** x ** y of 32-bit whole numbers, wrapping; a negative exponent leaves 0 unless x is 1 or -1. */
export function integerPower(x: number, y: number): number {
  if (y < 0) return x === 1 ? 1 : x === -1 ? (y % 2 === 0 ? 1 : -1) : 0;
  let result = 1;
  for (let base = x, left = y; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) result = Math.imul(result, base);
    base = Math.imul(base, base);
  }
  return result;
}

/** x << y; 0 once every bit has gone. */
export function shiftLeft(x: number, y: number): number {
  return y < 0 || y > 31 ? 0 : x << y;
}

/** x >> y, keeping the sign. */
export function shiftRight(x: number, y: number): number {
  return x >> (y < 0 || y > 31 ? 31 : y);
}

/** The larger number; NaN only if both are. */
export function fmax(x: number, y: number): number {
  return Number.isNaN(x) ? y : Number.isNaN(y) ? x : Math.max(x, y);
}

/** The smaller number; NaN only if both are. */
export function fmin(x: number, y: number): number {
  return Number.isNaN(x) ? y : Number.isNaN(y) ? x : Math.min(x, y);
}

/** Whether the sign is minus, also that of -0. */
export function signbit(x: number): boolean {
  return x < 0 || Object.is(x, -0);
}

/** The size of x with the sign of y. */
export function copysign(x: number, y: number): number {
  return signbit(x) === signbit(y) ? x : -x;
}

/**
 * One polynomial by another as long, by Horner's rule, side by side: each waits for itself; coefficients from the
 * highest power.
 */
function rational(x: number, above: readonly number[], below: readonly number[]): number {
  let a = 0,
    b = 0;
  for (let k = 0; k < above.length; k++) {
    a = a * x + above[k];
    b = b * x + below[k];
  }
  return a / b;
}

// W. J. Cody, Rational Chebyshev approximations for the error function (1969).
const ERF_A = [0.185777706184603153, 3.1611237438705656, 113.864154151050156, 377.485237685302021, 3209.37758913846947];
const ERF_B = [1, 23.6012909523441209, 244.024637934444173, 1282.61652607737228, 2844.23683343917062];
const ERF_C = [
  2.15311535474403846e-8, 0.564188496988670089, 8.88314979438837594, 66.1191906371416295, 298.635138197400131,
  881.95222124176909, 1712.04761263407058, 2051.07837782607147, 1230.33935479799725,
];
const ERF_D = [
  1, 15.7449261107098347, 117.693950891312499, 537.181101862009858, 1621.38957456669019, 3290.79923573345963,
  4362.61909014324716, 3439.36767414372164, 1230.33935480374942,
];
const ERF_P = [
  0.0163153871373020978, 0.305326634961232344, 0.360344899949804439, 0.125781726111229246, 0.0160837851487422766,
  6.58749161529837803e-4,
];
const ERF_Q = [
  1, 2.56852019228982242, 1.87295284992346725, 0.527905102951428412, 0.0605183413124413191, 0.00233520497626869185,
];

/** erfc(x) for x > 0.46875. */
function erfcTail(x: number): number {
  if (x > 27) return 0;
  const cut = Math.trunc(x * 16) / 16; // exp(-x*x) without losing the low bits of x*x
  const decay = Math.exp(-cut * cut) * Math.exp(-(x - cut) * (x + cut));
  if (x <= 4) return decay * rational(x, ERF_C, ERF_D);
  const z = 1 / (x * x);
  const tail = z * rational(z, ERF_P, ERF_Q);
  return (decay * (1 / Math.sqrt(Math.PI) - tail)) / x;
}

/** The error function. */
export function erf(x: number): number {
  const size = Math.abs(x);
  if (size <= 0.46875) return x * rational(x * x, ERF_A, ERF_B);
  if (Number.isNaN(x)) return x;
  const value = 1 - erfcTail(size);
  return x < 0 ? -value : value;
}

/** 1 - erf(x), exact for large x. */
export function erfc(x: number): number {
  const size = Math.abs(x);
  if (size <= 0.46875) return 1 - erf(x);
  if (Number.isNaN(x)) return x;
  return x < 0 ? 2 - erfcTail(size) : erfcTail(size);
}

/** The x with erf(x) = y: an approximation (S. Winitzki, 2008), then Halley's method. */
export function erfinv(y: number): number {
  const target = Math.abs(y);
  if (!(target < 1)) return target === 1 ? y * Infinity : NaN;
  const a = 0.147,
    l = Math.log1p(-y * y),
    h = 2 / (Math.PI * a) + l / 2;
  let x = Math.sqrt(Math.sqrt(h * h - l / a) - h);
  for (let step = 0; step < 3; step++) {
    const excess = target < 0.5 ? erf(x) - target : 1 - target - erfc(x);
    const newton = excess / ((2 / Math.sqrt(Math.PI)) * Math.exp(-x * x));
    x -= newton / (1 + x * newton);
  }
  return target === 0 ? y : y < 0 ? -x : x;
}

const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
  12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
];

/** The logarithm of the absolute value of the gamma function. */
export function lgamma(x: number): number {
  if (Number.isNaN(x)) return x;
  if (!Number.isFinite(x)) return Infinity;
  if (x <= 0 && Math.floor(x) === x) return Infinity;
  if (x === 1 || x === 2) return 0;
  if (x < 0.5) return Math.log(Math.PI / Math.abs(Math.sin(Math.PI * (x % 2)))) - lgamma(1 - x);
  const z = x - 1,
    t = z + 7.5;
  let sum = LANCZOS[0]!;
  for (let i = 1; i < LANCZOS.length; i++) sum += LANCZOS[i]! / (z + i);
  return 0.5 * Math.log(2 * Math.PI) + (z + 0.5) * Math.log(t) - t + Math.log(sum);
}

/** The derivative of lgamma. */
export function digamma(x: number): number {
  if (x === 0) return signbit(x) ? Infinity : -Infinity;
  if (x < 0) {
    if (Math.floor(x) === x) return NaN;
    return digamma(1 - x) - Math.PI / Math.tan(Math.PI * (x % 1));
  }
  let shift = 0,
    z = x;
  for (; z < 10; z++) shift -= 1 / z;
  const w = 1 / (z * z);
  const series = w * (1 / 12 - w * (1 / 120 - w * (1 / 252 - w * (1 / 240 - w * (1 / 132 - (w * 691) / 32760)))));
  return shift + Math.log(z) - 0.5 / z - series;
}

const halfBits = new Float32Array(1),
  halfWords = new Uint32Array(halfBits.buffer);

/** The float16 nearest to the nearest float32, a tie to the even one. */
export function roundToHalf(x: number): number {
  const near = (halfBits[0] = Math.fround(x)),
    size = Math.abs(near);
  if (!(size < 65520)) return Number.isNaN(x) ? x : x > 0 ? Infinity : -Infinity;
  if (size < 2 ** -14) return roundHalfEven(near * 2 ** 24) / 2 ** 24;
  const word = halfWords[0]!;
  halfWords[0] = (word + 0xfff + ((word >>> 13) & 1)) & ~0x1fff;
  return halfBits[0];
}
