#!/usr/bin/env bash
# Runs the Python tests that convert PyTorch modules, in an environment of its own. Where a package
# has no wheel they are left out, unless LARQ_ENGINE_REQUIRE_TORCH is set.
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ -e .venv-torch/.setup-torch ]]; then
  exec .venv-torch/bin/python -m pytest -q -rs -n auto -p no:cacheprovider --durations=12 tests/torch
fi
if [[ -n ${LARQ_ENGINE_REQUIRE_TORCH:-} ]]; then
  echo "error: PyTorch is required here and not installed" >&2
  exit 1
fi
echo "torch: not run, PyTorch, litert-torch or Brevitas has no wheel for this Python"
exit 77
