#!/usr/bin/env bash
# Builds the plug-in with Bazel, and the kernels for GPUs if NVIDIA's compiler is found, and copies
# them to a folder:
#
#   tools/build_library.sh FOLDER [BAZEL_FLAG...]
#
# `make build` calls it with larq_engine/, and setup.py with the larq_engine/ folder of the wheel
# under construction.
set -euo pipefail
folder=$(realpath "$1")
shift
cd "$(dirname "$0")/.."

kernels=//larq_engine/kernels/cuda:liblarq_engine_cuda.so
# Without nvcc the package lacks this target, so the script asks which targets exist. A query that
# fails is repeated to show its error.
found=$(tools/run_bazel.sh query "${kernels%:*}:all" 2>/dev/null) || {
  tools/run_bazel.sh query "${kernels%:*}:all"
  exit 1
}
case " $* " in
  *" --config=windows_x86_64 "*) targets=(//larq_engine/runtime:larq_engine.dll) ;;
  *" --config=macos_arm64 "*) targets=(//larq_engine/runtime:liblarq_engine.dylib) ;;
  # NVIDIA has no driver for this architecture.
  *" --config=armv7 "*) targets=(//larq_engine/runtime:liblarq_engine.so) ;;
  *)
    targets=(//larq_engine/runtime:liblarq_engine.so)
    if grep -qxF "$kernels" <<<"$found"; then targets+=("$kernels"); fi
    ;;
esac

tools/run_bazel.sh build "$@" "${targets[@]}"
# Files of an earlier build may be of another version of the plug-in, or for another system.
rm -f "$folder"/liblarq_engine.{so,dylib} "$folder/larq_engine.dll" "$folder/liblarq_engine_cuda.so"
for target in "${targets[@]}"; do
  library=${target#//}
  # An old file is never overwritten: a running process may have it mapped.
  install -m 755 "bazel-bin/${library/://}" "$folder/${library#*:}"
done
