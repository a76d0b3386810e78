#!/usr/bin/env bash
# Runs the Python tests that take a host in tflite_runtime, in its own environment. If
# tflite_runtime's last release has no wheel, they are left out.
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ -e .venv-tflite-runtime/.setup-tflite-runtime ]]; then
  LARQ_ENGINE_REQUIRE_HOSTS=tflite_runtime exec .venv-tflite-runtime/bin/python -m pytest -q -rs \
    -p no:cacheprovider --durations=12 -k tflite_runtime tests/interop tests/python
fi
echo "tflite_runtime: not run, it has no wheel for this Python"
exit 77
