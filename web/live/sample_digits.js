/** Digits for those who do not draw: lines of points in a square of side 1. */

/** Returns points on a part of an ellipse; angles are in degrees, 0 is right and 90 is down. */
function arc(cx, cy, rx, ry, from, to) {
  const steps = 16;
  return Array.from({ length: steps + 1 }, (_, n) => {
    const angle = ((from + ((to - from) * n) / steps) * Math.PI) / 180;
    return { x: cx + rx * Math.cos(angle), y: cy + ry * Math.sin(angle) };
  });
}

const line = (...points) => points.map(([x, y]) => ({ x, y }));

export const SAMPLES = [
  [arc(0.5, 0.5, 0.25, 0.4, -90, 270)],
  [line([0.36, 0.24], [0.52, 0.1], [0.52, 0.9])],
  [[...arc(0.5, 0.32, 0.24, 0.22, -170, 40), ...line([0.26, 0.9], [0.78, 0.9])]],
  [[...arc(0.48, 0.3, 0.22, 0.2, -150, 90), ...arc(0.48, 0.7, 0.25, 0.2, -90, 150)]],
  [line([0.45, 0.1], [0.24, 0.6], [0.78, 0.6]), line([0.62, 0.4], [0.56, 0.9])],
  [line([0.74, 0.1], [0.32, 0.1], [0.28, 0.45]), [...arc(0.48, 0.66, 0.25, 0.24, -145, 150)]],
  [[...line([0.62, 0.1], [0.36, 0.4]), ...arc(0.5, 0.68, 0.22, 0.22, 180, 540)]],
  [line([0.24, 0.1], [0.76, 0.1], [0.46, 0.9]), line([0.36, 0.5], [0.7, 0.5])],
  [[...arc(0.5, 0.3, 0.19, 0.2, 90, 450), ...arc(0.5, 0.7, 0.22, 0.2, -90, 270)]],
  [[...arc(0.5, 0.32, 0.22, 0.22, 0, -360), ...line([0.7, 0.5], [0.56, 0.9])]],
];
