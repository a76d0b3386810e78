#!/usr/bin/env bash
# Builds the WebAssembly modules with Bazel and copies them into the package for browsers and Node,
# and the licence, which npm packs only if it is in the package's folder:
#
#   tools/build_web.sh [BAZEL_FLAG...]
set -euo pipefail
cd "$(dirname "$0")/.."

tools/run_bazel.sh build --config=wasm "$@" //web:larq_engine.wasm
mkdir -p web/wasm
# A running process may read the old file, so it is never overwritten.
install -m 644 bazel-bin/web/larq_engine.wasm web/wasm/larq_engine.wasm
install -m 644 LICENSE web/LICENSE
