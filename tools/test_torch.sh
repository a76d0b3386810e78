#!/usr/bin/env bash
# Runs the Python tests that convert PyTorch modules, in an environment of their own. If a package
# has no wheel, they are left out.
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ -e .venv-torch/.setup-torch ]]; then
  exec .venv-torch/bin/python -m pytest -q -rs -n auto -p no:cacheprovider --durations=12 tests/torch
fi
echo "torch: not run, PyTorch, litert-torch or Brevitas has no wheel for this Python"
exit 77
