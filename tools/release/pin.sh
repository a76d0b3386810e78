#!/usr/bin/env bash
# Writes NAME.txt from each NAME.in: one version of each package, and the hashes of its files.
set -euo pipefail
cd "$(dirname "$0")"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/python" -m pip install --quiet uv==0.13.9

# pin NAME OPTION...
pin() {
  local name=$1
  shift
  "$folder/bin/uv" pip compile --quiet --universal --python-version 3.10 --generate-hashes \
    --no-header --no-emit-index-url --no-annotate "$@" "$name.in" --output-file "$name.txt"
}

pin build
pin cuda --no-deps
pin zig --no-deps
