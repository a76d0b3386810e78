#!/usr/bin/env bash
# Runs the C++ tests as programs for 64-bit Windows, in Wine, except for those that need Linux.
set -euo pipefail
cd "$(dirname "$0")/.."

# All tests share one server: a server that a test starts ends with it, and others then wait for
# ever.
export WINEPREFIX=$PWD/.emulation/wine
mkdir -p "$WINEPREFIX"
tools/wine.sh wineboot --init 2>/dev/null  # it reports that 32-bit programs cannot run
WINEDEBUG=-all wineserver --kill || true
wineserver --persistent
trap 'wineserver --kill' EXIT
tools/run_bazel.sh test --config=windows_x86_64 --build_tests_only --keep_going \
  --test_output=errors --test_env=WINEPREFIX --noshow_progress "$@" -- //tests/...
