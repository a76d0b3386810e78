#!/bin/sh
# Prints the layout of the official TFLite structures, as tflite_layout.golden holds it for the size
# of a pointer that CXX builds for.
#
#   tests/runtime/dump_official_layout.sh INCLUDE_DIR            prints
#   tests/runtime/dump_official_layout.sh INCLUDE_DIR --check    compares with the golden
#
# INCLUDE_DIR is a checkout of LiteRT (it holds tflite/core/c/common.h) or of TensorFlow
# (tensorflow/lite/core/c/common.h). CXX may name a cross compiler, RUN what runs its programs.
set -eu
[ $# -ge 1 ] || { sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat > "$work/dump.cc" <<'PROBE'
#if __has_include("tflite/core/c/common.h")
#include "tflite/builtin_ops.h"
#include "tflite/core/api/profiler.h"
#include "tflite/core/c/builtin_op_data.h"
#include "tflite/core/c/common.h"
#else
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/core/api/profiler.h"
#include "tensorflow/lite/core/c/builtin_op_data.h"
#include "tensorflow/lite/core/c/common.h"
#endif
using Profiler = tflite::Profiler;
#include <cstdio>

#include "tests/runtime/tflite_layout.h"
int main() {
  for (const std::string& line : DescribeLayout()) std::puts(line.c_str());
}
PROBE
${CXX:-c++} -std=c++20 -w -I "$here/../.." -I "$1" "$work/dump.cc" -o "$work/dump" -static
${RUN:-} "$work/dump" > "$work/layout"
if [ "${2:-}" = --check ]; then
  if grep -q '^struct TfLitePtrUnion 8$' "$work/layout"; then
    ours='s/^([a-z]+ [^ ]+) .* \| /\1 /'
  else
    ours='s/ \| .*//'
  fi
  grep -v '^#' "$here/tflite_layout.golden" | sed -E "$ours" | diff - "$work/layout"
else
  cat "$work/layout"
fi
