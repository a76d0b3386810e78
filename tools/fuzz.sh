#!/usr/bin/env bash
# Feeds made-up models to the plug-in under sanitizers, and says how many and for how long:
#
#   tools/fuzz.sh CASES [BAZEL_FLAG...]
#
# A case that crashes is left in the project's folder as crash-<hash>.
set -euo pipefail
cd "$(dirname "$0")/.."
cases=$1
shift
target=(--config=asan //tests/fuzz:model_fuzzer)

tools/run_bazel.sh build "$@" "${target[@]}"
# libFuzzer has no flag against two parts of its report, which are removed: a line for each new
# case, and the dictionary that it recommends, up to a hundred lines. The last line is "Done N runs
# in M second(s)".
UBSAN_OPTIONS=print_stacktrace=1 tools/run_bazel.sh run "$@" --noshow_progress \
  --ui_event_filters=-info "${target[@]}" -- "-runs=$cases" "-artifact_prefix=$PWD/" \
  -print_funcs=0 2>&1 |
  sed -uE -e '/^#[0-9]+\s+(NEW|REDUCE|RELOAD) /d' \
    -e '/^###### Recommended dictionary/,/^###### End of recommended dictionary/d'
