#!/usr/bin/env bash
# Runs the tests of larq_engine.batch in Ray, in an environment of their own. If Ray has no wheel,
# they are left out.
#
#   tools/test_ray.sh [PYTEST_ARGUMENT...]   default: tests/ray
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ -e .venv-ray/.setup-ray ]]; then
  # Workers are separate processes, and find the package as this one does. Ray's reports to its
  # makers are switched off.
  PYTHONPATH=$PWD RAY_USAGE_STATS_ENABLED=0 LARQ_ENGINE_TEST_RAY=1 exec .venv-ray/bin/python -m \
    pytest -q -rs -p no:cacheprovider --durations=12 "${@:-tests/ray}"
fi
echo "ray: not run, it has no wheel for this Python"
exit 77
