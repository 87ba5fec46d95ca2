// What can be learned: three pictures that are drawn here, and any that the visitor gives.
export const SIZE = 160; // pixels a side, of which the network learns

const DRAWN = {
  /** Hills in front of a low sun. */
  hills(paint, random) {
    const sky = paint.createLinearGradient(0, 0, 0, SIZE);
    for (const [at, colour] of [
      ["0", "#12214a"],
      ["0.55", "#d4647c"],
      ["0.75", "#ffc27a"],
    ])
      sky.addColorStop(+at, colour);
    paint.fillStyle = sky;
    paint.fillRect(0, 0, SIZE, SIZE);
    paint.fillStyle = "#fff3cf";
    disc(paint, 104, 92, 17);
    for (let n = 0; n < 40; n++) disc(paint, random() * SIZE, random() * 55, 0.5 + random() * 0.6);
    ["#7a4468", "#4a2f5c", "#241b3d"].forEach((colour, layer) => {
      paint.fillStyle = colour;
      paint.beginPath();
      paint.moveTo(0, SIZE);
      for (let x = 0; x <= SIZE; x += 2) {
        const wave = Math.sin(x / (23 - 4 * layer) + 2 * layer) * 9 + Math.sin(x / 7 + layer) * 2.5;
        paint.lineTo(x, 98 + 19 * layer + wave);
      }
      paint.lineTo(SIZE, SIZE);
      paint.fill();
    });
  },

  /** Letters, whose edges are hard to learn. */
  letters(paint) {
    paint.fillStyle = "#f4efe4";
    paint.fillRect(0, 0, SIZE, SIZE);
    paint.textAlign = "center";
    ["w", "e", "b", "g", "p", "u"].forEach((letter, n) => {
      paint.fillStyle = ["#c8321f", "#2f5fde", "#1d7a53"][(n + (n > 2)) % 3];
      paint.font = "700 64px Georgia, serif";
      paint.fillText(letter, 30 + 50 * (n % 3), 66 + 68 * (n > 2));
    });
  },

  /** Discs in many colours. */
  discs(paint, random) {
    paint.fillStyle = "#101522";
    paint.fillRect(0, 0, SIZE, SIZE);
    for (let n = 0; n < 55; n++) {
      paint.fillStyle = `hsl(${Math.floor(random() * 360)} 75% ${45 + Math.floor(random() * 25)}%)`;
      disc(paint, random() * SIZE, random() * SIZE, 4 + random() * 13);
    }
  },
};
export const NAMES = Object.keys(DRAWN);

function disc(paint, x, y, radius) {
  paint.beginPath();
  paint.arc(x, y, radius, 0, 2 * Math.PI);
  paint.fill();
}

/** Numbers from 0 to 1 that are the same each time (a linear congruence, as in Numerical Recipes). */
function sequence(state = 7) {
  return () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
}

/** Draws one of `drawn`, or the middle of an image, into a canvas of `SIZE` pixels a side. */
export function draw(canvas, picture, drawn = DRAWN) {
  canvas.width = canvas.height = SIZE;
  const paint = canvas.getContext("2d", { willReadFrequently: true });
  if (typeof picture === "string") return drawn[picture](paint, sequence());
  const side = Math.min(picture.width, picture.height);
  paint.drawImage(picture, (picture.width - side) / 2, (picture.height - side) / 2, side, side, 0, 0, SIZE, SIZE);
}
