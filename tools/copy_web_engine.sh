#!/usr/bin/env bash
# Copies the engine for browsers, which tools/build_web.sh has built, to a folder: its scripts and
# its WebAssembly modules.
#
#   tools/copy_web_engine.sh FOLDER
#
# `make web` copies it to larq_engine/web_export/engine, and setup.py to that folder of a wheel.
set -euo pipefail
folder=$(realpath -m "$1")
cd "$(dirname "$0")/../web"

# Scripts of an earlier version must not stay.
rm -rf "$folder"
mkdir -p "$folder/dist" "$folder/wasm"
install -m 644 dist/*.js "$folder/dist"
install -m 644 wasm/*.wasm "$folder/wasm"
