// Lets the site's search box work on pages that are opened as files. Browsers start no worker of a
// file, so a hidden frame runs the worker's script there; pages from a server keep real workers.
// The name is the one by which the site's builder knows that it need not load one from elsewhere.
"use strict";

if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inside = frame.contentWindow;
      // The script calls this to answer the page.
      this.inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.loaded = new Promise((resolve, reject) => {
        const script = frame.contentDocument.createElement("script");
        script.onload = resolve;
        script.onerror = reject;
        script.src = new URL(url, document.baseURI);
        frame.contentDocument.body.append(script);
      });
    }

    postMessage(data) {
      const event = () => new this.inside.MessageEvent("message", { data });
      this.loaded.then(() => this.inside.dispatchEvent(event()));
    }
  };
}
