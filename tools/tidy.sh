#!/usr/bin/env bash
# Looks for mistakes in the product's C++ with clang-tidy; .clang-tidy lists the checks.
#
#   tools/tidy.sh              all files
#   tools/tidy.sh FILE...      those of them that the product is compiled of
#
# Files of one ISA and files for WebAssembly alone are left out: they need flags that only
# build_defs.bzl may have, or Emscripten's headers. All files of a folder whose BUILD has a
# many_files_library are looked at as one, which takes a third of the time; those for another system
# stand alone.
set -euo pipefail
cd "$(dirname "$0")/.."
if [[ ! -x .venv/bin/clang-tidy ]]; then
  echo "tidy: no .venv/bin/clang-tidy; run \`make lint\` once, which installs it" >&2
  exit 1
fi
mapfile -t files < <(printf '%s\n' "$@" |
  if (($#)); then cat; else git ls-files 'larq_engine/*.cc' 'examples/*.cc'; fi |
  grep -E '^(larq_engine|examples)/.*\.cc$' | grep -vE '/(arm64|wasm|x86)/|/wasm_\w+\.cc$' || true)
if ((${#files[@]} == 0)); then exit 0; fi

# Bazel generates this header.
generated=$(mktemp -d)
trap 'rm -rf "$generated"' EXIT
mkdir "$generated/larq_engine"
echo "#define LARQ_ENGINE_VERSION \"$(<larq_engine/version.txt)\"" >"$generated/larq_engine/version.h"
whole=()
for file in "${files[@]}"; do
  folder=${file%/*}
  if [[ $file != *_@(windows|elsewhere).cc ]] &&
    grep -qs '^many_files_library' "$folder/BUILD"; then
    together=$generated/${folder//\//_}.cc
    if [[ ! -e $together ]]; then whole+=("$together"); fi
    echo "#include \"$file\"" >>"$together"
  else
    whole+=("$file")
  fi
done
printf '%s\n' "${whole[@]}" | xargs -P "$(nproc)" -I {} \
  .venv/bin/clang-tidy --quiet --config-file=.clang-tidy {} -- -std=c++20 -I. -I"$generated" 2> >(grep -v ' warnings\? generated' >&2)
echo "tidy: ${#files[@]} files, clean"
