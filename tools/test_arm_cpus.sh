#!/usr/bin/env bash
# Runs tests of the kernels on emulated 64-bit ARM CPUs: an old one, one with UDOT, and one with
# SME2 at several lengths of its streaming vectors. An instruction that the CPU does not know ends
# the test. The CPU `max`, with vectors of 256 bits, is left out: `bazel test --config=aarch64` runs
# tests on it. SME2 needs a newer QEMU than Debian 12's 7.2; with LARQ_ENGINE_REQUIRE_ARM_ISA=sme2
# it is a failure if it is not there.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly TESTS="bgemm_test bconv2d_test byte_product_test float_product_test kernel_rows_test \
pixel_ops_test select_test signed_sums_test"
readonly SME2_TESTS="bgemm_test bgemm_sme2_test kernel_rows_test"  # the vectors' length is new
# CPU, its ISAs, tests.
readonly RUNS=(
  "cortex-a53 portable,neon $TESTS"
  "cortex-a76 portable,neon,dotprod $TESTS"
  "max,sme512=on portable,neon,dotprod,sme2 $SME2_TESTS"
  "max,sme128=on portable,neon,dotprod,sme2 $SME2_TESTS"
  "max,sme2048=on portable,neon,dotprod,sme2 $SME2_TESTS"
)
readonly SECONDS_EACH=600  # as .bazelrc's test:cross

if [[ $(uname -m) == aarch64 ]]; then
  echo "ARM CPUs: not run, this is one and not emulated"
  exit 77
fi
targets=()
for test in $TESTS bgemm_sme2_test; do targets+=("//tests/kernels:$test"); done
tools/run_bazel.sh build --noshow_progress --config=aarch64 "${targets[@]}"
export LARQ_ENGINE_TEST_SHARE=40  # as .bazelrc for emulated CPUs
bin=$(tools/run_bazel.sh info --config=aarch64 bazel-bin 2>/dev/null)/tests/kernels

# Runs a test on a CPU that must have these ISAs; its output goes into `output`.
run() {
  local status=0
  output=$(LARQ_ENGINE_QEMU_CPU=$1 LARQ_ENGINE_REQUIRE_ISA=$2 \
    timeout --foreground "$SECONDS_EACH" tools/qemu_aarch64.sh "$bin/$3" \
      --gtest_brief=1 "${@:4}" 2>&1) || status=$?
  if ((status == 124)); then output+=$'\n'"stopped after $SECONDS_EACH seconds"; fi
  return "$status"
}

# Prints only gtest's summary, unless the test fails.
report() {
  if ! run "$@"; then
    printf '%s\n' "$output" "FAILED: $3 on an emulated $1" >&2
    return 1
  fi
  echo "$1 $3: $(grep -F '[  PASSED  ]' <<<"$output" | tail -1)"
}

knows_sme2=yes
if ! run max sme2 kernel_rows_test; then
  if [[ ,${LARQ_ENGINE_REQUIRE_ARM_ISA:-}, == *,sme2,* ]]; then
    printf '%s\n' "$output" "error: SME2 is required here, and this qemu-aarch64 lacks it" >&2
    exit 1
  fi
  echo "SME2: not run, this qemu-aarch64 does not know it"
  knows_sme2=
fi

# Each test has one thread, so as many run at a time as there are cores.
export -f run report
export bin SECONDS_EACH
for entry in "${RUNS[@]}"; do
  read -r cpu isas tests <<<"$entry"
  if [[ $isas == *sme2* && -z $knows_sme2 ]]; then continue; fi
  for test in $tests; do printf '%s\n' "$cpu $isas $test"; done
done | xargs -P "$(nproc)" -L 1 bash -c 'report "$@"' report
