#!/usr/bin/env bash
# Fills a folder with all that `make gpu-check` needs on a machine with a GPU, which then needs
# neither compilers nor network, but Python 3.12 or the version that PYTHON_VERSION says:
#
#   tools/make_gpu_bundle.sh FOLDER
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$1
mkdir -p "$folder"

# What a build makes, as files: Bazel's folder is a link.
targets=(
  //larq_engine/runtime:liblarq_engine.so //larq_engine/kernels/cuda:liblarq_engine_cuda.so
  //benchmarks/gpu:contract //benchmarks/gpu:peaks //benchmarks/gpu:layers //tests/cuda:rows_check
  //benchmarks/model:larq_benchmark_model
)
tools/run_bazel.sh build "${targets[@]}"
for target in "${targets[@]}"; do
  file=${target#//}
  install -m 755 "bazel-bin/${file/://}" "$folder"
done

git describe --always --dirty --abbrev=12 >"$folder/commit"

# LiteRT and what the tests import; NumPy and PyTorch are that machine's own.
# Packed, as bundles travel.
rm -rf "$folder/wheels"
.venv/bin/python -m pip --disable-pip-version-check download --quiet --progress-bar off --no-deps \
  --dest "$folder/wheels" --python-version "${PYTHON_VERSION:-3.12}" --only-binary=:all: \
  ai-edge-litert==2.3.0 'flatbuffers==25.*' 'pytest==9.*' pytest-xdist execnet 'tqdm==4.*' \
  ml-dtypes pluggy iniconfig packaging pygments

[[ -e $folder/models/HepCifar.tflite ]] || .venv/bin/python -m benchmarks.gpu.models "$folder/models"
du -sh "$folder" | sed 's/^/gpu-bundle: /'
