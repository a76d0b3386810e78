#!/usr/bin/env bash
# Runs tests on emulated x86 CPUs that lack what this CPU may have. C++ tests end at an instruction
# that the CPU does not know, and rows must still be right. Python tests run in LiteRT, whose
# XNNPACK takes other micro-kernels there.
set -euo pipefail
cd "$(dirname "$0")/.."

# CPUs and their ISAs: nothing beyond x86-64's baseline; POPCNT; AVX2.
readonly CPUS=(core2duo:portable Nehalem:portable,popcnt Haswell:portable,popcnt,avx2)
readonly TESTS=(kernels/bgemm_test kernels/byte_product_test kernels/float_product_test
  kernels/kernel_rows_test kernels/pixel_ops_test kernels/select_test kernels/signed_sums_test runtime/host/delegate_test)
# The first test counts threads that the system has started, which takes long under emulation. The
# second starts threads in a forked child of a process with threads, which ends Debian 12's QEMU
# itself ("qemu_plugin_vcpu_init_hook: assertion failed"), whatever the program is.
readonly NOT_EMULATED=-Delegate.ThreadsAreThoseOfTheOptionOrOfTheHost:Delegate.AForkedChildMayFreeIt
readonly PYTHON_CPU=Haswell  # LiteRT's own wheel needs AVX
# Tests with large tensors, on which XNNPACK does nothing new: 6 of 11 minutes.
readonly NOT_IN_PYTHON='not may_not_be_written_over'
readonly PYTHON_TESTS=(tests/python/test_fusion.py tests/python/test_host_ops_on_bits.py
  tests/python/test_unpack_weights.py tests/interop/test_interop.py
  tests/interop/test_own_files.py)

if [[ $(uname -m) != x86_64 ]]; then
  echo "lesser CPUs: not run, this is no x86-64"
  exit 77
fi
targets=()
for test in "${TESTS[@]}"; do targets+=("//tests/${test%/*}:${test##*/}"); done
tools/run_bazel.sh build --noshow_progress "${targets[@]}"
bin=$(tools/run_bazel.sh info bazel-bin 2>/dev/null)/tests
export LARQ_ENGINE_TEST_SHARE=40  # as .bazelrc for emulated CPUs

# Prints only gtest's summary, unless the test fails.
run_cpp() {
  local cpu=${1%%:*} test=$2 output
  if ! output=$(LARQ_ENGINE_REQUIRE_ISA=${1#*:} qemu-x86_64 -cpu "$cpu" "$bin/$test" \
    --gtest_brief=1 --gtest_filter="$NOT_EMULATED" 2>&1); then
    printf '%s\n' "$output" >&2
    echo "FAILED: $test on an emulated $cpu" >&2
    return 1
  fi
  echo "$cpu $test: $(grep -F '[  PASSED  ]' <<<"$output" | tail -1)"
}

# This runs beside the C++ tests, as emulation takes one core. pytest-xdist is not used, since its
# workers would not be emulated.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
qemu-x86_64 -cpu "$PYTHON_CPU" .venv/bin/python -m pytest -q -rs -p no:cacheprovider \
  --durations=12 --part=quick -k "$NOT_IN_PYTHON" "${PYTHON_TESTS[@]}" >"$log" 2>&1 &
for cpu in "${CPUS[@]}"; do
  for test in "${TESTS[@]}"; do run_cpp "$cpu" "$test"; done
done
status=0
wait $! || status=$?
echo "$PYTHON_CPU, Python tests in LiteRT:"
cat "$log"
exit "$status"
