#!/usr/bin/env bash
# Builds larq_benchmark_model for ARM as one file that needs no other, and compares its results with
# those of the dynamic program, both emulated:
#
#   tools/test_static_program.sh aarch64|armv7
set -euo pipefail
cd "$(dirname "$0")/.."

case ${1:-} in
  aarch64) emulator=tools/qemu_aarch64.sh ;;
  armv7) emulator=tools/qemu_arm.sh ;;
  *)
    echo "usage: tools/test_static_program.sh aarch64|armv7" >&2
    exit 2
    ;;
esac
package=larq_engine/benchmark_model
tools/run_bazel.sh build --noshow_progress "--config=$1" \
  "//$package:larq_benchmark_model" "//$package:larq_benchmark_model_static"
dynamic=bazel-bin/$package/larq_benchmark_model
if readelf -dlW "${dynamic}_static" | grep -E 'NEEDED|INTERP'; then
  echo "error: ${dynamic}_static: expected a file that needs no other, got the above" >&2
  exit 1
fi
outputs=$(mktemp)
trap 'rm -f "$outputs"' EXIT
flags=(--host=none --num_runs=1 --min_secs=0 --warmup_runs=0 --warmup_min_secs=0)
for model in tests/interop/data/*.tflite; do
  "$emulator" "$dynamic" "--graph=$model" "${flags[@]}" "--save_outputs=0:$outputs" >/dev/null
  if ! "$emulator" "${dynamic}_static" "--graph=$model" "${flags[@]}" "--check=0:$outputs" |
    grep '^check  *ok'; then
    echo "error: $model: expected the outputs of the dynamic program, got others or an error" >&2
    exit 1
  fi
done
