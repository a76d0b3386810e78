#!/usr/bin/env bash
# Writes requirements.txt from requirements.in: one version of each, and the hashes of its files.
set -euo pipefail
cd "$(dirname "$0")"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/python" -m pip install --quiet uv==0.13.9
"$folder/bin/uv" pip compile --quiet --universal --python-version 3.10 --generate-hashes \
  --no-header --no-emit-index-url --no-annotate requirements.in --output-file requirements.txt
