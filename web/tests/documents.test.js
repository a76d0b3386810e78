/** The examples of the documents run, in Chromium or in Node. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { fileURLToPath } from "node:url";

import { caseOf, FOLDER } from "./cases.js";
import { ISOLATED, launch, open, serve } from "./chromium.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const DOCUMENTS = [join(ROOT, "README.md"), join(ROOT, "..", "docs", "browser.md")];
const folder = mkdtempSync(join(tmpdir(), "larq-engine-"));
let browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser.close();
  rmSync(folder, { recursive: true });
});

/** Returns the blocks of a language: js is for browsers, javascript for Node. */
const blocks = (language) =>
  DOCUMENTS.flatMap((path) => {
    const found = readFileSync(path, "utf8").matchAll(
      new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gms"),
    );
    return [...found].map(([, code], index) => ({
      code,
      title: `${path.slice(path.lastIndexOf("/") + 1)}, ${language} ${index}`,
    }));
  });

const files = { "model.tflite": "images", "any-size.tflite": "open image" };
for (const [name, model] of Object.entries(files)) {
  cpSync(join(FOLDER, caseOf(model).model), join(folder, name));
}
const page = `<!doctype html><canvas></canvas><script type="importmap">
  {"imports": {"larq-engine": "/web/dist/index.js"}}</script>
  <script type="module" src="/example.js"></script>`;
writeFileSync(join(folder, "page.html"), page);

for (const { code, title } of blocks("js")) {
  test(title, async () => {
    writeFileSync(join(folder, "example.js"), `${code}\nglobalThis.isDone = true;\n`);
    const names = ["page.html", "example.js", ...Object.keys(files)];
    const folders = Object.fromEntries(names.map((name) => [name, join(folder, name)]));
    const server = await serve({ web: ROOT, ...folders }, ISOLATED);
    const { page, complaints } = await open(browser, `${server.origin}/page.html`);
    const failed = new Promise((_, reject) => page.on("pageerror", reject));
    await Promise.race([failed, page.waitForFunction(() => globalThis.isDone)]);
    assert.ok(!complaints.some((text) => text.includes("Error")), complaints.join());
    await page.close();
    server.close();
  });
}

for (const { code, title } of blocks("javascript")) {
  test(title, () => {
    mkdirSync(join(folder, "node_modules"), { recursive: true });
    symlinkSync(ROOT, join(folder, "node_modules", "larq-engine"));
    writeFileSync(join(folder, "example.mjs"), code);
    const text = execFileSync(process.execPath, ["example.mjs"], { cwd: folder, encoding: "utf8" });
    assert.equal(text, "y\n");
  });
}

test("there are examples of both", () => {
  assert.ok(blocks("js").length >= 5 && blocks("javascript").length === 1);
});
