#!/usr/bin/env bash
# Runs C++ tests on emulated x86 CPUs that lack what this one may have. An instruction that such a CPU
# does not know ends the test; the rows that it can run must still be right. Needs `bazel test
# //tests/...` to have built them, and Debian's qemu-user.
set -euo pipefail
cd "$(dirname "$0")/.."

# CPU and what it has: nothing beyond x86-64's baseline; POPCNT; AVX2.
readonly CPUS=(core2duo:portable Nehalem:portable,popcnt Haswell:portable,popcnt,avx2)
readonly TESTS=(kernels/bgemm_test kernels/pixel_ops_test kernels/select_test runtime/delegate_test)
# It counts threads that the system has started, which takes its time under emulation.
readonly NOT_EMULATED='-Delegate.ThreadsAreThoseOfTheOptionOrOfTheHost'

if [[ $(uname -m) != x86_64 ]]; then
  echo "lesser CPUs: not run, this is no x86-64"
  exit
fi
for cpu in "${CPUS[@]}"; do
  for test in "${TESTS[@]}"; do
    # Only gtest's summary, unless it fails.
    if ! output=$(LARQ_ENGINE_REQUIRE_ISA=${cpu#*:} qemu-x86_64 -cpu "${cpu%%:*}" \
      "bazel-bin/tests/$test" --gtest_brief=1 --gtest_filter="$NOT_EMULATED" 2>&1); then
      printf '%s\n' "$output" >&2
      echo "FAILED: $test on an emulated ${cpu%%:*}" >&2
      exit 1
    fi
    echo "${cpu%%:*} $test: $(grep -F '[  PASSED  ]' <<<"$output" | tail -1)"
  done
done
