#!/usr/bin/env bash
# Makes dist/larq_engine-*-py3-none-TAG.whl, and checks that each is what its tag says:
#
#   tools/make_wheels.sh manylinux_2_28_x86_64 manylinux_2_28_aarch64 manylinux_2_28_armv7l \
#     macosx_11_0_arm64 win_amd64
#
# Users of other systems build their own wheel: pip install .
set -euo pipefail
cd "$(dirname "$0")/.."

for platform in "$@"; do
  echo "wheel: building for $platform"
  rm -f dist/larq_engine-*-"$platform".whl
  .venv/bin/python -m pip --disable-pip-version-check wheel . --quiet --no-deps --wheel-dir dist \
    "--config-settings=--build-option=--plat-name=$platform"
  .venv/bin/python tools/check_wheel.py dist/larq_engine-*-"$platform".whl
done
