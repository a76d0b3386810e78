#!/usr/bin/env bash
# Builds the plug-in with Bazel and copies it to a folder:
#
#   tools/build_library.sh FOLDER [BAZEL_FLAG...]
#
# Called by `make build` (the folder is larq_engine/) and by setup.py (the wheel's copy of it).
set -euo pipefail
folder=$(realpath "$1")
shift
cd "$(dirname "$0")/.."

tools/run_bazel.sh build "$@" //larq_engine/runtime:liblarq_engine.so
# A new file, not the old one overwritten: a running process may have that mapped.
install -m 755 bazel-bin/larq_engine/runtime/liblarq_engine.so "$folder/liblarq_engine.so"
