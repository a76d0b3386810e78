#!/usr/bin/env bash
# Builds the WebAssembly modules with Bazel and copies them into the package for browsers and Node,
# and the licence, which npm packs only if it is in the package's folder:
#
#   tools/build_web.sh [BAZEL_FLAG...]
set -euo pipefail
cd "$(dirname "$0")/.."

# build CONFIG MODULE BAZEL_FLAG...
build() {
  tools/run_bazel.sh build --config="$1" "${@:3}" //web:larq_engine.wasm
  # A running process may read the old file, so it is never overwritten.
  install -m 644 bazel-bin/web/larq_engine.wasm "web/wasm/$2.wasm"
}

mkdir -p web/wasm
rm -f web/wasm/*.wasm # a module of an earlier version must not stay
build wasm larq_engine "$@"
build wasm_plain larq_engine_plain "$@"
install -m 644 LICENSE web/LICENSE
