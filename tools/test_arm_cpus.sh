#!/usr/bin/env bash
# Runs tests of the kernels on emulated 64-bit ARM CPUs: an old one, one with UDOT, and one with SME2 at
# several lengths of its streaming vectors. An instruction that such a CPU does not know ends the test.
# Needs `tools/run_bazel.sh build --config=aarch64 //tests/kernels:all`. SME2 needs a newer QEMU than
# Debian 12's 7.2; LARQ_ENGINE_REQUIRE_ARM_ISA=sme2 makes it a failure if it is not there.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly CPUS=(
  cortex-a53:portable,neon
  cortex-a76:portable,neon,dotprod
  max,sme512=on:portable,neon,dotprod,sme2
  max,sme256=on:portable,neon,dotprod,sme2
  max,sme128=on:portable,neon,dotprod,sme2
  max,sme2048=on:portable,neon,dotprod,sme2
)
readonly TESTS=(bgemm_test bconv2d_test pixel_ops_test select_test)
readonly SME2_TESTS=(bgemm_sme2_test)  # which need it
readonly SECONDS_EACH=600  # as .bazelrc's test:cross
readonly VECTOR_LENGTH_TESTS=(bgemm_test)  # where only the length of vectors is new

if [[ $(uname -m) == aarch64 ]]; then
  echo "ARM CPUs: not run, this is one and not emulated"
  exit
fi
bin=$(tools/run_bazel.sh info --config=aarch64 bazel-bin 2>/dev/null)/tests/kernels

# Runs a test on a CPU that must have these ISAs; what it says goes into `output`.
run() {
  local status=0
  output=$(LARQ_ENGINE_QEMU_CPU=$1 LARQ_ENGINE_REQUIRE_ISA=$2 \
    timeout --foreground "$SECONDS_EACH" tools/qemu_aarch64.sh "$bin/$3" \
      --gtest_brief=1 "${@:4}" 2>&1) || status=$?
  if ((status == 124)); then output+=$'\n'"stopped after $SECONDS_EACH seconds"; fi
  return "$status"
}

for entry in "${CPUS[@]}"; do
  cpu=${entry%%:*} isas=${entry#*:}
  if [[ $isas == *sme2* ]] && ! run "$cpu" sme2 bgemm_test --gtest_filter='KernelTable.*' &&
    [[ ,${LARQ_ENGINE_REQUIRE_ARM_ISA:-}, != *,sme2,* ]]; then
    echo "$cpu: not run, this qemu-aarch64 does not know SME2"
    continue
  fi
  tests=("${TESTS[@]}")
  if [[ $cpu == max,* && $cpu != max,sme512=on ]]; then tests=("${VECTOR_LENGTH_TESTS[@]}"); fi
  if [[ $isas == *sme2* ]]; then tests+=("${SME2_TESTS[@]}"); fi
  for test in "${tests[@]}"; do
    # Only gtest's summary, unless it fails.
    if ! run "$cpu" "$isas" "$test"; then
      printf '%s\n' "$output" >&2
      echo "FAILED: $test on an emulated $cpu" >&2
      exit 1
    fi
    echo "$cpu $test: $(grep -F '[  PASSED  ]' <<<"$output" | tail -1)"
  done
done
