// What can be grown: small pictures that are drawn here, without a ground.
export const SIZE = 28; // cells a side

const DRAWN = {
  flower(paint) {
    paint.strokeStyle = "#2f8f4e";
    paint.lineWidth = 2;
    paint.beginPath();
    paint.moveTo(14, 14);
    paint.quadraticCurveTo(13, 20, 14.5, 26);
    paint.stroke();
    paint.fillStyle = "#2f8f4e";
    ellipse(paint, 18, 22, 3.6, 1.7, -0.5);
    for (let petal = 0; petal < 6; petal++) {
      const angle = (petal * Math.PI) / 3;
      paint.fillStyle = petal % 2 ? "#e8467c" : "#f27ba5";
      ellipse(paint, 14 + 5 * Math.cos(angle), 10.5 + 5 * Math.sin(angle), 3.9, 2.6, angle);
    }
    paint.fillStyle = "#ffcf3f";
    ellipse(paint, 14, 10.5, 2.9, 2.9, 0);
  },
  fish(paint) {
    paint.fillStyle = "#ef7f1a";
    ellipse(paint, 12.5, 14, 8.5, 6, 0);
    triangle(paint, [19, 14], [26, 8.5], [26, 19.5]);
    paint.fillStyle = "#f8f2e6";
    for (const x of [9, 15]) ellipse(paint, x, 14, 1.2, 5, 0);
    paint.fillStyle = "#1c2430";
    ellipse(paint, 6.5, 12.2, 1.2, 1.2, 0);
  },
  mushroom(paint) {
    paint.fillStyle = "#f3e3c8";
    ellipse(paint, 14, 20, 4, 6, 0);
    paint.fillStyle = "#d22f3d";
    paint.beginPath();
    paint.ellipse(14, 14.5, 10.5, 9.5, 0, Math.PI, 2 * Math.PI);
    paint.fill();
    paint.fillStyle = "#fff";
    for (const [x, y, r] of [
      [9, 10.5, 1.8],
      [15, 8.2, 1.6],
      [19.5, 12, 1.7],
      [13.5, 12.6, 1.2],
    ])
      ellipse(paint, x, y, r, r, 0);
  },
};
export const NAMES = Object.keys(DRAWN);

function ellipse(paint, x, y, wide, high, turned) {
  paint.beginPath();
  paint.ellipse(x, y, wide, high, turned, 0, 2 * Math.PI);
  paint.fill();
}

function triangle(paint, first, ...others) {
  paint.beginPath();
  paint.moveTo(...first);
  for (const corner of others) paint.lineTo(...corner);
  paint.fill();
}

/** Draws one of `NAMES` into a canvas of `SIZE` pixels a side. */
export function draw(canvas, name) {
  canvas.width = canvas.height = SIZE;
  DRAWN[name](canvas.getContext("2d", { willReadFrequently: true }));
}
