/** Makes the model's picture of a digit of lines that were drawn: 8 x 8 counts of ink. */

const SIDE = 8;
const FINE = 4; // points of each side of a pixel; ink on all 16 is the darkest
const PEN = 4.6; // points of the pen's width, as thick as in the digits that the model learnt

/**
 * Returns 64 counts from 0 to 16, line by line. The drawing fills the picture, wherever and however
 * large it was drawn.
 * @param {{ x: number, y: number }[][]} strokes Lines of points, in any unit.
 */
export function countsOf(strokes) {
  const segments = segmentsOf(strokes);
  const counts = new Uint8Array(SIDE * SIDE);
  for (let y = 0; y < SIDE * FINE; ++y) {
    for (let x = 0; x < SIDE * FINE; ++x) {
      const isInk = segments.some((segment) => distance(x + 0.5, y + 0.5, segment) <= PEN / 2);
      if (isInk) ++counts[Math.floor(y / FINE) * SIDE + Math.floor(x / FINE)];
    }
  }
  return counts;
}

/** Returns the lines between points, moved and scaled so that they fill the picture. */
function segmentsOf(strokes) {
  const points = strokes.flat();
  const [left, top] = [leastOf(points, "x"), leastOf(points, "y")];
  const [width, height] = [-leastOf(points, "x", -1) - left, -leastOf(points, "y", -1) - top];
  const room = SIDE * FINE - PEN;
  const scale = room / Math.max(width, height, 1e-9);
  const place = ({ x, y }) => [
    (x - left - width / 2) * scale + (SIDE * FINE) / 2,
    (y - top - height / 2) * scale + (SIDE * FINE) / 2,
  ];
  return strokes.flatMap((stroke) =>
    stroke.map((point, n) => [...place(stroke[Math.max(n - 1, 0)]), ...place(point)]),
  );
}

const leastOf = (points, axis, sign = 1) =>
  points.reduce((least, point) => Math.min(least, sign * point[axis]), Infinity);

/** Returns the distance of a point from a line from a to b. */
function distance(x, y, [ax, ay, bx, by]) {
  const [dx, dy] = [bx - ax, by - ay];
  const along = ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1);
  const t = Math.max(0, Math.min(1, along));
  return Math.hypot(x - ax - t * dx, y - ay - t * dy);
}
