#!/usr/bin/env bash
# Bundles the scripts of the package for browsers and Node, builds its WebAssembly modules with
# Bazel, and copies them into the package with the licence, which npm packs only if it is there:
#
#   tools/build_web.sh [BAZEL_FLAG...]
set -euo pipefail
cd "$(dirname "$0")/.."

# A running process may read the old file, so copy never overwrites it.
copy() { install -m 644 "bazel-bin/web/$1.wasm" "web/wasm/$2.wasm"; }

if [[ -d web/node_modules/rolldown ]]; then
  node web/bundle.js
elif [[ -e web/package.json || ! -e web/dist/index.js ]]; then # a source archive has its bundles
  echo "note: scripts are not bundled without npm's packages, which tools/setup.sh emscripten" \
    "installs; pages load slower"
  rm -rf web/dist
  mkdir -p web/dist
  install -m 644 web/src/*.js web/dist
fi
mkdir -p web/wasm
rm -f web/wasm/*.wasm # old ones and new ones do not belong together
tools/run_bazel.sh build --config=wasm "$@" //web:larq_engine.wasm //web:larq_engine_threads.wasm
copy larq_engine larq_engine
copy larq_engine_threads larq_engine_threads
tools/run_bazel.sh build --config=wasm_plain "$@" //web:larq_engine.wasm
copy larq_engine larq_engine_plain
install -m 644 LICENSE web/LICENSE
