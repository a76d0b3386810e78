/** Takes pictures from files and the camera. */

import { button, element, fileButton } from "./elements.js";

const PREVIEW = 320; // pixels of the longer side

/** The part of a page that takes pictures. */
export class PictureInput {
  #answer;
  #say;
  #video = element("video", { muted: true, playsinline: true });
  #canvas = element("canvas", { class: "preview", role: "img", "aria-label": "No picture yet" });
  #camera;
  /** The camera's present start; undefined while it is off. */
  #start;

  /**
   * @param {(picture: ImageBitmap | HTMLVideoElement) => Promise<void>} answer Runs the model.
   * @param {(text: string) => void} say Shows an error or what is under way.
   */
  constructor(answer, say) {
    this.#answer = answer;
    this.#say = say;
    this.#camera = button("Start the camera", async () => this.#toggle());
    const file = fileButton("Choose a picture", "image/*", (chosen) => this.#take(chosen));
    const controls = element("div", { class: "controls" }, file, this.#camera);
    this.element = element("div", { class: "input" }, controls, this.#canvas);
    this.#canvas.hidden = true;
  }

  /** @param {File} file */
  async #take(file) {
    this.#stop();
    let picture;
    try {
      // Colours stay as the file has them, so that each browser computes the same.
      picture = await createImageBitmap(file, { colorSpaceConversion: "none" });
    } catch {
      this.#say(`${file.name}: expected a picture, such as PNG or JPEG, got another file`);
      return;
    }
    await this.#show(picture, picture.width, picture.height, `The picture ${file.name}`);
  }

  async #show(picture, width, height, name) {
    const scale = PREVIEW / Math.max(width, height);
    this.#canvas.hidden = false;
    this.#canvas.width = Math.max(1, Math.round(width * scale));
    this.#canvas.height = Math.max(1, Math.round(height * scale));
    this.#canvas.setAttribute("aria-label", name);
    const context = this.#canvas.getContext("2d");
    context.imageSmoothingEnabled = scale < 1;
    context.drawImage(picture, 0, 0, this.#canvas.width, this.#canvas.height);
    await this.#answer(picture);
  }

  async #toggle() {
    if (this.#start) {
      this.#stop();
      return;
    }
    const start = {};
    this.#start = start;
    this.#camera.textContent = "Stop the camera";
    try {
      const camera = { video: { facingMode: "environment" } };
      const stream = await navigator.mediaDevices.getUserMedia(camera);
      if (this.#start !== start) {
        stopTracks(stream);
        return;
      }
      this.#video.srcObject = stream;
      await this.#video.play();
    } catch (error) {
      this.#fail(start, error);
      return;
    }
    // The button is free again while the camera is followed.
    this.#follow(start).catch((error) => this.#fail(start, error));
  }

  /** Answers for the camera's picture until it is stopped; each waits for the one before. */
  async #follow(start) {
    while (this.#start === start) {
      const { videoWidth, videoHeight } = this.#video;
      await this.#show(this.#video, videoWidth, videoHeight, "The camera's picture");
      await new Promise((resolve) => requestAnimationFrame(resolve));
    }
  }

  /** Stops the camera after an error, unless it was stopped before, which makes errors as well. */
  #fail(start, error) {
    if (this.#start !== start) return;
    this.#stop();
    this.#say(`The camera cannot be used: ${error.message}`);
  }

  #stop() {
    this.#start = undefined;
    if (this.#video.srcObject) stopTracks(this.#video.srcObject);
    this.#video.srcObject = null;
    this.#camera.textContent = "Start the camera";
  }
}

/** @param {MediaStream} stream */
const stopTracks = (stream) => stream.getTracks().forEach((track) => track.stop());
