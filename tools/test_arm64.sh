#!/usr/bin/env bash
# Makes the aarch64 wheel and tests it in emulated Python and LiteRT:
#
#   tools/test_arm64.sh [PYTEST_OPTION...]
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ ! -e .emulation/arm64/.setup-arm64 ]]; then
  echo "aarch64 wheel: not tested, there is no emulated Python (see tools/setup.sh arm64)"
  exit 77
fi
LARQ_ENGINE_WARNINGS_ARE_ERRORS=1 tools/make_wheels.sh manylinux_2_28_aarch64
packages=.build/arm64
rm -rf "$packages"
# pip refuses a wheel whose tag is for another machine.
.venv/bin/python -m pip --disable-pip-version-check install --quiet --target "$packages" --no-deps \
  --only-binary :all: --platform manylinux_2_28_aarch64 dist/larq_engine-*-manylinux_2_28_aarch64.whl
LARQ_ENGINE_ARM64_PACKAGES=$PWD/$packages .venv/bin/python -m pytest "$@" --dist loadgroup \
  tests/arm64
