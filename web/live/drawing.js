/** A board to draw on, with a finger, a pen or the mouse. */

import { element } from "../page/elements.js";

const SIDE = 280; // points of the board
const PEN = 20;

/** The board; it keeps the lines that were drawn. */
export class Drawing {
  #read;
  #strokes = [];
  #pointer;

  /** @param {(strokes: { x: number, y: number }[][]) => Promise<void>} read Takes a drawing. */
  constructor(read) {
    this.#read = read;
    this.canvas = element("canvas", {
      ...{ class: "drawing", width: SIDE, height: SIDE, role: "img" },
      "aria-label": "Board to draw a digit on",
      onpointerdown: (event) => this.#begin(event),
      onpointermove: (event) => this.#move(event),
      onpointerup: (event) => this.#end(event),
      onpointercancel: (event) => this.#end(event),
    });
    this.clear();
  }

  clear() {
    this.#strokes = [];
    this.#paint();
  }

  /**
   * Shows a drawing in place of what is there, and has it read.
   * @param {{ x: number, y: number }[][]} strokes In a square of side 1.
   */
  async show(strokes) {
    this.#strokes = strokes.map((stroke) =>
      stroke.map(({ x, y }) => ({ x: x * SIDE, y: y * SIDE })),
    );
    this.#paint();
    await this.#read(this.#strokes);
  }

  #begin(event) {
    if (this.#pointer !== undefined || event.button !== 0) return;
    this.#pointer = event.pointerId;
    this.canvas.setPointerCapture(event.pointerId);
    this.#strokes.push([this.#place(event)]);
    this.#paint();
  }

  #move(event) {
    if (event.pointerId !== this.#pointer) return;
    // A fast hand makes several moves between two pictures of the screen.
    const moves = event.getCoalescedEvents?.() ?? [];
    for (const move of moves.length ? moves : [event]) this.#strokes.at(-1).push(this.#place(move));
    this.#paint();
  }

  #end(event) {
    if (event.pointerId !== this.#pointer) return;
    this.#pointer = undefined;
    this.#read(this.#strokes);
  }

  #place({ clientX, clientY }) {
    const box = this.canvas.getBoundingClientRect();
    const scale = SIDE / box.width;
    return { x: (clientX - box.left) * scale, y: (clientY - box.top) * scale };
  }

  #paint() {
    const context = this.canvas.getContext("2d");
    context.fillStyle = "#fff";
    context.fillRect(0, 0, SIDE, SIDE);
    context.strokeStyle = "#111";
    context.lineWidth = PEN;
    context.lineCap = "round";
    context.lineJoin = "round";
    context.beginPath();
    for (const [first, ...rest] of this.#strokes) {
      context.moveTo(first.x, first.y);
      // A dot is a line to where it begins.
      for (const { x, y } of rest.length ? rest : [first]) context.lineTo(x, y);
    }
    context.stroke();
  }
}
