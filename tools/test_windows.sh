#!/usr/bin/env bash
# Runs the C++ tests as programs for 64-bit Windows, in Wine, but for those that need Linux.
set -euo pipefail
cd "$(dirname "$0")/.."

# One server for all tests: one that a test starts ends with it, and others then wait for ever.
export WINEPREFIX=$PWD/.emulation/wine
mkdir -p "$WINEPREFIX"
tools/wine.sh wineboot --init 2>/dev/null  # which says that it lacks what runs 32-bit programs
WINEDEBUG=-all wineserver --kill || true
wineserver --persistent
trap 'wineserver --kill' EXIT
tools/run_bazel.sh test --config=windows_x86_64 --build_tests_only --keep_going \
  --test_output=errors --test_env=WINEPREFIX --noshow_progress "$@" -- //tests/...
