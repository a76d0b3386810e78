#!/usr/bin/env bash
# Runs the Bazel that this machine has, with the given arguments. BAZEL names one off the PATH.
# BAZEL_STARTUP is an option of Bazel's server, which all commands of one build must have.
set -euo pipefail

if [[ -n ${CI:-} && ${1:-} =~ ^(build|run|test)$ ]]; then set -- "$1" --config=ci "${@:2}"; fi
if [[ -n ${BAZEL_STARTUP:-} ]]; then set -- "$BAZEL_STARTUP" "$@"; fi

if [[ -n ${BAZEL:-} ]]; then
  exec "$BAZEL" "$@"
elif command -v bazel >/dev/null; then
  exec bazel "$@"
elif command -v bazelisk >/dev/null; then
  # By default, Bazelisk fetches the newest Bazel, which no longer reads WORKSPACE.
  USE_BAZEL_VERSION=${USE_BAZEL_VERSION:-7.x} exec bazelisk "$@"
fi

cat >&2 <<'EOM'
error: the native library of larq_engine is built with Bazel, and there is none on the PATH.
  Debian, Ubuntu:  apt-get install bazel-bootstrap googletest
  macOS:           brew install bazelisk
  elsewhere:       Bazelisk, https://github.com/bazelbuild/bazelisk
Any version from 4.2 to 7 will do. BAZEL=/path/to/bazel names one that is not on the PATH.
EOM
exit 1
