/** The packed package: its files, its types, and its use in an empty project that Vite bundles. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { fileURLToPath } from "node:url";

import { build, preview } from "vite";

import { bytesOf, caseOf } from "./cases.js";
import { ISOLATED, launch, open, STRICT } from "./chromium.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const project = mkdtempSync(join(tmpdir(), "larq-engine-"));
after(() => rmSync(project, { recursive: true }));

const npm = (...args) =>
  execFileSync("npm", args, { cwd: project, encoding: "utf8", stdio: "pipe" });

/** @type {{ path: string, mode: number }[]} */
let files;
before(() => {
  const [packed] = JSON.parse(npm("pack", "--json", ROOT));
  files = packed.files;
  cpSync(join(ROOT, "tests", "sample"), project, { recursive: true });
  npm("init", "--yes");
  npm("pkg", "set", "type=module");
  npm("install", "--offline", "--no-audit", "--no-fund", join(project, packed.filename));
});

test("the package holds what it needs and nothing else", () => {
  const expected = [
    "LICENSE",
    "README.md",
    "index.d.ts",
    "package.json",
    ...readdirSync(join(ROOT, "dist")).map((name) => `dist/${name}`),
    ...["", "_plain", "_threads"].map((kind) => `wasm/larq_engine${kind}.wasm`),
  ];
  assert.deepEqual(files.map(({ path }) => path).sort(), expected.sort());
});

test("it is not packed without the engine", () => {
  const folder = mkdtempSync(join(tmpdir(), "larq-engine-"));
  for (const name of files.map(({ path }) => path).filter((path) => !path.startsWith("wasm/"))) {
    cpSync(join(ROOT, name), join(folder, name));
  }
  assert.throws(
    () => npm("pack", folder),
    /expected the engine in wasm and its scripts in dist; run make web first/,
  );
  rmSync(folder, { recursive: true });
});

test("it has the version of the engine, and no dependency", () => {
  const about = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const version = readFileSync(join(ROOT, "..", "larq_engine", "version.txt"), "utf8").trim();
  assert.equal(about.version, version);
  assert.equal(about.dependencies, undefined);
});

test("types are strict, in a project that has the package and in the package", () => {
  const tsc = join(ROOT, "node_modules", "typescript", "bin", "tsc");
  const flags = ["--strict", "--noEmit", "--noUncheckedIndexedAccess", "--target", "es2022"];
  flags.push("--module", "nodenext", "--lib", "es2023", "--types", "");
  const run = (cwd, ...args) => {
    try {
      return execFileSync(process.execPath, [tsc, ...args], { cwd, encoding: "utf8" });
    } catch ({ stdout }) {
      return stdout;
    }
  };
  assert.equal(run(project, ...flags, "types.ts"), "");
  assert.equal(run(ROOT, "--project", "."), "");
});

test("Node finds it by its name", () => {
  const bytes = JSON.stringify([...bytesOf(caseOf("open batch").model)]);
  const program = `
    import { load } from "larq-engine";
    const model = await load(Uint8Array.from(${bytes}));
    console.log((await model.predict(Float32Array.of(1, 2))).join());`;
  const flags = ["--input-type=module", "--eval", program];
  const text = execFileSync(process.execPath, flags, { cwd: project, encoding: "utf8" });
  assert.equal(text, "2.5,-0.25\n");
});

const vite = { root: project, logLevel: "error", configFile: false };

test("Vite bundles it, and the page computes under a strict policy", async () => {
  await build({ ...vite, build: { assetsInlineLimit: 0 } });
  const built = readdirSync(join(project, "dist", "assets"));
  assert.equal(built.filter((name) => name.endsWith(".wasm")).length, 3, built.join());
  cpSync(
    join(process.env.LARQ_ENGINE_WEB_CASES, caseOf("open batch").model),
    join(project, "dist", "model.tflite"),
  );
  const headers = { "Content-Security-Policy": STRICT, ...ISOLATED };
  const server = await preview({ ...vite, preview: { host: "127.0.0.1", port: 0, headers } });
  const browser = await launch();
  try {
    const origin = `http://127.0.0.1:${server.httpServer.address().port}`;
    const { page, requests, complaints } = await open(browser, `${origin}/`);
    for (const options of [{}, { worker: false }, { threads: 2 }]) {
      const run = (options) => {
        Object.defineProperty(navigator, "hardwareConcurrency", { value: 2, configurable: true });
        return globalThis.run("/model.tflite", options);
      };
      assert.deepEqual(await page.evaluate(run, options), [2.5, -0.25]);
    }
    assert.ok(
      requests.some((address) => /helper-\w+\.js$/.test(address)),
      requests.join(),
    );
    assert.deepEqual(
      complaints.filter((text) => !text.includes("favicon")),
      [],
    );
    assert.deepEqual(
      requests.filter((address) => !address.startsWith(`${origin}/`)),
      [],
    );
    assert.ok(requests.some((address) => address.endsWith(".wasm")));
  } finally {
    await browser.close();
    await server.close();
  }
});

test("a program that needs no model bundles none of the engine", async () => {
  const outDir = join(project, "image-only");
  const entry = join(project, "image_only.js");
  await build({ ...vite, build: { outDir, lib: { entry, formats: ["es"], fileName: "main" } } });
  const text = readFileSync(join(outDir, "main.js"), "utf8");
  assert.ok(text.includes("imageSmoothingQuality"));
  for (const name of ["Worker", "WebAssembly", "larq_engine_model"]) {
    assert.ok(!text.includes(name), name);
  }
});
