#!/usr/bin/env bash
# Fills a folder with all that `make gpu-check` needs on a machine with a GPU. That machine then
# needs neither compilers nor network, but Python 3.12, or the version that PYTHON_VERSION says:
#
#   tools/make_gpu_bundle.sh FOLDER [BASELINE]
#
# BASELINE is a commit whose plug-in, kernels and Python package go into FOLDER/baseline: one run
# then times both in turns. The present compiler builds both.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$1
baseline=${2:-}
mkdir -p "$folder"

# Copies the files that a build makes: Bazel's folder is a link.
libraries=(//larq_engine/runtime:liblarq_engine.so //larq_engine/kernels/cuda:liblarq_engine_cuda.so)
build_into() {
  local target file
  tools/run_bazel.sh build "${@:2}"
  for target in "${@:2}"; do
    file=${target#//}
    install -m 755 "bazel-bin/${file/://}" "$1"
  done
}
build_into "$folder" "${libraries[@]}" \
  //benchmarks/gpu:clocks //benchmarks/gpu:contract //benchmarks/gpu:copies //benchmarks/gpu:peaks \
  //benchmarks/gpu:host_copies //benchmarks/gpu:layers //tests/cuda:rows_check //larq_engine/benchmark_model:larq_benchmark_model
git describe --always --dirty --abbrev=12 >"$folder/commit"

rm -rf "$folder/baseline"
if [[ -n $baseline ]]; then
  commit=$(git rev-parse --verify "$baseline^{commit}")
  into=$(realpath "$folder")/baseline
  # The folder is always the same, so that Bazel finds what it compiled for another baseline.
  source=.build/gpu-baseline
  rm -rf "$source"
  mkdir -p "$into" "$source"
  git archive "$commit" | tar -x -C "$source"
  if [[ -e .cuda ]]; then ln -s "$(realpath .cuda)" "$source/.cuda"; fi
  # These commands are not joined by `&&`: bash would continue after a build that failed.
  (
    cd "$source"
    build_into "$into" "${libraries[@]}"
    tools/run_bazel.sh shutdown
  )
  git archive "$commit" larq_engine ':!larq_engine/kernels' ':!larq_engine/runtime' | tar -x -C "$into"
  git describe --always --abbrev=12 "$commit" >"$into/commit"
fi

# These are LiteRT and the packages that the tests import; NumPy and PyTorch are that machine's own.
# They stay packed, as bundles travel; `make gpu-check` unpacks them into site.
rm -rf "$folder/wheels" "$folder/site"
.venv/bin/python -m pip --disable-pip-version-check download --quiet --progress-bar off --no-deps \
  --dest "$folder/wheels" --python-version "${PYTHON_VERSION:-3.12}" --only-binary=:all: \
  ai-edge-litert==2.3.0 'flatbuffers==25.*' 'pytest==9.*' pytest-xdist execnet 'tqdm==4.*' \
  ml-dtypes pluggy iniconfig packaging pygments

[[ -e $folder/models/HepCifar.tflite ]] ||
  LARQ_ENGINE_LIBRARY=$folder/liblarq_engine.so .venv/bin/python -m benchmarks.gpu.models "$folder/models"
du -sh "$folder" | sed 's/^/gpu-bundle: /'
