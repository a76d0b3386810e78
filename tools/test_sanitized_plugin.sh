#!/usr/bin/env bash
# Runs Python tests with a plug-in built under a sanitizer, in the stock host:
#
#   tools/test_sanitized_plugin.sh asan|tsan PYTEST_ARGUMENT...
#
# Host and Python are not instrumented. So the sanitizer's library is loaded before them, leaks are
# not looked for (C++ tests do that), and races are reported only if our code takes part.
set -euo pipefail
cd "$(dirname "$0")/.."
config=$1
shift

mkdir -p ".build/$config"
tools/build_library.sh ".build/$config" --config="$config"
case $config in
  asan) runtime=$(clang -print-file-name="libclang_rt.asan-$(uname -m).so") ;;
  tsan) runtime=$(gcc -print-file-name=libtsan.so) ;;
esac
[[ -e $runtime ]] || { echo "error: the compiler of --config=$config has no $runtime" >&2; exit 1; }
# The C++ runtime is loaded first too: the sanitizer looks there for the functions that it
# intercepts, before our plug-in brings its own.
runtime+=" $(gcc -print-file-name=libstdc++.so.6)"
# The tests take seconds. A deadlock of sanitizer and host fails with a name and every stack.
LARQ_ENGINE_LIBRARY=$PWD/.build/$config/liblarq_engine.so \
  ASAN_OPTIONS=detect_leaks=0 \
  TSAN_OPTIONS=halt_on_error=1:ignore_noninstrumented_modules=1 \
  LD_PRELOAD=$runtime timeout --kill-after=10 600 .venv/bin/python -m pytest -q -rs \
  -p no:cacheprovider -o faulthandler_timeout=300 "$@"
