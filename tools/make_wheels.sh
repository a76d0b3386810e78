#!/usr/bin/env bash
# Makes dist/larq_engine-*-py3-none-manylinux_2_28_MACHINE.whl:
#
#   tools/make_wheels.sh x86_64 aarch64
#
# and checks that they are what the tag says. Users of other systems build their own: pip install .
set -euo pipefail
cd "$(dirname "$0")/.."

for machine in "$@"; do
  platform=manylinux_2_28_$machine
  echo "wheel: building for $machine"
  rm -f dist/larq_engine-*-"$platform".whl
  .venv/bin/python -m pip --disable-pip-version-check wheel . --quiet --no-deps --wheel-dir dist \
    "--config-settings=--build-option=--plat-name=$platform"
  .venv/bin/python tools/check_wheel.py dist/larq_engine-*-"$platform".whl
done
