/** Opens pages in a headless Chromium, from a server on this machine. */

import { createReadStream, existsSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { delimiter, extname, join, normalize } from "node:path";

import { chromium } from "playwright-core";

const TYPES = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".wasm": "application/wasm",
};

/** Lets a page run scripts of its server and compile WebAssembly, and nothing else. */
export const STRICT =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; worker-src 'self'";

/** What makes a page cross-origin isolated, so that its workers may share memory. */
export const ISOLATED = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
};

/**
 * Serves folders, by the first part of the address's path.
 * @param {Record<string, string>} folders
 * @param {Record<string, string>} headers Headers of each answer.
 * @param {Record<string, string>} headersOfFiles Headers of files, but not of the page at "/".
 */
export async function serve(folders, headers = {}, headersOfFiles = headers) {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, "http://127.0.0.1");
    const [, name, ...rest] = normalize(pathname).split("/");
    if (pathname === "/") {
      return response
        .writeHead(200, { "Content-Type": "text/html", ...headers })
        .end("<!doctype html>");
    }
    const path = join(folders[name] ?? "/nothing", ...rest);
    if (!existsSync(path) || !statSync(path).isFile()) return response.writeHead(404).end();
    response.writeHead(200, { "Content-Type": TYPES[extname(path)] ?? "", ...headersOfFiles });
    createReadStream(path).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A test that fails must not keep its process.
  server.unref();
  return { origin: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

/** Returns the path of Chromium. */
function browserPath() {
  const folders = (process.env.PATH ?? "").split(delimiter);
  const paths = ["chromium", "google-chrome"].flatMap((name) =>
    folders.map((folder) => join(folder, name)),
  );
  const found = paths.find((path) => existsSync(path));
  if (!found) throw new Error("expected Chromium, got none; run tools/setup.sh browser");
  return found;
}

export const launch = () =>
  chromium.launch({ executablePath: browserPath(), args: ["--no-sandbox", "--disable-gpu"] });

/**
 * Opens a page. `requests` has the addresses of its requests, `complaints` its errors and messages.
 * @param {import("playwright-core").Browser} browser
 * @param {string} address
 */
export async function open(browser, address) {
  const page = await browser.newPage();
  const requests = [];
  const complaints = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  await page.goto(address);
  return { page, requests, complaints };
}
