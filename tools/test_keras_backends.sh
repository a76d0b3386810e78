#!/usr/bin/env bash
# Runs the tests of larq_engine.keras on JAX and on PyTorch, in the environment that has these.
# Models to convert are converted in the environment that has TensorFlow. If a package has no wheel,
# the tests are left out.
#
#   tools/test_keras_backends.sh [PYTEST_ARGUMENT...]
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ ! -e .venv-torch/.setup-torch || ! -e .venv-torch/.setup-keras-backends ]]; then
  echo "keras-backends: not run, Keras, JAX or PyTorch has no wheel for this Python"
  exit 77
fi
if [[ -e .venv/.setup-tensorflow ]]; then
  export LARQ_ENGINE_TEST_TENSORFLOW_PYTHON=.venv/bin/python
fi
# Each process of pytest has one core.
export OMP_NUM_THREADS=1
tests=(tests/keras/test_backends.py tests/keras/test_{callbacks,optimizers,scopes,statements,summary}.py)
for backend in jax torch; do
  echo "== Keras on $backend"
  KERAS_BACKEND=$backend .venv-torch/bin/python -m pytest -q -rs -n auto -p no:cacheprovider \
    --durations=12 "${tests[@]}" "$@"
done
