#!/bin/sh
# Prints the driver's interface of the official cuda.h, as cuda_interface.golden holds it.
#
#   tests/runtime/cuda/dump_official_interface.sh INCLUDE_DIR            prints
#   tests/runtime/cuda/dump_official_interface.sh INCLUDE_DIR --check    compares with the golden
#
# INCLUDE_DIR holds cuda.h, of CUDA 12.0 or newer.
set -eu
[ $# -ge 1 ] || { sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat > "$work/dump.cc" <<'PROBE'
#include <cuda.h>
#include <cstdio>
// Official names are macros for those of the newest version.
#define FUNCTION_TYPE(name) std::remove_pointer_t<decltype(&name)>

#include "tests/runtime/cuda/cuda_interface.h"
int main() {
  for (const std::string& line : DescribeInterface()) std::puts(line.c_str());
}
PROBE
${CXX:-c++} -std=c++20 -w -I "$here/../../.." -isystem "$1" "$work/dump.cc" -o "$work/dump"
"$work/dump" > "$work/interface"
if [ "${2:-}" = --check ]; then
  grep -v '^#' "$here/cuda_interface.golden" | diff - "$work/interface"
else
  cat "$work/interface"
fi
