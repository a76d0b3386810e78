#!/usr/bin/env node
// Runs a C++ test that emscripten has made a script of: tools/node.js SCRIPT [ARGUMENT...]
// Such a script has an environment of its own, and this program gives it that of the caller.
const fs = require("fs");

const script = process.argv[2];
process.argv.splice(1, 1);
// The script has files of its own, too, and none of the folders of these.
delete process.env.TEST_PREMATURE_EXIT_FILE;
delete process.env.XML_OUTPUT_FILE;
const Module = { preRun: [() => Object.assign(Module.ENV, process.env)] };
const code = fs.readFileSync(script, "utf8");
const run = new Function("Module", "require", "__filename", "__dirname", code);
run(Module, require, script, ".");
