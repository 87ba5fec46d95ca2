// A pole on a cart, which can only be pushed to the left or to the right: Barto, Sutton, Anderson, Neuronlike Adaptive
// Elements That Can Solve Difficult Learning Control Problems, 1983.  Many carts at once are one tensor [carts, 4]: place,
// speed, angle of the pole, speed of the angle; in metres, radians and seconds.
const GRAVITY = 9.8,
  CART = 1, // kilograms
  POLE = 0.1,
  HALF = 0.5, // of the pole's length
  PUSH = 10, // newtons
  STEP = 0.02; // seconds
export const EDGE = 2.4, // of the track
  TILT = (12 * Math.PI) / 180,
  LONGEST = 500; // steps, ten seconds: then a cart begins anew

/** The carts a step later, pushed to the right where `right` is 1 and to the left where it is 0. */
export function moved(torch, carts, right) {
  const [place, speed, angle, spin] = carts.unbind(1),
    [sin, cos] = [angle.sin(), angle.cos()],
    total = CART + POLE;
  const pull = right
    .mul(2 * PUSH)
    .sub(PUSH)
    .add(
      spin
        .square()
        .mul(sin)
        .mul(POLE * HALF),
    )
    .div(total);
  const turn = sin
    .mul(GRAVITY)
    .sub(cos.mul(pull))
    .div(
      cos
        .square()
        .mul(-POLE / total)
        .add(4 / 3)
        .mul(HALF),
    );
  const gain = pull.sub(turn.mul(cos).mul((POLE * HALF) / total));
  const later = [
    place.add(speed.mul(STEP)),
    speed.add(gain.mul(STEP)),
    angle.add(spin.mul(STEP)),
    spin.add(turn.mul(STEP)),
  ];
  return torch.stack(later, 1);
}

/** Which carts have left the track or let their pole fall: bools [carts]. */
export function fallen(carts) {
  const [place, , angle] = carts.abs().unbind(1);
  return place.gt(EDGE).logical_or(angle.gt(TILT));
}

/** Carts that stand nearly still. */
export const fresh = (torch, count, device) => torch.rand([count, 4], { device }).sub(0.5).mul(0.1);
