// Manners to paint in: textures that are drawn here, as large as what is painted.
import { SIZE } from "../field/pictures.mjs";

export const MANNERS = {
  /** Short strokes of a thick brush that follow whirls, as of a night in Saint-Rémy. */
  strokes(paint, random) {
    paint.fillStyle = "#16305c";
    paint.fillRect(0, 0, SIZE, SIZE);
    paint.lineCap = "round";
    const colours = ["#1d4a8c", "#3f7cc0", "#8fb9d8", "#f2d25c", "#e8a93a", "#0f2346", "#c9dce6"];
    for (let n = 0; n < 1500; n++) {
      const x = random() * SIZE,
        y = random() * SIZE,
        turn = Math.sin(x / 21) * 1.7 + Math.cos(y / 17) * 1.9,
        long = 4 + random() * 6;
      paint.strokeStyle = colours[Math.floor(random() ** 1.4 * colours.length)];
      paint.lineWidth = 1.6 + random() * 1.6;
      paint.beginPath();
      paint.moveTo(x - long * Math.cos(turn), y - long * Math.sin(turn));
      paint.lineTo(x + long * Math.cos(turn), y + long * Math.sin(turn));
      paint.stroke();
    }
  },

  /** Small tiles with dark joints. */
  mosaic(paint, random) {
    paint.fillStyle = "#2b2320";
    paint.fillRect(0, 0, SIZE, SIZE);
    const tile = 8;
    for (let y = 0; y < SIZE; y += tile)
      for (let x = 0; x < SIZE; x += tile) {
        const hue = [28, 200, 12, 45][Math.floor(((x + 2 * y) / 53) % 4)];
        paint.fillStyle = `hsl(${hue + random() * 16} ${45 + random() * 30}% ${35 + random() * 40}%)`;
        paint.fillRect(x + random(), y + random(), tile - 2, tile - 2);
      }
  },

  /** A pen's lines on paper, closer where it is darker. */
  ink(paint, random) {
    paint.fillStyle = "#f3ead8";
    paint.fillRect(0, 0, SIZE, SIZE);
    paint.strokeStyle = "#20222b";
    for (let n = 0; n < 900; n++) {
      const x = random() * SIZE,
        y = random() * SIZE;
      if (random() > 0.5 + 0.5 * Math.sin(x / 19) * Math.sin(y / 23)) continue;
      paint.lineWidth = 0.5 + random() * 0.8;
      paint.beginPath();
      paint.moveTo(x, y);
      paint.lineTo(x + 9 + random() * 5, y - 8 - random() * 5);
      paint.stroke();
    }
  },
};
