#!/usr/bin/env bash
# Runs Python tests with everything on a fake GPU. In place of NVIDIA's driver is one that computes
# on the CPU, with the same kernels as are compiled for GPUs:
#
#   tools/test_fake_gpu.sh PYTEST_ARGUMENT...
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$PWD/.build/fake-gpu
mkdir -p "$folder"
tools/run_bazel.sh build //larq_engine/runtime:liblarq_engine.so //tests/cuda:liblarq_engine_cuda.so \
  //tests/cuda/fake_driver:libcuda.so.1 //larq_engine/benchmark_model:larq_benchmark_model \
  //benchmarks/gpu:layers
for file in larq_engine/runtime/liblarq_engine.so tests/cuda/liblarq_engine_cuda.so \
  tests/cuda/fake_driver/libcuda.so.1 larq_engine/benchmark_model/larq_benchmark_model benchmarks/gpu/layers; do
  install -m 755 "bazel-bin/$file" "$folder"
done
LD_LIBRARY_PATH=$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
  LARQ_ENGINE_LIBRARY=$folder/liblarq_engine.so LARQ_ENGINE_DEVICE=cuda \
  .venv/bin/python -m pytest -q -rs -n auto -p no:cacheprovider --durations=8 "$@"
