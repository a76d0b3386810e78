#!/usr/bin/env bash
# Makes the aarch64 wheel and tests it in emulated Python and LiteRT; builds the released program for
# it, and looks at what it needs and whether it starts:
#
#   tools/test_arm64.sh [PYTEST_OPTION...]
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ ! -e .emulation/arm64/.setup-arm64 ]]; then
  echo "aarch64 wheel: not tested, there is no emulated Python (see tools/setup.sh arm64)"
  exit 77
fi
LARQ_ENGINE_WARNINGS_ARE_ERRORS=1 tools/make_wheels.sh manylinux_2_28_aarch64
tools/run_bazel.sh build --noshow_progress --config=manylinux --config=aarch64 \
  //larq_engine/benchmark_model:larq_benchmark_model
program=bazel-bin/larq_engine/benchmark_model/larq_benchmark_model
.venv/bin/python tools/check_program.py aarch64 "$program"
tools/qemu_aarch64.sh "$program" --list_kernels
packages=.build/arm64
rm -rf "$packages"
# pip refuses a wheel whose tag is for another machine.
.venv/bin/python -m pip --disable-pip-version-check install --quiet --target "$packages" --no-deps \
  --only-binary :all: --platform manylinux_2_28_aarch64 dist/larq_engine-*-manylinux_2_28_aarch64.whl
LARQ_ENGINE_ARM64_PACKAGES=$PWD/$packages .venv/bin/python -m pytest "$@" --dist loadgroup \
  tests/arm64
