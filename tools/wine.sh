#!/usr/bin/env bash
# Runs a program for 64-bit Windows: tools/wine.sh PROGRAM [ARGUMENT...]
set -euo pipefail
export WINEDEBUG=${WINEDEBUG:--all}
# Bazel's path starts with /, which GoogleTest for Windows takes for a path relative to its folder.
unset XML_OUTPUT_FILE
exec "$(command -v wine64 || echo /usr/lib/wine/wine64)" "$@"
